//! Kernels under debuggers and profilers: gdb stops at lines of a model inside of a host in C, callgrind counts by them,
//! and what the runtime keeps for both is what the bundle holds. `docs/debugging.md` shows the same by hand.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

#[path = "../embedding/build.rs"]
#[allow(dead_code, reason = "these hosts are in C, and some of those in the other test")]
mod build;

use build::{Host, bundles, linked_heat, run, shell};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The variable under test.
const KEEP: &str = "TIGA_KEEP_KERNELS";

/// Lines of `examples/heat.tg`: the edge function, the node function, the call.
const EDGE: &str = "    edge { edge.c * src.T }";
const NODE: &str = "    node(total) { total + dst.b }";
const CALL: &str = "    conduct(g, src: {T}, dst: {b}, edge: {c})";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").canonicalize().unwrap()
}

/// The number of a line of the example.
fn line(text: &str) -> usize {
    let model = fs::read_to_string(examples().join("heat.tg")).unwrap();
    1 + model.lines().position(|line| line == text).unwrap_or_else(|| panic!("heat.tg has no line `{text}`"))
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debugging").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder.canonicalize().unwrap()
}

/// Whether a tool is there. Without it the test is skipped, which says so; with `TIGA_DATA_REQUIRED=1` it fails.
fn has(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    let required = std::env::var_os("TIGA_DATA_REQUIRED").is_some_and(|value| value == "1");
    assert!(there || !required, "{tool} is missing");
    if !there {
        println!("skipped, {tool} is missing");
    }
    there
}

/// The host in C with its bundle, for the CPU that valgrind knows.
fn heat() -> (PathBuf, PathBuf) {
    (Host::c("../examples/embed/c/heat.c").compile("heat-c"), bundles().join("heat.tgb"))
}

/// What gdb prints while it runs a program and does as it is told.
fn gdb(commands: &[&str], keep: Option<&Path>, program: &[&Path]) -> String {
    let mut gdb = shell("gdb", &["-nx", "-batch", "-iex", "set debuginfod enabled off"]);
    gdb.args(["-iex", "set breakpoint pending on", "-iex", "set width 0", "-d"]).arg(examples());
    gdb.args(commands.iter().flat_map(|command| ["-ex", command])).arg("--args").args(program).env_remove(KEEP);
    run(gdb.envs(keep.map(|folder| (KEEP, folder))))
}

/// Rows of line tables: the lines, and the files that are named.
fn lines(object: &Path) -> (BTreeSet<usize>, BTreeSet<String>) {
    let printed = run(&mut shell("/usr/lib/llvm-22/bin/llvm-dwarfdump", &["--debug-line", object.to_str().unwrap()]));
    let row = |line: &str| line.strip_prefix("0x").and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
    let file = |line: &str| Some(line.trim_start().strip_prefix("name: \"")?.strip_suffix('"')?.to_owned());
    (printed.lines().filter_map(row).collect(), printed.lines().filter_map(file).collect())
}

#[test]
fn line_tables_name_the_lines_of_the_model() {
    let bundle = tiga_bundle::Bundle::open(&bundles().join("heat.tgb")).unwrap();
    let folder = folder("tables");
    for target in ["x86-64-v2", "x86-64-v3"] {
        fs::write(folder.join(target), bundle.kernels(target).unwrap()).unwrap();
    }
    let objects = [linked_heat().join("heat.o"), folder.join("x86-64-v2"), folder.join("x86-64-v3")];
    for object in objects {
        let (lines, files) = lines(&object);
        assert_eq!(files, BTreeSet::from(["heat.tg".to_owned()]), "{}", object.display());
        let wanted = BTreeSet::from([EDGE, NODE, CALL].map(line));
        let others: Vec<&usize> = lines.iter().filter(|line| **line != 0 && !wanted.contains(line)).collect();
        assert!(wanted.is_subset(&lines) && others.is_empty(), "{}: {lines:?}", object.display());
    }
}

