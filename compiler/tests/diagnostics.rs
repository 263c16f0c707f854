//! The text of every diagnostic, as committed: `diagnostics/CODE.txt` for the example of each page, and the page that
//! puts the commonest mistakes beside rustc's messages. `BLESS=1` writes them anew.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::{Path, PathBuf};
use tiga_abi::{DType, FpMode};
use tigac::driver::Front;
use tigac::passes::{PassError, PassOptions, PipelineError, Watch};
use tigac::pipeline;
use tigac::sema::SemaOptions;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rendered(text: &str, options: &SemaOptions) -> String {
    let front = Front::of_text("model.tg", text.to_owned(), options).unwrap();
    let shown: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
    shown.join("\n\n") + "\n"
}

/// What is shown of a text that is correct and cannot be compiled; [`None`] if it can.
fn limit(text: &str) -> Option<String> {
    let front = Front::of_text("model.tg", text.to_owned(), &SemaOptions::default()).unwrap();
    assert!(front.diagnostics.is_empty(), "{text}");
    let options = PassOptions::new(FpMode::Default);
    match pipeline::lower(front.analysis.ir.clone(), &options, &Watch::default(), &mut std::io::sink()) {
        Ok(_) => None,
        Err(PipelineError::Pass { error: PassError::Lower(error), .. }) => {
            Some(front.limit(&error).render(&front.sources, false) + "\n")
        }
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[test]
fn what_cannot_be_compiled_is_compiled_in_the_mended_form() {
    let page = std::fs::read_to_string(root().join("docs/errors/TG0914.md")).unwrap();
    assert_eq!(limit(fenced(&page, "tg")[1]), None);
}

/// The finding that a page is about; [`None`] for the internal error, which no text gives.
fn of_page(code: &str, text: &str) -> Option<String> {
    let mut options = SemaOptions::default();
    match code {
        "TG0999" => return None,
        // The example would fill the page; it is one finding among the others.
        "TG0020" => {
            let all = rendered(&"^\n".repeat(150), &options);
            return Some(all.split("\n\n").find(|one| one.contains("[TG0020]")).unwrap().trim_end().to_owned() + "\n");
        }
        "TG0914" => return Some(limit(fenced(text, "tg")[0]).expect("its example cannot be compiled")),
        "TG0109" => drop(options.set.insert("real".into(), DType::F64)),
        _ => {}
    }
    let example = fenced(text, "tg").first().copied().unwrap_or_else(|| panic!("{code}: its page has no example"));
    Some(rendered(example, &options))
}

/// The text between the fence and the next one.
fn fenced<'a>(text: &'a str, fence: &str) -> Vec<&'a str> {
    text.split(&format!("```{fence}\n")).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn bless() -> bool {
    std::env::var_os("BLESS").is_some_and(|v| v == "1")
}

#[test]
fn every_code_says_what_it_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut differ = Vec::new();
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(root().join("docs/errors")).unwrap().map(|e| e.unwrap().path()).collect();
    pages.sort();
    for page in pages {
        let code = page.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&page).unwrap();
        let Some(found) = of_page(&code, &text) else { continue };
        assert!(found.contains(&format!("[{code}]")), "{code}: its example gives\n{found}");
        let golden = folder.join(format!("{code}.txt"));
        if bless() {
            std::fs::write(&golden, &found).unwrap();
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != found {
            differ.push(format!("{code}:\n{found}"));
        }
    }
    for golden in std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()) {
        let page = root().join("docs/errors").join(golden.with_extension("md").file_name().unwrap());
        assert!(page.exists(), "{}: no page has this code", golden.display());
    }
    assert!(differ.is_empty(), "BLESS=1 writes these:\n{}", differ.join("\n"));
}

#[test]
fn the_page_beside_rustc_is_true() {
    let path = root().join("docs/diagnostics.md");
    let mut page = std::fs::read_to_string(&path).unwrap();
    let models: Vec<String> = fenced(&page, "tg").into_iter().map(str::to_owned).collect();
    let said: Vec<String> = fenced(&page, "tigac").into_iter().map(str::to_owned).collect();
    assert_eq!((models.len(), said.len()), (10, 10));
    let mut same = true;
    for (model, old) in models.iter().zip(&said) {
        let new = rendered(model, &SemaOptions::default());
        same &= *old == new;
        page = page.replace(old, &new);
    }
    if bless() {
        std::fs::write(&path, page).unwrap();
    } else {
        assert!(same, "BLESS=1 writes it anew");
    }
}
