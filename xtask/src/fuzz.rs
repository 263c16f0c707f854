//! `cargo xtask fuzz`: the targets of `testsuite/fuzzed` in libFuzzer, one after the other, and one table of what they did.

use crate::{setup, shell};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The folder of the package, which is a workspace of its own.
const PACKAGE: &str = "fuzz";
/// A target is named so that build scripts and macros are built without instruments.
const HOST: &str = "x86_64-unknown-linux-gnu";
/// AddressSanitizer, and the counters that libFuzzer follows: edges, comparisons, depth of the stack.
const FLAGS: &str = "-Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-stack-depth \
                     --cfg fuzzing";
/// Seconds that one input may take: of the clock, and of the processor when it is tried again.
const SECONDS: u32 = 10;
/// Megabytes that the process may hold, the fuzzer's own included; a target's own law is far below.
const PROCESS: u32 = 1024;
/// Megabytes that may be asked for at once: the largest window of Zstandard, with what its decoder puts beside it.
const AT_ONCE: u32 = 160;
/// Kilobytes of stack, as the commands give themselves: what recurses along a text has the same room as in them.
const STACK: u32 = 256 << 10;
/// Finds after which a target is left, so that the rest of its time is not spent on one bug.
const ENOUGH: usize = 5;

/// What is fuzzed.
#[derive(clap::Args)]
pub struct Options {
    /// Only the targets whose names contain this
    #[arg(value_name = "TARGET")]
    only: Option<String>,
    /// How long each target runs
    #[arg(long, value_name = "N", default_value_t = 15.0)]
    minutes: f64,
    /// Run this input once instead; its target is the one named
    #[arg(long, value_name = "FILE", requires = "only", conflicts_with = "minutes")]
    input: Option<PathBuf>,
    /// Make this input smaller instead, as long as it breaks the target named; the result is printed by its path
    #[arg(long, value_name = "FILE", requires = "only", conflicts_with_all = ["minutes", "input"])]
    minimise: Option<PathBuf>,
}

/// A target as the fuzzer lists it.
struct Target {
    name: String,
    longest: String,
}

/// What became of a target.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    seconds: u64,
    executions: u64,
    edges: u64,
    corpus: u64,
    finds: usize,
}

/// The target that is no reader: modules compiled in a child, which the testsuite has.
const LLVM: &str = "llvm";

/// Builds the fuzzer, runs the targets, prints the table; fails if one found something.
pub fn run(options: &Options) -> Result<()> {
    setup::run(setup::Need::Fuzzing)?;
    let program = build()?;
    let wanted = |target: &Target| options.only.as_ref().is_none_or(|only| target.name.contains(only.as_str()));
    let targets: Vec<Target> = list(&program)?.into_iter().filter(wanted).collect();
    let llvm = options.only.as_deref().is_none_or(|only| LLVM.contains(only));
    ensure!(llvm || !targets.is_empty(), "no target has such a name");
    if let Some(file) = options.input.as_ref().or(options.minimise.as_ref()) {
        let exact = |target: &&Target| options.only.as_ref() == Some(&target.name);
        let target = targets.iter().find(exact).context("an input is for one target: give its whole name")?;
        return one(&program, target, &std::path::absolute(file)?, options.minimise.is_some());
    }
    let time = Duration::from_secs_f64(60.0 * options.minutes);
    let mut rows = Vec::new();
    for target in &targets {
        rows.push((target.name.as_str(), fuzz(&program, target, time)?));
        println!("{}", table(&rows));
    }
    if llvm {
        rows.push((LLVM, compile(time)?));
        println!("{}", table(&rows));
    }
    match rows.iter().map(|(_, row)| row.finds).sum::<usize>() {
        0 => Ok(()),
        finds => bail!("{finds} finds in target/fuzz/*/finds: `cargo xtask fuzz TARGET --input FILE` shows one"),
    }
}

fn build() -> Result<PathBuf> {
    let folder = shell::target_dir().join("fuzz");
    let manifest = format!("{PACKAGE}/Cargo.toml");
    let arguments = ["build", "--release", "--target", HOST, "--manifest-path", &manifest, "--target-dir"];
    // The flags are not among those of a stable compiler.
    shell::run(shell::cargo(arguments).arg(&folder).env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FLAGS))?;
    Ok(folder.join(HOST).join("release/fuzz"))
}

fn list(program: &Path) -> Result<Vec<Target>> {
    let text = shell::output(&mut shell::command(program))?;
    let target = |line: &str| {
        let (name, longest) = line.split_once(' ')?;
        Some(Target { name: name.to_owned(), longest: longest.to_owned() })
    };
    Ok(text.lines().filter_map(target).collect())
}

