//! The same programs where memory is short: values leave it and come back, and no bit changes.

use crate::generator::Inputs;
use crate::road::{Road, difference};
use anyhow::{Context as _, Result, ensure};
use std::ops::AddAssign;
use std::sync::Arc;
use tiga_abi::Tier;
use tiga_ir::interp::Tensor;
use tiga_ir::{Func, ops};
use tiga_runtime::{Context, Hierarchy, MemoryUse, RuntimeError, TaskOrder};

/// What was run within budgets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tiered {
    /// Runs.
    pub runs: usize,
    /// Those of them in which bytes left main memory.
    pub spilled: usize,
    /// Bytes written to files.
    pub written: u64,
}

impl AddAssign for Tiered {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.spilled += other.spilled;
        self.written += other.written;
    }
}

/// Runs a program at the smallest budget, in the middle, and where nothing has to move, in three orders of its tasks.
///
/// # Errors
/// Another result; more memory than was planned; a smallest budget that is not the smallest; something left behind.
pub(super) fn tiered(road: &Road, program: &str, inputs: &Inputs, expected: &[Tensor], seed: u64) -> Result<Tiered> {
    let mut tiered = Tiered::default();
    let straight = is_straight(&road.loops.funcs[program]);
    let dims = [("F", inputs.features as i64)];
    let mut run = |ram: Option<u64>, order: TaskOrder| -> Result<Outcome> {
        let mut options = Hierarchy::options();
        if let Some(ram) = ram {
            options = options.budget(Tier::Ram, i64::try_from(ram)?);
        }
        let hierarchy = Arc::new(options.open()?);
        let context = Context::new(2)?.with_hierarchy(Arc::clone(&hierarchy)).with_task_order(order);
        let ran = road.run_in_tiers(program, &inputs.values, &dims, &context);
        ensure!(hierarchy.live_bytes(Tier::Ram) == 0 && hierarchy.live_bytes(Tier::Nvme) == 0, "bytes are left");
        let (results, used) = match ran {
            Ok(ran) => ran,
            Err(error) => match error.downcast::<RuntimeError>()? {
                RuntimeError::Budget(small) => {
                    return Ok(Outcome::Small(small.smallest.context("no budget is enough")?));
                }
                other => return Err(other.into()),
            },
        };
        check(&results, expected, &used, (ram, order, straight))?;
        tiered.runs += 1;
        tiered.spilled += usize::from(used.written > 0);
        tiered.written += used.written;
        Ok(Outcome::Ran(used.tiers.get(&Tier::Ram).map_or(0, |ram| ram.predicted)))
    };
    let Outcome::Ran(all) = run(None, TaskOrder::Serial)? else { anyhow::bail!("refused without a budget") };
    let least = match run(Some(0), TaskOrder::Serial)? {
        Outcome::Ran(_) => return Ok(tiered),
        Outcome::Small(least) => least,
    };
    ensure!(matches!(run(Some(least - 1), TaskOrder::Free)?, Outcome::Small(again) if again == least), "one byte less");
    // Every program has another order at the smallest budget.
    let mut orders = [TaskOrder::Serial, TaskOrder::Shuffled(seed), TaskOrder::Free];
    orders.rotate_left((seed % 3) as usize);
    for (ram, order) in [least, least + all.saturating_sub(least) / 2, all.max(least)].into_iter().zip(orders) {
        let fits = run(Some(ram), order).with_context(|| format!("ram={ram}B, {order:?}"))?;
        ensure!(matches!(fits, Outcome::Ran(_)), "{least} bytes are enough, {ram} are not");
    }
    Ok(tiered)
}

/// Whether a host function has neither loops nor branches.
fn is_straight(host: &Func) -> bool {
    let ops = host.body.walk(host.region).into_iter().map(|inst| host.body.inst(inst).op);
    ops.into_iter().all(|op| ![ops::WHILE, ops::REPEAT, ops::IF].contains(&op))
}

enum Outcome {
    /// It needs at least so many bytes.
    Small(u64),
    /// So many were planned.
    Ran(u64),
}

/// A run in one order uses just what is planned for it, unless it is not known which body runs, or how often.
fn check(
    got: &[Tensor],
    expected: &[Tensor],
    used: &MemoryUse,
    (ram, order, straight): (Option<u64>, TaskOrder, bool),
) -> Result<()> {
    ensure!(got.len() == expected.len(), "{} results", got.len());
    for (got, expected) in got.iter().zip(expected) {
        if let Some(found) = difference(got, expected) {
            anyhow::bail!("a result differs: {found}");
        }
    }
    for (tier, tier_use) in &used.tiers {
        let (peak, predicted) = (tier_use.peak, tier_use.predicted);
        ensure!(peak <= predicted, "{tier}: {peak} bytes live, {predicted} planned");
        ensure!(tier_use.budget.is_none_or(|budget| predicted <= budget), "{tier}: {predicted} planned: {used:?}");
        let alike = order != TaskOrder::Serial || !straight || peak == predicted;
        ensure!(alike, "{tier}: {peak} bytes live, exactly {predicted} planned");
    }
    ensure!(used.tiers.get(&Tier::Ram).and_then(|tier| tier.budget) == ram, "another budget");
    Ok(())
}
