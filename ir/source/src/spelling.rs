//! The nearest spelling of a mistyped name.

/// The candidate closest to `name` (Damerau–Levenshtein), if it is close enough to be meant:
/// at most a third of the name's length away, and not wholly another name, as all names of one letter are to each other
/// unless they differ in case only. Ties go to the first candidate.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = length.div_ceil(3);
    let alike = |distance: usize, candidate: &str| {
        distance < length.max(candidate.chars().count()) || name.eq_ignore_ascii_case(candidate)
    };
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && alike(*distance, candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// That something has nothing of a name, what was meant if that is plain, and what there is:
/// `` `p` has no input `dampng`; did you mean `damping`? it has x, damping``.
pub fn unknown(owner: &str, what: &str, name: &str, known: &[&str]) -> String {
    let near = nearest(name, known.iter().copied());
    let hint = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("`{owner}` has no {what} `{name}`; {hint}it has {list}")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_a_typo_but_not_a_stranger() {
        assert_eq!(nearest("dampng", ["rank", "damping"]), Some("damping"));
        assert_eq!(nearest("x", ["rank", "damping"]), None);
    }

    #[test]
    fn one_letter_is_no_typo_of_another() {
        assert_eq!(nearest("N", ["F", "M"]), None);
        assert_eq!(nearest("n", ["F", "N"]), Some("N"));
        assert_eq!(nearest("x", ["xs"]), Some("xs"));
        assert_eq!(nearest("ab", ["ac"]), Some("ac"));
    }
}
