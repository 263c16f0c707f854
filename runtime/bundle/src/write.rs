//! Writing a bundle: the same contents give the same bytes.

use crate::{ALIGNMENT, Bundle, BundleError, LIST, MANIFEST, Manifest, WriteError, checksums, comment};
use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::Path;
use tiga_plan::Template;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// What goes into a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// What it says about itself.
    pub manifest: Manifest,
    /// The plan of each program; becomes `plans/<program>.json`.
    pub plans: Vec<Template>,
    /// The shared object of each target; becomes `kernels/<target>.so`.
    pub kernels: BTreeMap<String, Vec<u8>>,
    /// Intermediate code by name; becomes `ir/<name>.tir`.
    pub ir: BTreeMap<String, String>,
}

/// The bytes of a bundle.
///
/// # Errors
/// Contents that [`Bundle::from_bytes`] would refuse.
pub fn write(contents: &Contents) -> Result<Vec<u8>, WriteError> {
    let mut entries: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    entries.insert(MANIFEST.into(), contents.manifest.to_json().into_bytes());
    for plan in &contents.plans {
        let name = format!("plans/{}.json", plan.program);
        if entries.insert(name, plan.to_json().into_bytes()).is_some() {
            return Err(WriteError::Refused(Box::new(BundleError::Duplicate)));
        }
    }
    let kernels = contents.kernels.iter().map(|(target, object)| (format!("kernels/{target}.so"), object.clone()));
    entries.extend(kernels);
    entries.extend(contents.ir.iter().map(|(name, text)| (format!("ir/{name}.tir"), text.clone().into_bytes())));
    let list = checksums(entries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    entries.insert(LIST.into(), list.clone().into_bytes());
    let bytes = archive(&entries, list.as_bytes())?;
    Bundle::from_bytes(bytes.clone()).map_err(|error| WriteError::Refused(Box::new(error)))?;
    Ok(bytes)
}

/// Writes a bundle to a file, which appears whole or not at all.
///
/// # Errors
/// Contents that cannot be read again, a folder that cannot be written.
pub fn save(contents: &Contents, path: &Path) -> Result<(), WriteError> {
    let bytes = write(contents)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tgb-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(&bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn archive(entries: &BTreeMap<String, Vec<u8>>, list: &[u8]) -> Result<Vec<u8>, WriteError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .system(System::Unix)
        .with_alignment(ALIGNMENT);
    for (name, bytes) in entries {
        zip.start_file(name.as_str(), options)?;
        zip.write_all(bytes)?;
    }
    // The comment speaks of the bytes before it, of which its own length is the last.
    let placeholder = comment(list, b"");
    zip.set_comment(placeholder.as_str())?;
    let mut bytes = zip.finish()?.into_inner();
    bytes.truncate(bytes.len() - placeholder.len());
    let comment = comment(list, &bytes);
    bytes.extend_from_slice(comment.as_bytes());
    Ok(bytes)
}
