//! How long plans of 10,000 and 100,000 invocations take to be read, bound and checked, and how much memory.
//!
//! `cargo run --release -p tiga-plan --example scale` fails where binding ten times as many takes more than 13 times as
//! long, or all of it more than 300 MB.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tiga_plan::bind::bind;
use tiga_plan::document::Document;
use tiga_plan::strict;

/// Ten times as many invocations may take so many times as long.
const RATIO: f64 = 13.0;
/// Megabytes of the process.
const PEAK: u64 = 300;
/// Of so many measurements the least counts.
const ROUNDS: usize = 5;

/// A forward pass, then a backward pass that reads what the forward pass wrote, the last first, and releases it: what
/// conflicts is as far apart as it can be.
fn text(count: usize) -> String {
    let half = count / 3;
    let mut out = String::from(r#"{"schema":"tiga.executable-bundle-plan.v1","resources":["#);
    for i in 0..half {
        let comma = if i == 0 { "" } else { "," };
        write_to(
            &mut out,
            format_args!(
                r#"{comma}{{"name":"h{i}@ram:host:0","memory_space":"ram","layout":"contiguous","device":"host:0",
            "capacity_bytes":64,"snapshot_version":0,"external":false}}"#
            ),
        );
    }
    out.push_str(r#"],"invocations":["#);
    let mut task = |name: &str, kind: [&str; 2], waits: &str, parameter: &str, resource: usize, mode: &str| {
        let comma = if out.ends_with('[') { "" } else { "," };
        let [kind, symbol] = kind;
        write_to(
            &mut out,
            format_args!(
                r#"{comma}{{"name":"{name}","task_kind":"{kind}","phase":"execute","executable_symbol":"{symbol}",
            "depends_on":[{waits}],"snapshot_version":0,
            "arguments":[{{"parameter":"{parameter}","resource":"h{resource}@ram:host:0"}}],
            "accesses":[{{"binding":"h{resource}@ram:host:0","mode":"{mode}","snapshot_version":0}}]}}"#
            ),
        );
    };
    for i in 0..half {
        let waits = if i == 0 { String::new() } else { format!("\"f{}\"", i - 1) };
        task(&format!("f{i}"), ["local", "k.f"], &waits, "h", i, "write");
    }
    for i in 0..half {
        let waits = if i == 0 { format!("\"f{}\"", half - 1) } else { format!("\"b{}\"", i - 1) };
        task(&format!("b{i}"), ["local", "k.b"], &waits, "h", half - 1 - i, "read");
    }
    for i in 0..half {
        task(
            &format!("r{i}"),
            ["release", "__gf_release"],
            &format!("\"b{i}\""),
            "instance",
            half - 1 - i,
            "read_write",
        );
    }
    let terminals: Vec<String> = (0..half).map(|i| format!("\"r{i}\"")).collect();
    write_to(&mut out, format_args!(r#"],"terminals":[{}]}}"#, terminals.join(",")));
    out
}

fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes all that is written");
}

/// The least times of reading, binding, checking.
fn measure(text: &str) -> [Duration; 3] {
    let mut least = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let document = Document::parse(text.as_bytes()).expect("the plan is a document");
        let read = start.elapsed();
        let start = Instant::now();
        bind(&document, &mut |_| Ok(Some(()))).expect("the plan may run");
        let bound = start.elapsed();
        let start = Instant::now();
        assert!(strict::check(&document).is_empty(), "the plan has no findings");
        for (least, now) in least.iter_mut().zip([read, bound, start.elapsed()]) {
            *least = (*least).min(now);
        }
    }
    least
}

/// The most megabytes that this process held.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}

fn main() -> ExitCode {
    let mut all = Vec::new();
    println!("{:>12} {:>10} {:>10} {:>10} {:>10}", "invocations", "read ms", "bind ms", "check ms", "peak MB");
    for count in [10_000, 100_000] {
        let times = measure(&text(count)).map(|time| time.as_secs_f64() * 1e3);
        println!(
            "{count:>12} {:>10.1} {:>10.1} {:>10.1} {:>10}",
            times[0],
            times[1],
            times[2],
            peak().map_or_else(|| "?".into(), |peak| peak.to_string())
        );
        all.push(times);
    }
    let ratios: Vec<f64> = (0..3).map(|step| all[1][step] / all[0][step]).collect();
    println!("{:>12} {:>10.1} {:>10.1} {:>10.1}", "ratio", ratios[0], ratios[1], ratios[2]);
    let good = ratios[1] <= RATIO && peak().is_none_or(|peak| peak <= PEAK);
    if good {
        return ExitCode::SUCCESS;
    }
    println!("MISSED: binding ten times as many takes at most {RATIO} times as long, all of it {PEAK} MB");
    ExitCode::FAILURE
}