#[test]
fn gdb_stops_at_lines_of_the_model_in_a_host() {
    if !has("gdb") {
        return;
    }
    let (host, bundle) = heat();
    let kept = folder("gdb");
    for text in [EDGE, NODE] {
        let number = line(text);
        let stop = format!("break heat.tg:{number}");
        let commands = [&stop, "run", "thread apply all backtrace", "delete", "continue"];
        let said = gdb(&commands, Some(&kept), &[&host, &bundle]);
        let here = |line: &str| line.starts_with("#0") && line.contains(&format!("at heat.tg:{number}"));
        assert!(said.lines().any(here), "{said}");
        assert!(said.contains(&format!("{number}\t{text}\n")), "the line is shown:\n{said}");
        let outside = |name: &str| said.lines().any(|line| line.starts_with('#') && line.contains(name));
        assert!(outside("tiga.heat.0.rows.any") && outside("tiga_call_run") && outside("main ("), "{said}");
        assert!(said.contains("11.1 8.2 17.3"), "it goes on to the end:\n{said}");
    }
}

#[test]
fn gdb_stops_in_kernels_that_are_linked_into_a_host() {
    if !has("gdb") {
        return;
    }
    let folder = linked_heat();
    let host = Host::c("../examples/embed/c/linked.c").with(&format!("-I{}", folder.display()));
    let host = host.with(folder.join("heat.o").to_str().unwrap()).compile("heat-linked");
    let number = line(EDGE);
    let said = gdb(&[&format!("break heat.tg:{number}"), "run", "backtrace"], None, &[&host]);
    assert!(said.contains(&format!("{number}\t{EDGE}\n")), "{said}");
}

#[test]
fn callgrind_counts_by_lines_of_the_model() {
    if !has("valgrind") || !has("callgrind_annotate") {
        return;
    }
    let (host, bundle) = heat();
    let kept = folder("callgrind");
    let counts = kept.join("callgrind.out");
    let mut valgrind = shell("valgrind", &["-q", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", counts.display())).args([&host, &bundle]);
    assert_eq!(run(valgrind.env(KEEP, &kept)), "11.1 8.2 17.3\n");
    let mut annotate = shell("callgrind_annotate", &["--threshold=100", "--auto=yes"]);
    let said = run(annotate.arg(format!("--include={}", examples().display())).arg(&counts));
    for text in [EDGE, NODE] {
        let counted = |line: &str| {
            let cost = line.trim_start().split(' ').next()?.replace(',', "").parse::<u64>().ok()?;
            line.ends_with(text).then_some(cost)
        };
        let cost: Vec<u64> = said.lines().filter_map(counted).collect();
        assert!(matches!(cost.as_slice(), [cost] if *cost > 0), "`{text}`: {cost:?}\n{said}");
    }
}

#[test]
fn kept_kernels_are_those_of_the_bundle() {
    let (host, bundle) = heat();
    let kept = folder("kept");
    let mut again = shell(&host, &[bundle.to_str().unwrap()]);
    again.env(KEEP, &kept);
    assert_eq!(run(&mut again), "11.1 8.2 17.3\n");
    let files = || fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let [file] = &files()[..] else { panic!("{:?}", files()) };
    let opened = tiga_bundle::Bundle::open(&bundle).unwrap();
    let (target, object) = ("x86-64-v3", fs::read(file).unwrap());
    assert_eq!(object, opened.kernels(target).unwrap());
    let checksum = &opened.kernels_checksum(target).unwrap()[..16];
    assert_eq!(file.file_name().unwrap().to_str().unwrap(), format!("heat.{target}.{checksum}.so"));
    // What is there is taken as it is; what is not what the bundle holds is replaced.
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let first = inode(file);
    run(&mut again);
    assert_eq!((files(), inode(file)), (vec![file.clone()], first));
    fs::write(file, "something else").unwrap();
    run(&mut again);
    assert_eq!((files(), fs::read(file).unwrap()), (vec![file.clone()], object));
}

#[test]
fn kernels_that_cannot_be_kept_are_an_error() {
    let (host, bundle) = heat();
    let folder = folder("refused");
    fs::write(folder.join("file"), "").unwrap();
    let keep = |keep: &Path| -> Output { shell(&host, &[bundle.to_str().unwrap()]).env(KEEP, keep).output().unwrap() };
    for (name, reason) in [("none", "there is no folder"), ("file", "Not a directory")] {
        let output = keep(&folder.join(name));
        let said = String::from_utf8(output.stderr).unwrap();
        let wanted = ["TIGA_LOAD: the kernels cannot be kept as TIGA_KEEP_KERNELS says: ", name, reason];
        assert!(wanted.iter().all(|part| said.contains(part)), "{said}");
        assert_eq!(output.status.code(), Some(1));
    }
    assert_eq!(keep(Path::new("")).status.code(), Some(0), "an empty name is none");
}
