//! Where output goes: files that are neither an input nor each other, and the standard output.

use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};
use tiga_formats::file_identity;
use tiga_source::Output;

/// Outputs that would destroy something; found before anything is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Overlap {
    /// An output is an input.
    #[error("the input file `{}` would be overwritten by the output `{}`", input.display(), output.display())]
    Input {
        /// The input, as it was named.
        input: PathBuf,
        /// The output, as it was named.
        output: PathBuf,
    },
    /// Two outputs are one file.
    #[error("two outputs would go to one file: `{}` and `{}`", first.display(), second.display())]
    Outputs {
        /// The first, as it was named.
        first: PathBuf,
        /// The second, as it was named.
        second: PathBuf,
    },
}

/// Refuses outputs that are an input or each other, through links too.
///
/// # Errors
/// The first such pair.
pub(super) fn check_distinct(inputs: &[&Path], outputs: &[&Path]) -> Result<(), Overlap> {
    for (i, output) in outputs.iter().enumerate() {
        let file = file_identity(output);
        if let Some(input) = inputs.iter().find(|input| file_identity(input) == file) {
            return Err(Overlap::Input { input: input.into(), output: output.into() });
        }
        if let Some(first) = outputs[..i].iter().find(|first| file_identity(first) == file) {
            return Err(Overlap::Outputs { first: first.into(), second: output.into() });
        }
    }
    Ok(())
}

/// Whether a path stands for the standard stream, as is usual; a file of this name is `./-`.
pub(super) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes a file, or without a path the standard output.
pub(super) fn write(path: Option<&Path>, bytes: &[u8]) -> Result<()> {
    match path {
        Some(path) => {
            let write = |w: &mut dyn tiga_formats::WriteSeek| w.write_all(bytes);
            Ok(tiga_formats::write_file(path, write)?)
        }
        None => print(bytes),
    }
}

/// Writes to the standard output.
pub(super) fn print(bytes: &[u8]) -> Result<()> {
    let mut out = Output::standard();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_itself_under_all_its_names() {
        let folder = std::env::temp_dir().join(format!("tigac-output-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        let model = folder.join("m.tg");
        std::fs::write(&model, "").unwrap();
        let dotted = folder.join("sub/../m.tg");
        let overlap = Overlap::Input { input: model.clone(), output: dotted.clone() };
        assert_eq!(check_distinct(&[&model], &[&dotted]), Err(overlap));
        let (new, again) = (folder.join("a.ir"), folder.join("./a.ir"));
        let overlap = Overlap::Outputs { first: new.clone(), second: again.clone() };
        assert_eq!(check_distinct(&[&model], &[&new, &again]), Err(overlap));
        assert_eq!(check_distinct(&[&model], &[&new, &folder.join("sub/a.ir")]), Ok(()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
