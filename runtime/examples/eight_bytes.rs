//! Eight bytes go to a file and come back within 16 bytes of main memory and 8 bytes of files; a ninth is refused.

use std::io::Write;
use tiga_runtime::{Hierarchy, MemoryError, Request, Tier};

/// Prints a row: the step, and what is live after it.
fn row(out: &mut impl Write, step: &str, memory: &Hierarchy) -> std::io::Result<()> {
    let live = |tier| memory.live_bytes(tier);
    let (ram, nvme, peak) = (live(Tier::Ram), live(Tier::Nvme), memory.peak_bytes(Tier::Ram));
    writeln!(out, "{step:<25} | {ram:>8} | {nvme:>9} | {peak:>8}")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = &mut std::io::stdout().lock();
    writeln!(out, "{:<25} | live ram | live nvme | peak ram", "step")?;
    let memory = Hierarchy::options().budget(Tier::Ram, 16).budget(Tier::Nvme, 8).open()?;
    let state = |tier| memory.allocate(&Request::new("state", 7, tier, 8));

    let hot = state(Tier::Ram)?;
    hot.write(0, b"tiga1234")?;
    row(out, "allocate hot, write", &memory)?;

    let cold = state(Tier::Nvme)?;
    row(out, "allocate cold", &memory)?;

    memory.transfer(&hot, &cold)?.wait()?;
    row(out, "transfer hot to cold", &memory)?;

    hot.close()?;
    row(out, "close hot", &memory)?;
    assert_eq!(memory.latest("state", None)?.tier(), Tier::Nvme);

    let back = state(Tier::Ram)?;
    row(out, "allocate back", &memory)?;

    memory.transfer(&cold, &back)?.wait()?;
    let mut bytes = [0; 8];
    back.read(0, &mut bytes)?;
    row(out, "transfer cold to back", &memory)?;

    let refused: Result<_, MemoryError> = memory.allocate(&Request::new("state", 8, Tier::Nvme, 1));
    memory.close()?;
    row(out, "close all", &memory)?;
    writeln!(out, "read back: {}", String::from_utf8_lossy(&bytes))?;
    match refused {
        Ok(_) => writeln!(out, "a ninth byte was given")?,
        Err(error) => writeln!(out, "a ninth byte: {error}")?,
    }
    Ok(())
}
