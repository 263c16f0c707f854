//! LLVM in a process of its own: kernels of random and of mutated modules, which the verifier accepts, never end it.
//!
//! `cargo xtask fuzz llvm` runs the ignored test for as long as one likes; a module that ends the child is saved.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use fastrand::Rng;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use testsuite::generator::program;
use tiga_abi::{CpuTarget, FpMode, Symbol};
use tiga_backend_llvm::{Failure, OptLevel, Options};
use tiga_ir::verify::{Machine, verify};
use tiga_ir::{Level, Module, parse_module, print_module};
use tigac::passes::{PassOptions, Watch};
use tigac::pipeline;

/// Tells the process that it is the child.
const CHILD: &str = "TIGA_LLVM_CHILD";
/// A line instead of a path, at which the child fails as LLVM would.
const CRASH: &str = "crash";
/// The longest that one module may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Instructions of a module that is compiled: larger ones take LLVM's time and show nothing more.
const LARGEST: usize = 2_000;
/// Changes of one module.
const CHANGES: usize = 4;

/// Compiles the modules whose paths it is told, one a line, and says what became of each.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        if line == CRASH {
            tiga_backend_llvm::fail(Failure::Crash);
        }
        let text = fs::read_to_string(&line).unwrap();
        println!("\n= {}", compiled(&parse_module("child.tir", &text).unwrap()));
    }
}

/// What becomes of the kernels of a module, for both targets and both efforts.
fn compiled(module: &Module) -> String {
    let kernels = module.funcs.values().filter(|func| func.level == Level::Kernel);
    let names: Vec<Symbol> = kernels.map(|func| func.name.clone()).collect();
    for (target, opt) in [(CpuTarget::X86_64V3, OptLevel::O), (CpuTarget::Native, OptLevel::O0)] {
        match tiga_backend_llvm::compile(module, &names, &Options { target, opt }) {
            Ok(code) => drop(code.asm()),
            // The kind of an error is its first word in the debugging form.
            Err(error) => return format!("{error:?}").split([' ', '(', '{']).next().unwrap_or_default().to_owned(),
        }
    }
    "compiled".to_owned()
}

/// A child and what it says.
struct Compiler {
    process: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Compiler {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "child", "--nocapture"])
            .env(CHILD, "1")
            .env("RUST_MIN_STACK", (256 << 20).to_string());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix("= ") {
                    let _ = sender.send(answer.to_owned());
                }
            }
        });
        Self { process, input, answers }
    }

    /// What the child says of a line; nothing if it ends instead, or says nothing for too long.
    fn ask(&mut self, line: &str) -> Option<String> {
        writeln!(self.input, "{line}").ok()?;
        self.answers.recv_timeout(PATIENCE).ok()
    }

    /// How the child ended.
    fn end(mut self) -> String {
        // One that hangs is ended here.
        let _ = self.process.kill();
        self.process.wait().unwrap().to_string()
    }
}

/// What came of many modules.
#[derive(Default)]
struct Found {
    tried: usize,
    answers: BTreeMap<String, usize>,
    finds: Vec<PathBuf>,
}

/// Compiles modules in a child until the time is over.
fn campaign(seed: u64, time: Duration, most: usize, folder: &Path) -> Found {
    fs::create_dir_all(folder).unwrap();
    let (mut rng, begin, mut found) = (Rng::with_seed(seed), Instant::now(), Found::default());
    let mut child = Compiler::start();
    let seeds: Vec<String> = (0..24).filter_map(|_| random(&mut rng)).chain(written()).collect();
    let mut pool = seeds.clone();
    while begin.elapsed() < time && found.answers.values().sum::<usize>() < most {
        found.tried += 1;
        let text = if rng.u8(..) < 16 { random(&mut rng) } else { mutated(&mut rng, &pool) };
        let Some(text) = text else { continue };
        let path = folder.join("module.tir");
        fs::write(&path, &text).unwrap();
        let Some(answer) = child.ask(path.to_str().unwrap()) else {
            let saved = folder.join(format!("crash-{seed}-{}.tir", found.tried));
            fs::rename(&path, &saved).unwrap();
            println!("{}: {}", saved.display(), std::mem::replace(&mut child, Compiler::start()).end());
            found.finds.push(saved);
            continue;
        };
        if answer == "compiled" && pool.len() < 4096 {
            pool.push(text);
        }
        *found.answers.entry(answer).or_default() += 1;
    }
    child.end();
    println!(
        "llvm: {} s, {} modules tried, {:?}, {} finds",
        begin.elapsed().as_secs(),
        found.tried,
        found.answers,
        found.finds.len()
    );
    found
}

/// The kernels of a random program, with the others of its module left out.
fn random(rng: &mut Rng) -> Option<String> {
    let generated = program(rng, "random", 6);
    let lowered = pipeline::lower(
        generated.module,
        &PassOptions::new(if rng.bool() { FpMode::Default } else { FpMode::Strict }),
        &Watch::default(),
        &mut std::io::sink(),
    );
    let mut module = Module::new();
    for mut kernel in lowered.ok()?.kernels.into_iter().flat_map(|set| set.variants) {
        kernel.of = None;
        module.add(kernel);
    }
    accepted(&print_module(&module))
}

