//! Compiles hosts against the library that was built with this test, and the bundles they run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use testsuite::lit::Tools;
use testsuite::models::{HALVES, WALK};
use testsuite::road::{bundle_for, example, model};
use tiga_abi::{CpuTarget, FpMode};
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

/// A host's source and how it is compiled.
pub struct Host {
    source: PathBuf,
    compiler: &'static str,
    flags: Vec<String>,
    link: Vec<String>,
}

impl Host {
    /// A host in C11; the path starts in the testsuite's folder.
    pub fn c(source: &str) -> Self {
        Self::new(source, "cc", &["-std=c11", "-D_POSIX_C_SOURCE=200809L"])
    }

    /// A host in C++17.
    pub fn cpp(source: &str) -> Self {
        Self::new(source, "c++", &["-std=c++17"])
    }

    fn new(source: &str, compiler: &'static str, flags: &[&str]) -> Self {
        let strict = ["-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
        let flags = flags.iter().chain(&strict).map(ToString::to_string).collect();
        let link = vec![library("libtiga.so").display().to_string(), format!("-Wl,-rpath,{}", scratch().display())];
        Self { source: Path::new(env!("CARGO_MANIFEST_DIR")).join(source), compiler, flags, link }
    }

    /// The same with one more flag.
    pub fn with(mut self, flag: &str) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// The same with the static library.
    pub fn of_static_library(self) -> Self {
        self.of_library(&library("libtiga.a").display().to_string())
    }

    /// The same with this static library.
    pub fn of_library(mut self, file: &str) -> Self {
        self.link = vec![file.into(), "-ldl".into(), "-lm".into()];
        self
    }

    /// The program.
    pub fn compile(&self, name: &str) -> PathBuf {
        let program = scratch().join(name);
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/capi/include");
        let mut command = Command::new(self.compiler);
        command.args(&self.flags).arg("-I").arg(include).arg(&self.source).args(&self.link);
        run(command.arg("-lpthread").arg("-o").arg(&program));
        program
    }
}

/// A file of the library: where this test's own program lies, since both were built together.
pub fn library(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let file = own.parent().unwrap().join(name);
    assert!(file.exists(), "{} is not there", file.display());
    file
}

/// A folder of this test's own, with the library under the name that programs ask for.
fn scratch() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
        std::fs::create_dir_all(&folder).unwrap();
        let link = folder.join("libtiga.so.1");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(library("libtiga.so"), link).unwrap();
        folder
    })
}

/// A folder with `heat.tgb`, `walk.tgb` and `halves.tgb`, for CPUs that valgrind knows.
pub fn bundles() -> &'static Path {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let options = CompileOptions::new(CpuTarget::X86_64V3, FpMode::Default);
        let heat = example("heat.tg", &SemaOptions::default()).unwrap();
        let walk = model("walk.tg", WALK, &SemaOptions::default()).unwrap();
        let halves = model("halves.tg", HALVES, &SemaOptions::default()).unwrap();
        for (name, module) in [("heat.tgb", heat), ("walk.tgb", walk), ("halves.tgb", halves)] {
            let bytes = bundle_for(&module, &[CpuTarget::X86_64V2, CpuTarget::X86_64V3], &options).unwrap();
            std::fs::write(scratch().join(name), bytes).unwrap();
        }
    });
    scratch()
}

/// A folder with `heat.o` and `heat.h`, as `tigac --emit=obj,header` writes them.
pub fn linked_heat() -> &'static Path {
    let testsuite = Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = testsuite.join("../examples/heat.tg").canonicalize().unwrap();
    let tools = Tools::new(testsuite, scratch()).unwrap();
    let mut tigac = tools.command("tigac");
    run(tigac.current_dir(scratch()).arg(model).args(["--emit=obj,header", "--target=x86-64-v3"]));
    scratch()
}

/// A command with arguments.
pub fn shell(program: impl AsRef<Path>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program.as_ref());
    command.args(arguments);
    command
}

/// Runs it, demands success, gives what it printed.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
