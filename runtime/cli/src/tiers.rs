//! Memory in tiers on the command line: budgets, where files go, what was used.

use anyhow::{Result, bail};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use tiga_abi::{Budget, Bytes, Tier};
use tiga_runtime::{Context, Hierarchy, MemoryUse, TaskOrder};

#[derive(Args)]
pub(crate) struct Tiers {
    /// Bytes that the program's own values may use: in main memory, and in files that they are moved to when it is
    /// full. Inputs, results and graphs are the caller's and do not count. Units are B, KiB, MiB, GiB, TiB.
    #[arg(long, value_name = "ram=N[,nvme=N]")]
    budget: Option<Budget>,
    /// The folder for those files; a private one in it is removed at the end. The system's for temporary files if left
    /// out.
    #[arg(long, value_name = "DIR")]
    spill_dir: Option<PathBuf>,
    /// Runs one task after the other, and nothing beside a transfer.
    #[arg(long)]
    serial_plan: bool,
}

impl Tiers {
    /// The context with memory in tiers, if any of it is asked for.
    pub(crate) fn context(&self, context: Context) -> Result<Context> {
        if self.budget.is_none() && self.spill_dir.is_none() && !self.serial_plan {
            return Ok(context);
        }
        let mut options = Hierarchy::options();
        for (tier, bytes) in self.budget.iter().flat_map(Budget::limits) {
            if !matches!(tier, Tier::Ram | Tier::Nvme) {
                bail!("--budget: programs here use no {tier} memory; there are budgets for ram and nvme");
            }
            options = options.budget(tier, i64::try_from(bytes).unwrap_or(i64::MAX));
        }
        if let Some(folder) = &self.spill_dir {
            options = options.private_below(folder);
        }
        let order = if self.serial_plan { TaskOrder::Serial } else { TaskOrder::Free };
        Ok(context.with_hierarchy(Arc::new(options.open()?)).with_task_order(order))
    }
}

/// Says what a run used.
pub(crate) fn describe(out: &mut dyn Write, used: &MemoryUse, context: &Context) -> Result<()> {
    for (tier, used) in &used.tiers {
        let (peak, predicted) = (Bytes(used.peak), Bytes(used.predicted));
        let budget = used.budget.map_or_else(|| "no budget".to_owned(), |bytes| format!("budget {}", Bytes(bytes)));
        writeln!(out, "memory {tier}: {peak} at most, {predicted} planned, {budget}")?;
    }
    let (derived, borrowed) = (Bytes(used.derived), Bytes(used.borrowed));
    writeln!(
        out,
        "memory {}: {derived} of it derived of graphs; {borrowed} of inputs, results and graphs aside",
        Tier::Ram
    )?;
    let (written, read) = (Bytes(used.written), Bytes(used.read));
    let storage = context.hierarchy().map_or_else(String::new, |hierarchy| format!(", {}", hierarchy.storage()));
    writeln!(out, "memory {}: {written} written, {read} read{storage}", Tier::Nvme)?;
    Ok(())
}
