//! Lists of names in messages: the first ones, and how many there are.

/// Names that are shown.
const SHOWN: usize = 8;

/// Characters of a name that are shown.
const LENGTH: usize = 80;

/// `["a", "b"]`; of a long list the first names, of a long name its beginning.
pub(crate) fn few(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{:?}", short(name))).collect();
    let more = names.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    format!("[{}{more}]", shown.join(", "))
}

fn short(name: &str) -> String {
    match name.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::few;

    #[test]
    fn long_lists_and_names_are_cut() {
        assert_eq!(few(&["a".into(), "b\u{1b}".into()]), "[\"a\", \"b\\u{1b}\"]");
        let many: Vec<String> = (0..100_000).map(|i| format!("{i}")).collect();
        assert_eq!(few(&many), r#"["0", "1", "2", "3", "4", "5", "6", "7", and 99992 more]"#);
        assert!(few(&["é".repeat(1 << 20)]).len() < 200);
    }
}
