//! Planted bugs stay current: each patch says what it is and fits the file it changes.

use super::{Finding, Tree};

/// Where they are.
const PLANTS: &str = "testsuite/plants/";

/// Each plant has its header, and the lines it would change are there.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let plants = tree.iter().filter(|(path, _)| path.starts_with(PLANTS) && path.ends_with(".patch"));
    plants.filter_map(|(path, text)| problem(tree, text).map(|problem| Finding::new(path, 1, problem))).collect()
}

fn problem(tree: &Tree, text: &str) -> Option<String> {
    let Some((header, diff)) = text.split_once("diff --git ") else {
        return Some("holds no diff as git writes it".to_owned());
    };
    for key in ["Bug: ", "Killed-by: cargo test "] {
        if !header.lines().any(|line| line.starts_with(key)) {
            return Some(format!("the header lacks a line `{key}…`"));
        }
    }
    let mut file = None;
    let mut old = String::new();
    for line in diff.lines().chain(["@@"]) {
        if let Some(name) = line.strip_prefix("--- a/") {
            file = Some(name);
        } else if line.starts_with("@@") {
            let present = file.and_then(|name| tree.get(name)).is_some_and(|text| text.contains(&old));
            if !old.is_empty() && !present {
                return Some(format!("the lines to change are no longer in {}", file.unwrap_or("any file")));
            }
            old.clear();
        } else if let (Some(_), Some(line)) = (file, line.strip_prefix([' ', '-'])) {
            old.push_str(line);
            old.push('\n');
        }
    }
    None
}