/// The folder of a target's words, seeds, corpus, finds and log.
fn folder(target: &Target) -> PathBuf {
    shell::target_dir().join("fuzz").join(&target.name)
}

/// The fuzzer with its limits, in a shell that gives it the stack of the commands.
fn fuzzer(program: &Path, target: &Target) -> Command {
    let mut command = limited(program, target, &format!("ulimit -s {STACK}"));
    command.arg(format!("-timeout={SECONDS}"));
    command
}

/// The fuzzer with all limits but that of time, after a line that sets others.
fn limited(program: &Path, target: &Target, limits: &str) -> Command {
    let mut command = shell::command("sh");
    command.args(["-c", &format!("{limits} && exec nice -n 10 \"$0\" \"$@\"")]).arg(program);
    command.arg(format!("-rss_limit_mb={PROCESS}"));
    command.arg(format!("-malloc_limit_mb={AT_ONCE}")).arg(format!("-max_len={}", target.longest));
    let finds = folder(target).join("finds");
    command.arg(format!("-artifact_prefix={}/", finds.display()));
    // What is freed is kept for a while, to be caught when it is used: less than all of the limit.
    command.env("ASAN_OPTIONS", "quarantine_size_mb=16:detect_leaks=0").env("TIGA_FUZZ_TARGET", &target.name);
    // Files in memory, where there are some.
    let temporary = folder(target).join("tmp");
    let memory = Path::new("/dev/shm");
    command.env("TMPDIR", if memory.is_dir() { memory } else { &temporary });
    command
}

/// Runs a target for a time, and anew after each find, in what is left of it.
fn fuzz(program: &Path, target: &Target, time: Duration) -> Result<Row> {
    let folder = folder(target);
    for name in ["corpus", "finds", "tmp"] {
        fs::create_dir_all(folder.join(name)).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let mut seeds = shell::command(program);
    shell::run(seeds.env("TIGA_FUZZ_TARGET", &target.name).env("TIGA_FUZZ_SEEDS", &folder))?;
    drop_starved(program, target)?;
    let (begin, before) = (Instant::now(), count(&folder.join("finds"))?);
    let mut row = Row::default();
    loop {
        let left = time.saturating_sub(begin.elapsed()).as_secs();
        if left == 0 || row.finds >= ENOUGH {
            break;
        }
        let log = folder.join("log");
        let mut command = fuzzer(program, target);
        command.arg(format!("-max_total_time={left}")).arg("-print_final_stats=1");
        command.arg(format!("-dict={}", folder.join("words").display()));
        command.arg(folder.join("corpus")).arg(folder.join("seeds"));
        eprintln!("$ fuzz {}: {left} s, log in {}", target.name, log.display());
        let output = fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdout(Stdio::null()).stderr(output).status().context("the fuzzer did not start")?;
        let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let (executions, edges) = counts(&text);
        ensure!(executions > 0, "{} did nothing, says {}", target.name, log.display());
        drop_starved(program, target)?;
        row.executions += executions;
        row.edges = row.edges.max(edges);
        row.finds = count(&folder.join("finds"))?.saturating_sub(before);
        fs::copy(&log, folder.join(format!("log-{}", row.finds)))?;
    }
    row.seconds = begin.elapsed().as_secs();
    row.corpus = count(&folder.join("corpus"))? as u64;
    Ok(row)
}

/// Deletes the finds that were slow by the clock alone, as an input is while others have the processors.
fn drop_starved(program: &Path, target: &Target) -> Result<()> {
    let finds = folder(target).join("finds");
    for entry in fs::read_dir(&finds).with_context(|| format!("cannot read {}", finds.display()))? {
        let file = entry?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if ["timeout-", "slow-unit-"].iter().any(|slow| name.starts_with(slow)) && quick(program, target, &file)? {
            eprintln!("starved, not slow: {name}");
            fs::remove_file(&file).with_context(|| format!("cannot delete {}", file.display()))?;
        }
    }
    Ok(())
}

/// Whether an input passes within its seconds of processor time.
fn quick(program: &Path, target: &Target, file: &Path) -> Result<bool> {
    let mut command = limited(program, target, &format!("ulimit -s {STACK} && ulimit -t {SECONDS}"));
    // What waits takes no time of the processor.
    command.arg(format!("-timeout={}", 20 * SECONDS)).arg(file).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status().context("the fuzzer did not start")?.success())
}

