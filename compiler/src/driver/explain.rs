//! The pages of all codes, for `tigac --explain`.

use tiga_source::nearest;

/// A row for each page in `docs/errors/`.
macro_rules! pages {
    ($($code:literal)*) => {
        &[$(($code, include_str!(concat!("../../../docs/errors/", $code, ".md")))),*]
    };
}

/// Codes in order, with their pages.
const PAGES: &[(&str, &str)] = pages! {
    "TG0001" "TG0002" "TG0003" "TG0004" "TG0005" "TG0006" "TG0007" "TG0008"
    "TG0009" "TG0010" "TG0011" "TG0012" "TG0013" "TG0014" "TG0015" "TG0016"
    "TG0017" "TG0018" "TG0019" "TG0020" "TG0101" "TG0102" "TG0103" "TG0104"
    "TG0105" "TG0106" "TG0107" "TG0108" "TG0109" "TG0110" "TG0201" "TG0202"
    "TG0203" "TG0204" "TG0205" "TG0206" "TG0207" "TG0208" "TG0209" "TG0210"
    "TG0211" "TG0212" "TG0213" "TG0214" "TG0215" "TG0216" "TG0217" "TG0218"
    "TG0219" "TG0220" "TG0301" "TG0302" "TG0303" "TG0304" "TG0305" "TG0306"
    "TG0307" "TG0308" "TG0309" "TG0310" "TG0311" "TG0312" "TG0313" "TG0314"
    "TG0315" "TG0316" "TG0317" "TG0401" "TG0402" "TG0403" "TG0404" "TG0405" "TG0406" "TG0407"
    "TG0408" "TG0409" "TG0410" "TG0411" "TG0902" "TG0903" "TG0907"
    "TG0909" "TG0911" "TG0912" "TG0914" "TG0999"
};

/// A code that no diagnostic has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such code{}", near.map_or(String::new(), |n| format!("; the nearest is {n}")))]
pub(super) struct UnknownCode {
    near: Option<&'static str>,
}

/// The page of a code, which may be written in lower case.
pub(super) fn page(code: &str) -> Result<&'static str, UnknownCode> {
    let code = code.to_uppercase();
    match PAGES.binary_search_by_key(&code.as_str(), |(code, _)| code) {
        Ok(index) => Ok(PAGES[index].1),
        Err(_) => Err(UnknownCode { near: nearest(&code, PAGES.iter().map(|(code, _)| *code)) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_page_is_here() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors");
        let mut codes: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        codes.sort();
        assert_eq!(codes, PAGES.iter().map(|(code, _)| *code).collect::<Vec<_>>());
        assert!(page("tg0101").unwrap().starts_with("# TG0101: "));
        assert!(page("TG0100").is_err());
    }
}
