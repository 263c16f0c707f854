//! The nearest spelling of a mistyped name.

/// The candidate closest to `name` (Damerau–Levenshtein), if it is close enough to be meant:
/// at most a third of the name's length away. Ties go to the first candidate.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().div_ceil(3);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_a_typo_but_not_a_stranger() {
        assert_eq!(nearest("dampng", ["rank", "damping"]), Some("damping"));
        assert_eq!(nearest("x", ["rank", "damping"]), None);
    }
}
