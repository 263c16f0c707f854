//! The commands on the cookbook's pages run as they stand there.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use testsuite::lit::Tools;

/// The blocks of a page that are for a shell.
fn scripts(page: &str) -> Vec<&str> {
    page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn every_command_runs() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("..").canonicalize().unwrap();
    let tools = Tools::new(here, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    // The pages' paths begin at the root, where their results have no business.
    let folder = tools.scratch("cookbook-pages").unwrap();
    for part in ["examples", "testsuite"] {
        symlink(root.join(part), folder.join(part)).unwrap();
    }
    let bin = Path::new(tools.command("tigac").get_program()).parent().unwrap().to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut pages = 0;
    let mut entries: Vec<_> =
        std::fs::read_dir(root.join("docs/cookbook")).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for page in entries.iter().filter(|p| p.extension().is_some_and(|e| e == "md")) {
        let text = std::fs::read_to_string(page).unwrap();
        for script in scripts(&text) {
            let output =
                Command::new("bash").args(["-euc", script]).env("PATH", &path).current_dir(&folder).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}\n{script}\n{printed}", page.display());
            pages += 1;
        }
    }
    assert!(pages >= 10, "only {pages} pages have commands");
}
