//! What `cargo xtask install` puts below a prefix is all that a host needs, is listed, and goes again.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testsuite::lit::Tools;

/// What every host prints for the heat example.
const HEAT: &str = "11.1 8.2 17.3\n";

/// How many hosts each script of the page runs, at its end: in C, in C++ and C, in Rust.
const HOSTS: [usize; 3] = [1, 2, 1];

/// The page whose commands are run, and the list of what is installed.
const PAGE: &str = "../docs/embedding.md";
const LIST: &str = "goldens/installed.txt";

/// Sources of crates: the list names the folders, the test compares what is in them.
const SOURCES: &str = "share/tiga/rust/";

/// Everything in one test: an installation takes a while, and its parts are looked at one after the other.
#[test]
fn a_prefix_is_enough_for_hosts_and_goes_without_a_trace() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = Tools::new(here, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let folder = tools.scratch("installed").unwrap();
    let prefix = folder.join("not/there/yet");
    install(&tools, &prefix, &[]);
    listed(&tools, &prefix);
    sources(&prefix);
    libraries(&prefix);
    // As someone works with it: in a copy of the examples.
    let work = folder.join("work");
    run(Command::new("cp").arg("-r").arg(prefix.join("share/tiga/examples")).arg(&work));
    let page = page();
    let scripts: Vec<&str> = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(scripts.len(), HOSTS.len(), "C, C++ and Rust");
    for (script, hosts) in scripts.iter().zip(HOSTS) {
        let printed = run(alone(&prefix, &work).args(["-euc", script]));
        assert!(printed.ends_with(&HEAT.repeat(hosts)), "{script}\n{printed}");
    }
    for host in ["heat", "build/heat_cpp", "build/heat_c"] {
        no_llvm(&prefix, &work.join(host));
    }
    gone(&tools, &folder, &prefix);
}

/// `cargo xtask install` with the commands and libraries that were built with this test.
fn install(tools: &Tools, prefix: &Path, more: &[&str]) {
    let built = tools.command("tigac").get_program().to_owned();
    let mut command = xtask(prefix);
    if more.is_empty() {
        command.arg("--from").arg(Path::new(&built).parent().unwrap());
    }
    run(command.args(more));
}

fn xtask(prefix: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["xtask", "install", "--prefix"]).arg(prefix);
    command
}

/// A shell that sees the prefix as `$P`, the system's commands and cargo, and nothing of the repository.
fn alone(prefix: &Path, work: &Path) -> Command {
    let mut command = Command::new("bash");
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let cargo = cargo.parent().map(|bin| bin.display().to_string()).unwrap_or_default();
    command.env_clear().current_dir(work).env("P", prefix).env("PATH", format!("{cargo}:/usr/bin:/bin"));
    // Where cargo keeps the crates that this build has already fetched.
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed-rust");
    command.env("CARGO_NET_OFFLINE", "true").env("CARGO_TARGET_DIR", built);
    command
}

/// Every file is in the committed list, and no other.
fn listed(tools: &Tools, prefix: &Path) {
    let mut found = BTreeSet::new();
    for path in walk(prefix) {
        let source = path.strip_prefix(SOURCES).and_then(|rest| Some(rest.split_once("/src/")?.0));
        found.insert(source.map_or_else(|| path.clone(), |name| format!("{SOURCES}{name}/src/**")));
    }
    let text: String = found.iter().map(|path| format!("{path}\n")).collect();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(LIST);
    if tools.bless {
        fs::write(&golden, &text).unwrap();
    }
    let known = fs::read_to_string(&golden).unwrap_or_default();
    let known: BTreeSet<String> = known.lines().map(String::from).collect();
    let (more, less): (Vec<_>, Vec<_>) = (found.difference(&known).collect(), known.difference(&found).collect());
    assert!(more.is_empty() && less.is_empty(), "not in {LIST}: {more:?}; not installed: {less:?}; BLESS=1 writes it");
}

/// The sources for hosts in Rust are those of the repository.
fn sources(prefix: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let installed = prefix.join(SOURCES);
    for path in walk(&installed).iter().filter(|path| path.contains("/src/")) {
        assert_eq!(fs::read(installed.join(path)).unwrap(), fs::read(root.join(path)).unwrap(), "{path}");
    }
    let manifests = walk(&installed).into_iter().filter_map(|path| path.strip_suffix("/Cargo.toml").map(String::from));
    let crates: Vec<String> = manifests.map(|path| format!("{path}/src")).collect();
    assert!(crates.len() >= 7, "{crates:?}");
    for name in &crates {
        assert_eq!(walk(&installed.join(name)), walk(&root.join(name)), "{name}");
    }
}

