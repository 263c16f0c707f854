//! Hostile files and wrong bindings through the real commands: exit code 1, one message, no panic, little memory.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(unsafe_code, reason = "only `wait4` tells the memory that one child used")]

use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use testsuite::lit::Tools;
use tiga_formats::{Array, Elements, save_array, save_arrays};

/// The most memory a refusal may take.
const PEAK_BYTES: i64 = 256 << 20;

static TOOLS: LazyLock<Tools> = LazyLock::new(|| {
    Tools::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
});

/// How a command ended.
struct Ended {
    code: i32,
    text: String,
    peak_bytes: i64,
}

/// Runs a command to its end.
fn run(folder: &Path, name: &str, arguments: &[&str]) -> Ended {
    let mut command: Command = TOOLS.command(name);
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    // Waited for below, with what it used.
    #[allow(clippy::zombie_processes)]
    let mut child = command.spawn().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    let mut status = 0;
    // SAFETY: all zeros are a value of this plain struct; both pointers are to locals; the child is ours and not yet
    // waited for, and `Child` never waits for it by itself.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(child.id() as i32, &mut status, 0, &mut usage), child.id() as i32);
        usage
    };
    assert!(libc::WIFEXITED(status), "{name} {arguments:?} was killed by signal {}\n{text}", libc::WTERMSIG(status));
    Ended { code: libc::WEXITSTATUS(status), text, peak_bytes: usage.ru_maxrss * 1024 }
}

/// The command must refuse, and its message must have all the parts.
#[track_caller]
fn refuses(folder: &Path, arguments: &[&str], parts: &[&str]) {
    let ended = run(folder, "tiga", arguments);
    assert_eq!(ended.code, 1, "{arguments:?}\n{}", ended.text);
    assert!(ended.text.starts_with("error: "), "{arguments:?}\n{}", ended.text);
    for part in parts {
        assert!(ended.text.contains(part), "{arguments:?} does not say `{part}`:\n{}", ended.text);
    }
    for part in ["panicked", "RUST_BACKTRACE", ".rs:"] {
        assert!(!ended.text.contains(part), "{arguments:?} says `{part}`:\n{}", ended.text);
    }
    assert!(ended.peak_bytes <= PEAK_BYTES, "{arguments:?} took {} MB", ended.peak_bytes >> 20);
}

/// A folder with the bundle of an example as `m.tgb`, and a graph of three nodes as `g.npz`.
fn folder(test: &str, example: &str) -> PathBuf {
    let folder = TOOLS.scratch(&format!("hostile-{test}")).unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(example);
    let ended = run(&folder, "tigac", &[model.to_str().unwrap(), "-o", "m.tgb"]);
    assert_eq!(ended.code, 0, "{}", ended.text);
    npz(&folder.join("g.npz"), &[0, 2, 3, 5], &[0, 2, 1, 0, 1], 3);
    folder
}

fn npz(path: &Path, row_ptr: &[i64], col_idx: &[i64], num_src: i64) {
    let row_ptr = Array::vector(Elements::I64(row_ptr.to_vec()));
    let col_idx = Array::vector(Elements::I64(col_idx.to_vec()));
    let num_src = Array::new(Vec::new(), Elements::I64(vec![num_src])).unwrap();
    save_arrays(path, [("row_ptr", &row_ptr), ("col_idx", &col_idx), ("num_src", &num_src)]).unwrap();
}

fn f64s(path: &Path, count: usize) {
    save_array(path, &Array::vector(Elements::F64(vec![1.0; count]))).unwrap();
}

const PAGERANK: [&str; 7] = ["run", "x.tgb", "pagerank", "--graph", "g=g.npz", "--in", "damping=0.85"];

#[test]
fn damaged_bundles() {
    let folder = folder("bundles", "pagerank.tg");
    let whole = fs::read(folder.join("m.tgb")).unwrap();
    let arguments = [&PAGERANK[..], &["--in", "tol=1e-6"]].concat();
    fs::write(folder.join("x.tgb"), &whole).unwrap();
    let ended = run(&folder, "tiga", &arguments);
    assert_eq!(ended.code, 0, "the undamaged one runs: {}", ended.text);
    let refused = |bytes: &[u8], parts: &[&str]| {
        fs::write(folder.join("x.tgb"), bytes).unwrap();
        refuses(&folder, &arguments, &[&["x.tgb"], parts].concat());
        refuses(&folder, &["inspect", "x.tgb"], &["x.tgb"]);
        refuses(&folder, &["inspect", "--format=json", "x.tgb"], &["x.tgb"]);
    };
    for part in 0..64 {
        refused(&whole[..whole.len() * part / 64], &[]);
    }
    let flip = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        refused(&bytes, &[]);
    };
    (0..64).for_each(|part| flip(whole.len() * part / 64));
    (1..=64).for_each(|back| flip(whole.len() - back));
    // Every entry, by its place in the file.
    for (name, _) in tiga_bundle::Bundle::from_bytes(whole.clone()).unwrap().entries() {
        let at = whole.windows(name.len()).position(|w| w == name.as_bytes()).unwrap();
        flip(at);
        flip(at + name.len() + 70);
    }
    let comment = format!("tiga-bundle {}\n", tiga_bundle::FORMAT).into_bytes();
    let at = whole.windows(comment.len()).position(|w| w == comment).unwrap();
    let mut future = whole.clone();
    future[at + comment.len() - 2] = b'9';
    refused(&future, &["the bundle has format 9"]);
    refused(b"PK\x05\x06", &[]);
    fs::remove_file(folder.join("x.tgb")).unwrap();
    refuses(&folder, &arguments, &["x.tgb"]);
}

