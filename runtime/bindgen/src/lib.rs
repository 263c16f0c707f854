//! For build scripts: compiles a model with `tigac`, and writes a Rust module with a typed function for each program.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), tiga_build::BuildError> {
//!     tiga_build::Model::new("heat.tg").compile()
//! }
//! ```
//!
//! ```ignore
//! // src/main.rs, which depends on `tiga-runtime`
//! mod heat {
//!     include!(concat!(env!("OUT_DIR"), "/heat.rs"));
//! }
//! // heat::bundle(), heat::heat(&bundle, &context, &graph, &t, &b, &c)
//! ```

mod functions;

pub use functions::functions;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use tiga_bundle::{Bundle, BundleError};

/// Why a model has no bindings. Its `Debug` is the sentence too: that is what a build script shows which returns it.
#[derive(thiserror::Error)]
pub enum BuildError {
    /// Not called from a build script.
    #[error("OUT_DIR is not set: bindings are made by build scripts")]
    NoFolder,
    /// A model without a name.
    #[error("`{0}` names no file")]
    NoName(PathBuf),
    /// The compiler is not there.
    #[error("`{tigac}` did not start: put it on PATH, or its path into TIGAC: {source}")]
    NoCompiler {
        /// What was to be run.
        tigac: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The compiler refused; it has said why.
    #[error("tigac could not compile `{}`", .0.display())]
    Refused(PathBuf),
    /// The bundle that was made cannot be read.
    #[error("{0}")]
    Bundle(Box<BundleError>),
    /// The module cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl std::fmt::Debug for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<BundleError> for BuildError {
    fn from(error: BundleError) -> Self {
        BuildError::Bundle(Box::new(error))
    }
}

/// A model to be compiled.
#[derive(Clone, Debug)]
pub struct Model {
    file: PathBuf,
    options: Vec<OsString>,
}

impl Model {
    /// A model by its file, below the folder of the package.
    pub fn new(file: impl AsRef<Path>) -> Self {
        Self { file: file.as_ref().into(), options: Vec::new() }
    }

    /// The same with one more option of `tigac`, such as `--target=x86-64-v3`.
    pub fn option(mut self, option: impl Into<OsString>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Writes `NAME.tgb` and the module `NAME.rs` into the build script's folder, for the model `NAME.tg`. Cargo runs
    /// the script again when the model or the compiler's path changes. The compiler is `$TIGAC`, or `tigac` on PATH.
    ///
    /// # Errors
    /// No compiler, a model it refuses, a folder that cannot be written.
    pub fn compile(&self) -> Result<(), BuildError> {
        println!("cargo::rerun-if-changed={}", self.file.display());
        println!("cargo::rerun-if-env-changed=TIGAC");
        let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or(BuildError::NoFolder)?);
        let name = self.file.file_stem().ok_or_else(|| BuildError::NoName(self.file.clone()))?;
        let (bundle, module) = (folder.join(name).with_extension("tgb"), folder.join(name).with_extension("rs"));
        let tigac = std::env::var_os("TIGAC").unwrap_or_else(|| "tigac".into());
        let mut command = Command::new(&tigac);
        let status = command.arg(&self.file).args(&self.options).arg("-o").arg(&bundle).status();
        let absent = |source| BuildError::NoCompiler { tigac: tigac.to_string_lossy().into_owned(), source };
        if !status.map_err(absent)?.success() {
            return Err(BuildError::Refused(self.file.clone()));
        }
        let text = functions(Bundle::open(&bundle)?.manifest(), &bundle);
        std::fs::write(&module, text).map_err(|source| BuildError::Write { path: module, source })
    }
}
