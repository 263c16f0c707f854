//! Runs in a hierarchy that hosts share, close, cancel and panic in: typed refusals, and everything is given back.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use testsuite::lit::Tools;
use tiga_abi::{DType, Tier};
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, CancelToken, Context, Hierarchy, MemoryError, Request, RuntimeError};

/// Elements of the arrays; three of them are the smallest budget.
const N: usize = 1000;
const LEAST: i64 = 24 * N as i64;

static BUNDLE: LazyLock<Bundle> = LazyLock::new(|| {
    let tools = Tools::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let folder = tools.scratch("tiers").unwrap();
    let model = format!("{}/run/budget.tg", env!("CARGO_MANIFEST_DIR"));
    tools.succeeds(&folder, "tigac", &[&model, "-o", "skips.tgb"]);
    Bundle::open(&folder.join("skips.tgb")).unwrap()
});

fn hierarchy(ram: i64) -> Arc<Hierarchy> {
    Arc::new(Hierarchy::options().budget(Tier::Ram, ram).io_workers(1).open().unwrap())
}

fn context(hierarchy: &Arc<Hierarchy>) -> Context {
    Context::new(1).unwrap().with_hierarchy(Arc::clone(hierarchy))
}

/// Runs the program, perhaps with a token, looked at by a sink after each task.
fn run(
    context: &Context,
    token: Option<&CancelToken>,
    sink: impl Fn(u64) + Send + Sync + 'static,
) -> Result<Vec<u8>, RuntimeError> {
    let (a, mut y) = (0.5f64.to_le_bytes(), vec![0u64; N]);
    let a = u64::from_le_bytes(a);
    let mut call = BUNDLE.call("skips").unwrap();
    call.input("a", ArrayRef::new(DType::F64, &[], bytemuck::bytes_of(&a)))?;
    call.dim("N", N as i64)?;
    call.output("y", ArrayMut::new(DType::F64, &[N], bytemuck::cast_slice_mut(&mut y)))?;
    if let Some(token) = token {
        call.cancelled_by(token);
    }
    call.on_progress(move |progress| sink(progress.done));
    call.run(context)?;
    drop(call);
    Ok(bytemuck::cast_slice(&y).to_vec())
}

fn plain() -> Vec<u8> {
    run(&Context::new(1).unwrap(), None, |_| {}).unwrap()
}

fn nothing_is_left(hierarchy: &Hierarchy) {
    assert_eq!((hierarchy.live_bytes(Tier::Ram), hierarchy.live_bytes(Tier::Nvme)), (0, 0));
    let files = std::fs::read_dir(hierarchy.nvme_directory()).unwrap().flatten();
    assert_eq!(files.filter(|file| file.path().extension().is_some_and(|ending| ending == "bin")).count(), 0);
}

#[test]
fn a_hierarchy_that_is_closed_in_the_middle_of_a_run_takes_no_memory_away() {
    for at in 1..20 {
        let own = hierarchy(LEAST);
        let other = Arc::clone(&own);
        let ran = run(&context(&own), None, move |done| {
            if done == at {
                // Nothing of the run is found, so nothing of it is closed.
                assert!(other.latest("%s0", None).is_err());
                let _ = other.close();
            }
        });
        match ran {
            Ok(y) => assert!(y == plain(), "closed after task {at}"),
            Err(RuntimeError::Tiers(_)) => {}
            Err(other) => panic!("closed after task {at}: {other}"),
        }
        assert_eq!((own.live_bytes(Tier::Ram), own.live_bytes(Tier::Nvme)), (0, 0), "closed after task {at}");
    }
}

#[test]
fn a_run_that_a_callback_ends_by_a_panic_or_a_token_gives_everything_back() {
    let shared = hierarchy(LEAST);
    for at in 1..15 {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            run(&context(&shared), None, move |done| assert!(done < at, "asked for"))
        }));
        assert!(panicked.is_err());
        nothing_is_left(&shared);
        let token = CancelToken::new();
        let own = token.clone();
        let cancelled = run(&context(&shared), Some(&token), move |done| {
            if done == at {
                own.cancel();
            }
        });
        assert!(matches!(cancelled, Err(RuntimeError::Cancelled)), "after task {at}");
        nothing_is_left(&shared);
    }
    assert!(run(&context(&shared), None, |_| {}).unwrap() == plain());
    nothing_is_left(&shared);
}

#[test]
fn what_others_hold_is_refused_before_anything_runs() {
    let shared = hierarchy(LEAST);
    let held = shared.allocate(&Request::new("held", 0, Tier::Ram, 8)).unwrap();
    let done = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&done);
    let count = move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let refused = run(&context(&shared), None, count).unwrap_err();
    let RuntimeError::Tiers(error) = &refused else { panic!("{refused}") };
    assert!(matches!(**error, MemoryError::Budget { tier: Tier::Ram, .. }), "{error}");
    assert_eq!((done.load(Ordering::Relaxed), shared.live_bytes(Tier::Ram)), (0, 8));
    held.close().unwrap();
    assert!(run(&context(&shared), None, |_| {}).unwrap() == plain());
    // Two runs at once have room for one of them each.
    let wide = hierarchy(2 * LEAST);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| run(&context(&wide), None, |_| {}))).collect();
        for thread in threads {
            match thread.join().unwrap() {
                Ok(y) => assert!(y == plain()),
                Err(RuntimeError::Tiers(error)) => assert!(matches!(*error, MemoryError::Budget { .. }), "{error}"),
                Err(other) => panic!("{other}"),
            }
        }
    });
    nothing_is_left(&wide);
}

#[test]
fn a_callback_of_a_transfer_runs_nothing() {
    let shared = hierarchy(LEAST + 16);
    let [a, b] = [Tier::Ram, Tier::Nvme].map(|tier| shared.allocate(&Request::new("x", 0, tier, 8)).unwrap());
    let (tell, told) = std::sync::mpsc::channel();
    let own = Arc::clone(&shared);
    shared.transfer(&a, &b).unwrap().then(move |_| {
        let ran = run(&context(&own), None, |_| {});
        tell.send(matches!(ran, Err(RuntimeError::Tiers(error)) if matches!(*error, MemoryError::InsideCallback)))
            .unwrap();
    });
    assert!(told.recv().unwrap(), "a run on a thread that moves bytes would wait for itself");
}