#[test]
fn bad_graphs() {
    let folder = folder("graphs", "pagerank.tg");
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let files: [(&str, String, &str); 16] = [
        ("empty.mtx", String::new(), "empty.mtx"),
        ("words.mtx", "a graph, please\n".into(), "words.mtx"),
        ("kind.mtx", head.replace("coordinate", "array") + "2 2\n1\n2\n3\n4\n", "array"),
        ("outside.mtx", head.to_owned() + "2 2 1\n3 1 1.0\n", "3"),
        ("zero.mtx", head.to_owned() + "2 2 1\n0 1 1.0\n", "0"),
        ("negative.mtx", head.to_owned() + "2 2 1\n-1 1 1.0\n", "-1"),
        ("few.mtx", head.to_owned() + "2 2 2\n1 1 1.0\n", "few.mtx"),
        ("many.mtx", head.to_owned() + "2 2 1\n1 1 1.0\n2 2 1.0\n", "many.mtx"),
        ("huge.mtx", head.to_owned() + "9000000000 9000000000 9000000000000000000\n1 1 1\n", "huge.mtx"),
        ("overflow.mtx", head.to_owned() + "2 2 99999999999999999999999999\n1 1 1\n", "overflow.mtx"),
        ("words.txt", "0 1\n1 two\n".into(), "words.txt"),
        ("one.txt", "0 1\n1\n".into(), "one.txt"),
        ("negative.txt", "0 -1\n".into(), "negative.txt"),
        ("sparse.txt", "0 999999999999\n".into(), "sparse.txt"),
        ("zip.npz", "PK\u{3}\u{4}".into(), "zip.npz"),
        ("unknown.xyz", "0 1\n".into(), "unknown.xyz"),
    ];
    for (name, text, part) in files {
        fs::write(folder.join(name), text).unwrap();
        let graph = format!("g={name}");
        refuses(&folder, &["run", "m.tgb", "--graph", &graph, "--in", "damping=0.85", "--in", "tol=1"], &[name, part]);
    }
    npz(&folder.join("falling.npz"), &[0, 3, 2, 5], &[0, 2, 1, 0, 1], 3);
    npz(&folder.join("start.npz"), &[1, 2, 3, 5], &[0, 2, 1, 0, 1], 3);
    npz(&folder.join("end.npz"), &[0, 2, 3, 9], &[0, 2, 1, 0, 1], 3);
    npz(&folder.join("column.npz"), &[0, 2, 3, 5], &[0, 2, 1, 0, 3], 3);
    for name in ["falling.npz", "start.npz", "end.npz", "column.npz"] {
        let graph = format!("g={name}");
        refuses(&folder, &["run", "m.tgb", "--graph", &graph, "--in", "damping=0.85", "--in", "tol=1"], &[name]);
    }
    // Two sets where the program has one.
    npz(&folder.join("wide.npz"), &[0, 2, 3, 5], &[0, 2, 1, 0, 1], 7);
    let run = ["run", "m.tgb", "--graph", "g=wide.npz", "--in", "damping=0.85", "--in", "tol=1"];
    refuses(&folder, &run, &["7", "3", "the sources of `g`", "the destinations of `g`"]);
}

