//! A U-Net of graph convolutions on Cora where memory is short: the same bits, within every budget down to the smallest.

#![allow(
    clippy::unwrap_used,
    unsafe_code,
    reason = "a failure here is a failed test; results are looked at between runs"
)]

use std::path::Path;
use std::sync::{Arc, LazyLock};
use testsuite::lit::Tools;
use tiga_abi::{DType, Tier};
use tiga_formats::{Array, Conversion, GraphSource, Limits, open_array};
use tiga_runtime::{
    ArrayMut, ArrayRef, Bundle, Call, Context, Graph, Hierarchy, MemoryUse, RuntimeError, TaskOrder, TierUse,
};

const LIMITS: Limits = Limits { memory: 256 << 20 };

/// Features of the layers between the first and the last.
const WIDTH: usize = 16;

static TOOLS: LazyLock<Tools> = LazyLock::new(|| {
    Tools::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
});

/// The program with its inputs.
struct Unet {
    bundle: Bundle,
    graph: Graph,
    inputs: Vec<(String, Array)>,
}

/// What a run gave and used, or the budget that is too small.
type Outcome = Result<(Vec<u8>, MemoryUse), RuntimeError>;

impl Unet {
    fn new(data: &Path) -> Self {
        let folder = TOOLS.scratch("unet-cora").unwrap();
        let model = format!("{}/../examples/unet_gcn.tg", env!("CARGO_MANIFEST_DIR"));
        TOOLS.succeeds(&folder, "tigac", &[&model, "-o", "unet.tgb"]);
        let bundle = Bundle::open(&folder.join("unet.tgb")).unwrap();
        let file = |name: &str| data.join("cora").join(name).display().to_string();
        let graph: GraphSource = file("adj.mtx").parse().unwrap();
        let graph = Graph::new(&graph.open(&LIMITS).unwrap().csr).unwrap();
        let features = open_array(&file("features.npy"), &LIMITS).unwrap();
        let mut inputs = vec![("x".to_owned(), features.convert(DType::F32, Conversion::Widening).unwrap())];
        let mut random = fastrand::Rng::with_seed(7);
        for layer in 0..8 {
            let (first, last) = (if layer == 0 { 1433 } else { WIDTH }, if layer == 0 { 7 } else { WIDTH });
            for (name, rows, columns) in [("w", first, WIDTH), ("u", WIDTH, last)] {
                let mut weights = Array::zeroed(DType::F32, vec![rows, columns]).unwrap();
                let scale = (6.0 / rows as f32).sqrt();
                for four in weights.as_bytes_mut().chunks_mut(4) {
                    four.copy_from_slice(&((random.f32() * 2.0 - 1.0) * scale).to_le_bytes());
                }
                inputs.push((format!("{name}{layer}"), weights));
            }
        }
        Self { bundle, graph, inputs }
    }

    fn call(&self) -> Call<'_> {
        let mut call = self.bundle.call("unet_gcn").unwrap();
        call.graph("g", &self.graph).unwrap();
        for (name, array) in &self.inputs {
            call.input(name, ArrayRef::new(DType::F32, array.shape(), array.as_bytes())).unwrap();
        }
        call
    }

    /// Runs without memory in tiers.
    fn plain(&self) -> Vec<u8> {
        let mut logits = Array::zeroed(DType::F32, vec![2708, 7]).unwrap();
        let mut call: Call<'_> = self.call();
        call.output("logits", ArrayMut::new(DType::F32, &[2708, 7], logits.as_bytes_mut())).unwrap();
        call.run(&Context::new(2).unwrap()).unwrap();
        drop(call);
        logits.as_bytes().to_vec()
    }

    /// Runs within a budget in several orders; nothing is left of it.
    fn within(&self, ram: Option<u64>, orders: &[TaskOrder]) -> Vec<Outcome> {
        let options = Hierarchy::options();
        let options = match ram {
            Some(ram) => options.budget(Tier::Ram, i64::try_from(ram).unwrap()),
            None => options,
        };
        let hierarchy = Arc::new(options.open().unwrap());
        let mut logits = Array::zeroed(DType::F32, vec![2708, 7]).unwrap();
        let address = logits.as_bytes_mut().as_mut_ptr();
        let mut call: Call<'_> = self.call();
        call.output("logits", ArrayMut::new(DType::F32, &[2708, 7], logits.as_bytes_mut())).unwrap();
        let mut outcomes = Vec::new();
        for order in orders {
            let context = Context::new(2).unwrap().with_hierarchy(Arc::clone(&hierarchy)).with_task_order(*order);
            let outcome = call.run(&context).map(|()| call.memory_use().cloned().unwrap());
            assert_eq!((hierarchy.live_bytes(Tier::Ram), hierarchy.live_bytes(Tier::Nvme)), (0, 0));
            let files = std::fs::read_dir(hierarchy.nvme_directory()).unwrap().flatten();
            assert_eq!(files.filter(is_instance).count(), 0);
            // SAFETY: the array lives, and nothing writes it between two runs.
            let bytes = unsafe { std::slice::from_raw_parts(address, 2708 * 7 * 4) };
            outcomes.push(outcome.map(|used| (bytes.to_vec(), used)));
        }
        outcomes
    }

    fn once(&self, ram: Option<u64>, order: TaskOrder) -> Outcome {
        self.within(ram, &[order]).pop().unwrap()
    }
}