/// The libraries show their own names, and only `tigac` needs LLVM.
fn libraries(prefix: &Path) {
    let library = prefix.join("lib/libtiga.so");
    let header = fs::read_to_string(prefix.join("include/tiga.h")).unwrap();
    let version =
        |of: &str| header.lines().find_map(|line| line.strip_prefix(&format!("#define TIGA_ABI_{of} "))).unwrap();
    let (soname, file) =
        (format!("libtiga.so.{}", version("MAJOR")), format!("libtiga.so.{}.{}", version("MAJOR"), version("MINOR")));
    assert!(prefix.join("lib").join(file).is_file() && prefix.join("lib").join(&soname).exists());
    assert!(run(Command::new("readelf").arg("-d").arg(&library)).contains(&format!("[{soname}]")));
    let cmake = fs::read_to_string(prefix.join("lib/cmake/Tiga/TigaConfig.cmake")).unwrap();
    assert_eq!(cmake.matches(&format!("libtiga.so.{}", version("MAJOR"))).count(), 2);
    let names = run(Command::new("nm").args(["-D", "--defined-only"]).arg(&library));
    let others: Vec<&str> = names.lines().filter(|line| !line.contains(" T tiga_")).collect();
    assert!(names.lines().count() > 30 && others.is_empty(), "{others:?}");
    no_llvm(prefix, &library);
    no_llvm(prefix, &prefix.join("bin/tiga"));
    let tigac = run(Command::new("ldd").arg(prefix.join("bin/tigac")));
    assert!(tigac.contains("libLLVM.so.22"), "it is loaded, as docs/packages.md says: {tigac}");
}

/// The system's libraries and perhaps the prefix's own.
fn no_llvm(prefix: &Path, program: &Path) {
    let own = format!("libtiga.so.1 => {}", prefix.join("lib/libtiga.so.1").display());
    let needed = run(Command::new("ldd").arg(program));
    let known = ["linux-vdso", "libgcc_s.so", "libc.so", "libm.so", "libstdc++.so", "ld-linux-x86-64", own.as_str()];
    let others: Vec<&str> = needed.lines().filter(|line| !known.iter().any(|name| line.contains(name))).collect();
    assert!(others.is_empty(), "{}: {others:?}", program.display());
}

/// Removing takes what was installed and the folders that were made; what others put there stays.
fn gone(tools: &Tools, folder: &Path, prefix: &Path) {
    let own = prefix.join("share/tiga/own.txt");
    fs::write(&own, "").unwrap();
    install(tools, prefix, &["--uninstall"]);
    assert_eq!(walk(&folder.join("not")), ["there/yet/share/tiga/own.txt"]);
    fs::remove_file(&own).unwrap();
    fs::remove_dir_all(folder.join("not")).unwrap();

    fs::create_dir_all(prefix.join("bin")).unwrap();
    fs::write(prefix.join("bin/tiga"), "another's").unwrap();
    let built = tools.command("tigac").get_program().to_owned();
    let refused = xtask(prefix).arg("--from").arg(Path::new(&built).parent().unwrap()).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("bin/tiga is there"), "{said}");
    assert_eq!(walk(prefix), ["bin/tiga"], "nothing is installed");
    fs::remove_file(prefix.join("bin/tiga")).unwrap();

    // Twice: the second replaces the first. `bin` was there before, and stays.
    install(tools, prefix, &[]);
    install(tools, prefix, &[]);
    install(tools, prefix, &["--uninstall"]);
    assert_eq!(fs::read_dir(prefix).unwrap().count(), 1);
    assert_eq!(fs::read_dir(prefix.join("bin")).unwrap().count(), 0);
    fs::remove_dir_all(folder.join("not")).unwrap();
    install(tools, prefix, &[]);
    install(tools, prefix, &["--uninstall"]);
    assert!(!folder.join("not").exists(), "the folders above the prefix were made for it");
}

/// Files and links below a folder, in order.
fn walk(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap()
}

/// Runs it, demands success, gives what it printed.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{printed}\n{said}", output.status);
    printed.into_owned()
}
