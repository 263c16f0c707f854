//! Characters that do more to a terminal than stand there.

/// Whether a terminal obeys a character, or a line is turned or broken by it: all of Unicode's `Cc` (line ends and tabs
/// too), `Bidi_Control`, `Zl` and `Zp`. Text of unknown origin is shown with these escaped.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_obeyed_steers() {
        let obeyed = "\u{0}\t\n\u{1b}\u{7f}\u{80}\u{9b}\u{9f}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{2028}\u{2029}";
        assert!(obeyed.chars().all(steers));
        assert!(!" ~\u{a0}\u{200d}\u{2027}\u{202f}\u{2065}\u{206a}é→日".chars().any(steers));
    }
}