fn is_instance(entry: &std::fs::DirEntry) -> bool {
    entry.path().extension().is_some_and(|ending| ending == "bin")
}

fn ram(used: &MemoryUse) -> TierUse {
    used.tiers[&Tier::Ram]
}

#[test]
fn a_unet_on_cora_runs_within_every_budget_down_to_the_smallest() {
    let Some(data) = TOOLS.data_for("a U-Net on cora within budgets") else { return };
    let unet = Unet::new(data);
    let expected = unet.plain();
    let (plain, all) = unet.once(None, TaskOrder::Serial).unwrap();
    assert_eq!(plain, expected);
    assert_eq!((ram(&all).peak, all.written), (ram(&all).predicted, 0));
    let Err(RuntimeError::Budget(small)) = unet.once(Some(1), TaskOrder::Free) else { panic!("one byte is enough") };
    let least = small.smallest.unwrap();
    println!("release only: {} B; {small}", ram(&all).peak);
    assert!(least * 100 <= ram(&all).peak * 55, "{least} B of {} B", ram(&all).peak);
    assert_eq!(small.pinned.iter().map(|(_, bytes)| bytes).sum::<u64>(), least);
    assert!(
        matches!(unet.once(Some(least - 1), TaskOrder::Free), Err(RuntimeError::Budget(s)) if s.smallest == Some(least))
    );
    let mut spilled = 0;
    for budget in [least, least * 5 / 4, least * 2] {
        let mut orders = vec![TaskOrder::Serial, TaskOrder::Free];
        orders.extend((0..100).map(TaskOrder::Shuffled));
        let mut peaks = Vec::new();
        for (order, outcome) in orders.iter().zip(unet.within(Some(budget), &orders)) {
            let (logits, used) = outcome.unwrap();
            assert!(logits == expected, "other bits at {budget} B, {order:?}");
            let TierUse { peak, predicted, budget: allowed } = ram(&used);
            assert!(peak <= predicted && predicted <= budget && allowed == Some(budget), "{order:?}: {used:?}");
            assert!(*order != TaskOrder::Serial || peak == predicted, "{used:?}");
            assert_eq!(used.written, used.read, "each value that leaves comes back once");
            peaks.push((peak, used.written));
            spilled += usize::from(used.written > 0);
        }
        let (most, moved) = (peaks.iter().map(|p| p.0).max().unwrap(), peaks[0].1);
        println!("ram={budget}B: {most} B at most in 102 orders, {moved} B written and read");
    }
    assert!(spilled >= 204, "{spilled} runs moved bytes");
    // Inputs, the result and the graph are the caller's.
    let own: usize = unet.inputs.iter().map(|(_, array)| array.as_bytes().len()).sum::<usize>() + expected.len();
    assert!(all.borrowed > own as u64 && all.borrowed < own as u64 + (1 << 20), "{} B borrowed", all.borrowed);
}
