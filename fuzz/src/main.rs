//! The targets of `fuzzed` in libFuzzer: `TIGA_FUZZ_TARGET` says which, `TIGA_FUZZ_SEEDS` that its seeds are to be written.
#![no_main]

use fuzzed::{Repository, TARGETS, Target};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use std::{env, fs, path::Path, process};

/// Counts what a target holds of memory.
#[global_allocator]
static METER: fuzzed::meter::Meter = fuzzed::meter::Meter;

static TARGET: OnceLock<&Target> = OnceLock::new();

/// Finds the target; without one, prints their names. Writes the seeds and the words, and ends, if that is asked for.
fn begin() {
    let Ok(name) = env::var("TIGA_FUZZ_TARGET") else {
        TARGETS.iter().for_each(|target| println!("{} {}", target.name, target.longest));
        process::exit(0);
    };
    let target = Target::named(&name).expect("`cargo xtask fuzz` asks for targets that there are");
    if let Some(folder) = env::var_os("TIGA_FUZZ_SEEDS") {
        write(target, Path::new(&folder)).expect("the folder of the seeds can be written");
        process::exit(0);
    }
    TARGET.get_or_init(|| target);
}

/// `words` in the form of libFuzzer, and a file for each seed.
fn write(target: &Target, folder: &Path) -> std::io::Result<()> {
    let byte = |byte: u8| match byte {
        b' ' | b'!' | b'#'..=b'[' | b']'..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    // A char stands for one byte, so that words can hold any.
    let word = |word: &str| format!("\"{}\"\n", word.chars().map(|c| byte(c as u8)).collect::<String>());
    fs::write(folder.join("words"), target.words.iter().map(|one| word(one)).collect::<String>())?;
    let seeds = folder.join("seeds");
    fs::create_dir_all(&seeds)?;
    for (number, seed) in (target.seeds)(&Repository::here()).iter().enumerate() {
        fs::write(seeds.join(format!("{number:04}")), seed)?;
    }
    Ok(())
}

fuzz_target!(init: begin(), |bytes: &[u8]| {
    TARGET.get().expect("libFuzzer begins with `begin`").judge(bytes);
});