#[test]
fn bad_arrays() {
    let folder = folder("arrays", "spmv.tg");
    f64s(&folder.join("a.npy"), 5);
    f64s(&folder.join("good.npy"), 3);
    let good = fs::read(folder.join("good.npy")).unwrap();
    let run = |x: &str| {
        let x = format!("x={x}");
        let arguments = ["run", "m.tgb", "--graph", "g=g.npz", "--in", "a=a.npy", "--in", &x];
        let ended = self::run(&folder, "tiga", &arguments);
        (arguments.map(str::to_owned), ended.code)
    };
    assert_eq!(run("good.npy").1, 0, "the undamaged one runs");
    let header = |shape: &str| {
        let mut text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        text += &" ".repeat(117 - text.len());
        [b"\x93NUMPY\x01\x00\x76\x00".to_vec(), text.into_bytes(), b"\n".to_vec()].concat()
    };
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("empty.npy".into(), Vec::new()),
        ("magic.npy".into(), b"\x93NUMBY\x01\x00".to_vec()),
        ("version.npy".into(), [b"\x93NUMPY\x09".as_slice(), &good[7..]].concat()),
        ("long.npy".into(), [good.as_slice(), b"x"].concat()),
        ("huge.npy".into(), header("(9000000000000000000,)")),
        ("many.npy".into(), header("(4000000000, 4000000000, 4000000000)")),
        ("negative.npy".into(), header("(-3,)")),
        ("objects.npy".into(), String::from_utf8_lossy(&header("(3,)")).replace("<f8", "|O8").into_bytes()),
    ];
    for part in 0..16 {
        files.push((format!("cut{part}.npy"), good[..good.len() * part / 16].to_vec()));
    }
    for (name, bytes) in files {
        fs::write(folder.join(&name), bytes).unwrap();
        let (arguments, _) = run(&name);
        refuses(&folder, &arguments.each_ref().map(String::as_str), &[&name]);
    }
    let (arguments, _) = run("missing.npy");
    refuses(&folder, &arguments.each_ref().map(String::as_str), &["missing.npy"]);
}

#[test]
fn wrong_bindings() {
    let folder = folder("bindings", "spmv.tg");
    f64s(&folder.join("a.npy"), 5);
    f64s(&folder.join("x.npy"), 3);
    f64s(&folder.join("x4.npy"), 4);
    f64s(&folder.join("a6.npy"), 6);
    save_array(&folder.join("ints.npy"), &Array::vector(Elements::I64(vec![i64::MAX; 3]))).unwrap();
    save_array(&folder.join("table.npy"), &Array::zeroed(tiga_abi::DType::F64, vec![3, 1]).unwrap()).unwrap();
    let refused =
        |arguments: &[&str], parts: &[&str]| refuses(&folder, &[&["run", "m.tgb"], arguments].concat(), parts);
    let (g, a, x) = (["--graph", "g=g.npz"], ["--in", "a=a.npy"], ["--in", "x=x.npy"]);
    // Missing.
    refused(&[], &["not bound", "`g`", "`a`", "`x`"]);
    refused(&[&g[..], &a].concat(), &["not bound", "`x`"]);
    refused(&[&a[..], &x].concat(), &["not bound", "`g`"]);
    // Extra, unknown, of the wrong kind, twice.
    let all = [&g[..], &a, &x].concat();
    refused(&[&all[..], &["--in", "z=1"]].concat(), &["no input `z`", "a", "x"]);
    refused(&[&all[..], &["--graph", "h=g.npz"]].concat(), &["`h`"]);
    refused(&[&all[..], &["--graph", "x=g.npz"]].concat(), &["`x`"]);
    refused(&[&all[..], &["--in", "g=a.npy"]].concat(), &["`g`", "--graph"]);
    refused(&[&all[..], &x].concat(), &["`x` is bound twice"]);
    refused(&[&all[..], &g].concat(), &["`g` is bound twice"]);
    refused(&[&all[..], &["--dim", "F=3"]].concat(), &["no size `F`"]);
    refused(&[&all[..], &["--out", "z=z.npy"]].concat(), &["no result `z`", "y"]);
    refused(&[&["nosuch"], &all[..]].concat(), &["no program `nosuch`", "spmv"]);
    // Sizes in conflict: both values and both places.
    refused(&[&g[..], &a, &["--in", "x=x4.npy"]].concat(), &["3", "the sources of `g`", "4", "axis 0 of `x`"]);
    refused(&[&g[..], &["--in", "a=a6.npy"], &x].concat(), &["5", "the edges of `g`", "6", "axis 0 of `a`"]);
    // Types and shapes.
    refused(&[&g[..], &a, &["--in", "x=ints.npy"]].concat(), &["x=ints.npy"]);
    refused(&[&g[..], &a, &["--in", "x=table.npy"]].concat(), &["x", "[3, 1]"]);
    refused(&[&g[..], &a, &["--in", "x=1.5"]].concat(), &["x=1.5"]);
    refused(&[&g[..], &["--in", "a=g.values"], &x].concat(), &["a=g.values"]);
}