/// Compiles modules in a child for a time.
fn compile(time: Duration) -> Result<Row> {
    let folder = shell::target_dir().join("fuzz").join(LLVM);
    fs::create_dir_all(folder.join("finds")).with_context(|| format!("cannot create {}", folder.display()))?;
    let arguments = ["test", "--workspace", "--test", "llvm_child", "--", "--ignored", "--exact", LLVM, "--nocapture"];
    let mut command = shell::cargo(arguments);
    command.env("TIGA_FUZZ_SECONDS", time.as_secs().to_string()).env("TIGA_FUZZ_FINDS", folder.join("finds"));
    eprintln!("$ {}", shell::shown(&command));
    // A find fails the test as well: it stands in the table.
    let output = command.stderr(Stdio::inherit()).output().context("the test did not start")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    fs::write(folder.join("log"), &text)?;
    compiled(&text).context("the test says nothing of what it did")
}

/// The row of the test's last line: `llvm: 60 s, 1200 modules tried, {"compiled": 300}, 0 finds`.
fn compiled(text: &str) -> Option<Row> {
    let line = text.lines().find_map(|line| line.strip_prefix("llvm: "))?;
    let number = |word: &str| word.split_whitespace().next()?.parse().ok();
    let parts: Vec<&str> = line.split(", ").collect();
    let (seconds, executions) = (number(parts.first()?)?, number(parts.get(1)?)?);
    let corpus = line.split_once("\"compiled\": ")?.1.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    let finds = number(parts.last()?)? as usize;
    Some(Row { seconds, executions, edges: 0, corpus, finds })
}

/// Runs one input, or makes it smaller.
fn one(program: &Path, target: &Target, file: &Path, smaller: bool) -> Result<()> {
    let finds = folder(target).join("finds");
    fs::create_dir_all(&finds).with_context(|| format!("cannot create {}", finds.display()))?;
    let mut command = fuzzer(program, target);
    if smaller {
        let out = finds.join("smaller");
        command
            .args(["-minimize_crash=1", "-max_total_time=60"])
            .arg(format!("-exact_artifact_path={}", out.display()));
        println!("{}", out.display());
    }
    shell::run(command.arg(file))
}

fn count(folder: &Path) -> Result<usize> {
    Ok(fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?.count())
}

/// Executions and covered edges, as the fuzzer's log has them last: `#81920 REDUCE cov: 1042 ft: 2011 …`.
fn counts(log: &str) -> (u64, u64) {
    let mut last = (0, 0);
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: Option<&&str>| word.and_then(|word| word.parse::<u64>().ok());
        let executions = words.first().and_then(|word| word.strip_prefix('#')?.parse::<u64>().ok());
        if let Some(executions) = executions {
            last.0 = executions;
        }
        if let Some(units) = line.strip_prefix("stat::number_of_executed_units:") {
            last.0 = units.trim().parse().unwrap_or(last.0);
        }
        if let Some(at) = words.iter().position(|word| *word == "cov:") {
            last.1 = number(words.get(at + 1)).unwrap_or(last.1);
        }
    }
    last
}

fn table(rows: &[(&str, Row)]) -> String {
    let mut out = format!(
        "{:<14} {:>8} {:>12} {:>8} {:>7} {:>7} {:>6}",
        "target", "seconds", "executions", "/s", "edges", "corpus", "finds"
    );
    for (name, row) in rows {
        let Row { seconds, executions, edges, corpus, finds } = row;
        let speed = executions / seconds.max(&1);
        out.push_str(&format!(
            "\n{name:<14} {seconds:>8} {executions:>12} {speed:>8} {edges:>7} {corpus:>7} {finds:>6}"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_last_lines() {
        let log = "INFO: seed corpus: files: 92\n#93\tINITED cov: 4031 ft: 9012 corp: 80/60Kb exec/s: 0 rss: 80Mb\n\
                   #4096\tpulse  cov: 4100 ft: 9300 corp: 99/62Kb\nstat::number_of_executed_units: 5000\n";
        assert_eq!(counts(log), (5000, 4100));
        assert_eq!(counts("==1== ERROR: no such file\n"), (0, 0));
    }

    #[test]
    fn the_row_of_modules_is_that_of_the_tests_last_line() {
        let text = "running 1 test\nllvm: 60 s, 1200 modules tried, {\"Malformed\": 2, \"compiled\": 300}, 1 finds\n";
        let row = Row { seconds: 60, executions: 1200, edges: 0, corpus: 300, finds: 1 };
        assert_eq!(compiled(text), Some(row));
    }

    #[test]
    fn the_table_has_a_row_a_target() {
        let row = Row { seconds: 10, executions: 12345, edges: 67, corpus: 8, finds: 0 };
        let text = table(&[("npy", row)]);
        assert_eq!(text.lines().nth(1), Some("npy                  10        12345     1234      67       8      0"));
    }
}
