//! A bundle comes back as it was written, and other tools read it.

mod sample;

use std::io::Read;
use tiga_bundle::{Bundle, save, write};

#[test]
fn what_is_written_comes_back() {
    let contents = sample::contents();
    let bytes = write(&contents).unwrap();
    let bundle = Bundle::from_bytes(bytes.clone()).unwrap();
    assert_eq!(*bundle.manifest(), contents.manifest);
    assert_eq!(bundle.plan("heat"), Some(&contents.plans[0]));
    assert_eq!(bundle.kernels("x86-64-v3"), Some(&contents.kernels["x86-64-v3"][..]));
    assert_eq!(bundle.ir("heat.kernel"), Some("kernel @heat.0 {}\n"));
    assert_eq!(bundle.ir("nothing"), None);
    let names: Vec<&str> = bundle.entries().map(|(name, _)| name).collect();
    let expected = ["ir/heat.kernel.tir", "kernels/x86-64-v3.so", "manifest.json", "plans/heat.json", "sha256.txt"];
    assert_eq!(names, expected);
    assert_eq!(write(&contents).unwrap(), bytes);
}

#[test]
fn a_saved_file_is_read_by_other_tools() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heat.tgb");
    save(&sample::contents(), &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), write(&sample::contents()).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary is left");
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, entry.size());
        assert_eq!(entry.data_start().unwrap() % 64, 0, "{:?}", entry.name());
        assert_eq!(entry.last_modified(), Some(zip::DateTime::default()));
    }
    if let Ok(output) = std::process::Command::new("unzip").arg("-t").arg(&path).output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn saving_replaces_a_file_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heat.tgb");
    std::fs::write(&path, "before").unwrap();
    let mut broken = sample::contents();
    broken.plans.clear();
    assert!(save(&broken, &path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"before");
    save(&sample::contents(), &path).unwrap();
    Bundle::open(&path).unwrap();
    assert!(save(&sample::contents(), &folder.path().join("none/heat.tgb")).is_err());
}