/// A plan of these invocations, the text of each made by its number. It is written piece by piece: what this process
/// holds when it starts a command counts as that command's.
fn plan(path: &Path, count: usize, invocation: impl Fn(usize) -> String, terminals: &[&str]) {
    let mut file = BufWriter::new(fs::File::create(path).unwrap());
    let schema = "tiga.executable-bundle-plan.v1";
    write!(file, r#"{{"schema":"{schema}","resources":[],"invocations":["#).unwrap();
    for index in 0..count {
        let comma = if index == 0 { "" } else { "," };
        write!(file, "{comma}{}", invocation(index)).unwrap();
    }
    write!(file, r#"],"terminals":{}}}"#, serde_json::json!(terminals)).unwrap();
    file.flush().unwrap();
}

/// An invocation without resources; `more` follows its fields.
fn invocation(name: &str, waits: &str, more: &str) -> String {
    let fixed = r#""task_kind":"","phase":"execute","executable_symbol":"k","snapshot_version":0"#;
    format!(r#"{{"name":"{name}",{fixed},"depends_on":[{waits}],"arguments":[],"accesses":[]{more}}}"#)
}

#[test]
fn hostile_plans() {
    let folder = TOOLS.scratch("hostile-plans").unwrap();
    let refused = |name: &str, parts: &[&str]| {
        for command in ["check", "explain", "draw"] {
            refuses(&folder, &["plan", command, name], &[&[name], parts].concat());
        }
    };
    let alone = |name: String| invocation(&name, "", "");
    plan(&folder.join("many.json"), 1_000_000, |i| alone(format!("t{i}")), &["t0"]);
    refused("many.json", &["bytes of JSON, at most 67108864 are read"]);
    plan(&folder.join("most.json"), 250_000, |i| alone(format!("t{i}")), &["t0"]);
    refuses(&folder, &["plan", "check", "--v1", "most.json"], &["terminals disagree", "and 249992 more"]);
    let ring = |i: usize| invocation(&format!("t{i}"), &format!("\"t{}\"", (i + 99_999) % 100_000), "");
    plan(&folder.join("ring.json"), 100_000, ring, &["t0"]);
    refused("ring.json", &["cycle", "and 99992 more"]);
    let deep = format!(r#","m":{}{}"#, "[".repeat(1 << 20), "]".repeat(1 << 20));
    plan(&folder.join("deep.json"), 1, |_| invocation("t", "", &deep), &["t"]);
    refused("deep.json", &["recursion limit exceeded"]);
    let long = "x".repeat(10 << 20);
    plan(&folder.join("long.json"), 1, |_| invocation(&long, "\"y\"", ""), &[&long]);
    refused("long.json", &["unknown dependencies"]);
    let ended = run(&folder, "tiga", &["plan", "check", "long.json"]);
    assert!(ended.text.len() < 5000, "the message has {} bytes", ended.text.len());
    plan(&folder.join("twice.json"), 1, |_| invocation("t", "", r#","name":"u""#), &["u"]);
    let ended = run(&folder, "tiga", &["plan", "check", "twice.json"]);
    assert_eq!(ended.code, 1);
    assert!(ended.text.starts_with("error[duplicate-key]: `name` stands twice in $.invocations[0]"), "{}", ended.text);
    plan(&folder.join("steers.json"), 1, |_| invocation(r"\u001b[2J", "\"y\"", ""), &["t"]);
    refused("steers.json", &[]);
    let ended = run(&folder, "tiga", &["plan", "check", "steers.json"]);
    assert!(!ended.text.contains('\u{1b}'), "{}", ended.text);
}

#[test]
fn capacities_near_the_end_of_64_bits() {
    let folder = TOOLS.scratch("hostile-capacities").unwrap();
    let resource = |name: &str| {
        serde_json::json!({"name": name, "memory_space": "ram", "layout": "contiguous", "device": "host:0",
            "capacity_bytes": u64::MAX, "snapshot_version": 0, "external": false})
    };
    let argument = |name: &str| serde_json::json!({"parameter": name, "resource": name});
    let access = |name: &str| serde_json::json!({"binding": name, "mode": "write", "snapshot_version": 0});
    let tree = serde_json::json!({
        "schema": "tiga.executable-bundle-plan.v1", "resources": [resource("a"), resource("b")], "terminals": ["t"],
        "invocations": [{"name": "t", "task_kind": "local", "phase": "execute", "executable_symbol": "k",
            "depends_on": [], "snapshot_version": 0, "arguments": [argument("a"), argument("b")],
            "accesses": [access("a"), access("b")]}],
    });
    fs::write(folder.join("large.json"), tree.to_string()).unwrap();
    assert_eq!(run(&folder, "tiga", &["plan", "check", "--v1", "large.json"]).code, 0);
    let ended = run(&folder, "tiga", &["plan", "check", "large.json"]);
    assert!(ended.text.starts_with("error[capacity-overflow]: the resources in `ram`"), "{}", ended.text);
    for command in ["explain", "draw"] {
        refuses(&folder, &["plan", command, "large.json"], &["more than 2^64 bytes of `ram` live at `t`"]);
    }
}