/// The kernels among the hand-written modules of this folder.
fn written() -> impl Iterator<Item = String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["passes/cse/loads.tir", "passes/dce/kernel.tir"]
        .into_iter()
        .filter_map(|name| accepted(&fs::read_to_string(folder.join(name)).unwrap()))
}

/// The module as printed, if it is one of kernels that keep all laws and is not too large.
fn accepted(text: &str) -> Option<String> {
    let module = parse_module("mutated.tir", text).ok()?;
    let kernels = !module.funcs.is_empty() && module.funcs.values().all(|func| func.level == Level::Kernel);
    let small = text.lines().count() <= LARGEST;
    (kernels && small && verify(&module, Machine::FULL).is_ok()).then(|| print_module(&module))
}

/// A module with some words replaced by words of others, or lines by lines, if the verifier accepts it.
fn mutated(rng: &mut Rng, pool: &[String]) -> Option<String> {
    let mut lines: Vec<String> = pool[rng.usize(..pool.len())].lines().map(str::to_owned).collect();
    let other: Vec<&str> = pool[rng.usize(..pool.len())].lines().collect();
    for _ in 0..rng.usize(1..=CHANGES) {
        let at = rng.usize(..lines.len());
        match rng.u8(..8) {
            0 => lines.insert(at, lines[rng.usize(..lines.len())].clone()),
            1 => drop(lines.remove(at)),
            _ => {
                let source = other[rng.usize(..other.len())];
                lines[at] = with_word_of(rng, &lines[at], source);
            }
        }
        if lines.is_empty() {
            return None;
        }
    }
    accepted(&lines.join("\n"))
}

/// A line with one of its words replaced: by a number at an edge of its range, or by a word of another line.
fn with_word_of(rng: &mut Rng, line: &str, other: &str) -> String {
    const NUMBERS: &[&str] =
        &["0", "1", "-1", "2147483647", "9223372036854775807", "-9223372036854775808", "inf", "nan", "1e-310", "64"];
    let words: Vec<&str> = line.split(' ').collect();
    let others: Vec<&str> = other.split(' ').filter(|word| !word.is_empty()).collect();
    let at = rng.usize(..words.len());
    let word = if others.is_empty() || rng.u8(..4) == 0 {
        NUMBERS[rng.usize(..NUMBERS.len())]
    } else {
        others[rng.usize(..others.len())]
    };
    // What encloses a number stays: `value(f32 1.0)`.
    let end: String = words[at].chars().rev().take_while(|c| "),:".contains(*c)).collect();
    let word = format!("{}{}", word.trim_end_matches(['(', ')', ',', ':']), end.chars().rev().collect::<String>());
    words.iter().enumerate().map(|(i, old)| if i == at { word.as_str() } else { old }).collect::<Vec<_>>().join(" ")
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("llvm-child").join(name)
}

#[test]
fn a_child_that_ends_is_seen() {
    let mut child = Compiler::start();
    let path = folder("seen").join("module.tir");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Some programs are larger than what is compiled here.
    let mut rng = Rng::with_seed(3);
    let text = std::iter::repeat_with(|| random(&mut rng)).flatten().next().unwrap();
    fs::write(&path, text).unwrap();
    assert_eq!(child.ask(path.to_str().unwrap()).as_deref(), Some("compiled"));
    assert_eq!(child.ask(CRASH), None);
    let end = child.end();
    assert!(end.contains("signal"), "{end}");
}

/// The modules that once ended a child.
#[test]
fn finds_end_no_child_any_more() {
    let Ok(finds) = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzzed/llvm")) else { return };
    let mut child = Compiler::start();
    for entry in finds {
        let path = entry.unwrap().path();
        assert!(child.ask(path.to_str().unwrap()).is_some(), "{}", path.display());
    }
    child.end();
}

#[test]
fn mutated_kernels_are_compiled_or_refused() {
    let found = campaign(1, Duration::from_secs(300), 100, &folder("quick"));
    assert!(found.finds.is_empty(), "{:?}", found.finds);
    assert!(found.answers.get("compiled").is_some_and(|count| *count > 20), "{:?}", found.answers);
}

#[test]
#[ignore = "runs for TIGA_FUZZ_SECONDS from the seed TIGA_FUZZ_SEED on"]
fn llvm() {
    let setting = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (seconds, seed) = (setting("TIGA_FUZZ_SECONDS", 900), setting("TIGA_FUZZ_SEED", 1));
    let folder = std::env::var_os("TIGA_FUZZ_FINDS").map_or_else(|| folder("long"), PathBuf::from);
    let found = campaign(seed, Duration::from_secs(seconds), usize::MAX, &folder);
    assert!(found.finds.is_empty(), "{:?}", found.finds);
}
