//! What a host asks of the library: stopping a run, its own thread, its own memory, reports, several contexts at once.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(unsafe_code, reason = "an allocator as a host writes it")]

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testsuite::models::{WALK, compiled};
use testsuite::road::Road;
use tiga_abi::{DType, FpMode};
use tiga_bundle::Contents;
use tiga_formats::{Csr, Indices};
use tiga_runtime::{
    Allocator, ArrayMut, ArrayRef, Bundle, Call, CancelToken, Context, Graph, LogLevel, Progress, RuntimeError, Span,
    Work,
};

/// A ring of nodes, each with an edge to the next.
struct Ring {
    road: Road,
    graph: Graph,
    ranks: Vec<u8>,
}

impl Ring {
    fn new(nodes: i32) -> Self {
        let col = Indices::I32((0..nodes).map(|i| (i + 1) % nodes).collect());
        let csr = Csr::from_csr((0..=i64::from(nodes)).collect(), col, None).unwrap();
        let ranks = (0..nodes).flat_map(|i| f64::from(i).to_le_bytes()).collect();
        Self { road: compiled(WALK, FpMode::Default, false).unwrap(), graph: Graph::new(&csr).unwrap(), ranks }
    }

    /// Walks on a context, with what `with` adds to the call.
    fn walk(&self, steps: i64, context: &Context, with: impl FnOnce(&mut Call<'_>)) -> Result<Vec<f64>, RuntimeError> {
        let (nodes, steps) = (self.ranks.len() / 8, steps.to_le_bytes());
        let mut out = vec![0u8; self.ranks.len()];
        let mut call = self.road.bundle.call("walk")?;
        call.graph("g", &self.graph)?;
        call.input("r", ArrayRef::new(DType::F64, &[nodes], &self.ranks))?;
        call.input("steps", ArrayRef::new(DType::I64, &[], &steps))?;
        call.output("out", ArrayMut::new(DType::F64, &[nodes], &mut out))?;
        with(&mut call);
        call.run(context)?;
        Ok(out.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect())
    }

    /// What a walk gives: each step takes the rank of the next node.
    fn expected(&self, steps: i64) -> Vec<f64> {
        let nodes = self.ranks.len() as i64 / 8;
        (0..nodes).map(|i| ((i + steps) % nodes) as f64).collect()
    }
}

#[test]
fn a_loop_without_end_is_cancelled_from_another_thread() {
    let ring = Ring::new(5000);
    for context in [Context::new(2).unwrap(), Context::on_caller()] {
        let token = CancelToken::new();
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                token.cancel();
            });
            ring.walk(i64::MAX, &context, |call| _ = call.cancelled_by(&token))
        });
        assert!(matches!(result, Err(RuntimeError::Cancelled)), "{result:?}");
        let again = ring.walk(3, &context, |call| _ = call.cancelled_by(&CancelToken::new()));
        assert_eq!(again.unwrap(), ring.expected(3), "the context is as good as before");
    }
}

#[test]
fn a_kernel_looks_at_the_token_itself() {
    let ring = Ring::new(3000);
    let token = CancelToken::new();
    let (asks, kernels) = (token.clone(), Arc::new(AtomicUsize::new(0)));
    let begun = kernels.clone();
    let context = Context::new(2).unwrap().with_log(LogLevel::Debug, move |_, line| {
        if line.starts_with("kernel ") {
            begun.fetch_add(1, Ordering::Relaxed);
            asks.cancel();
        }
    });
    let result = ring.walk(1, &context, |call| _ = call.cancelled_by(&token));
    assert!(matches!(result, Err(RuntimeError::Cancelled)), "{result:?}");
    assert_eq!(kernels.load(Ordering::Relaxed), 1, "no second kernel began");
}

#[test]
fn a_cancelled_transpose_is_made_by_the_next_run() {
    let ring = Ring::new(100);
    let (context, token) = (Context::on_caller(), CancelToken::new());
    token.cancel();
    let result = ring.walk(1, &context, |call| _ = call.cancelled_by(&token));
    assert!(matches!(result, Err(RuntimeError::Cancelled)), "{result:?}");
    assert_eq!(ring.walk(1, &context, |_| ()).unwrap(), ring.expected(1));
}

#[test]
fn reports_come_on_the_calling_thread_in_order() {
    let ring = Ring::new(10);
    let here = std::thread::current().id();
    let (lines, steps) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (log, progress) = (lines.clone(), steps.clone());
    let context = Context::new(2).unwrap().with_log(LogLevel::Info, move |level, line| {
        assert_eq!((level, std::thread::current().id()), (LogLevel::Info, here));
        log.lock().unwrap().push(line.to_owned());
    });
    let report = move |p: &Progress<'_>| {
        assert_eq!(std::thread::current().id(), here);
        progress.lock().unwrap().push((p.done, p.at_most));
    };
    ring.walk(4, &context, |call| _ = call.on_progress(report)).unwrap();
    let lines = lines.lock().unwrap();
    let [begin, end] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(begin.starts_with("`walk` with N = 10, ") && begin.contains(" on 2 threads, "), "{begin}");
    assert!(end.starts_with("`walk` is done after "), "{end}");
    let steps = steps.lock().unwrap();
    assert!(steps.len() > 4 && steps.iter().zip(1..).all(|((done, _), n)| *done == n), "{steps:?}");
    assert!(steps.iter().all(|(_, at_most)| at_most.is_none()), "its number of rounds is an input");
}

#[test]
fn tasks_are_at_most_those_of_the_longer_branch() {
    let text = "
message next(src: {r: f64}) -> f64 { edge { src.r } reduce sum }
program walk(g: graph<N>, r: f64[N], steps: i64) -> (out: f64[N]) {
    if steps > 1 { next(g, src: {r: next(g, src: {r: next(g, src: {r})})}) } else { r }
}
";
    let ring = Ring { road: compiled(text, FpMode::Default, false).unwrap(), ..Ring::new(10) };
    let tasks = [0, 2].map(|steps| {
        let last = Arc::new(Mutex::new((0, None)));
        let told = last.clone();
        let report = move |p: &Progress<'_>| *told.lock().unwrap() = (p.done, p.at_most);
        ring.walk(steps, &Context::on_caller(), |call| _ = call.on_progress(report)).unwrap();
        *last.lock().unwrap()
    });
    let [(fewer, bound), (most, same)] = tasks;
    assert!(bound == same && fewer < most && bound == Some(most), "{tasks:?}");
}

/// The units of a kernel's launch, and of the chunks that have run of it so far.
type Units = Arc<Mutex<Vec<(i64, i64)>>>;

#[test]
fn spans_come_from_the_threads_that_work_and_change_nothing() {
    let ring = Ring::new(9000);
    let plain = ring.walk(3, &Context::new(3).unwrap(), |_| ()).unwrap();
    for (threads, pool) in [(1, false), (1, true), (3, true)] {
        let (kernels, chunks, runs) = (Units::default(), Arc::new(Mutex::new(0)), Arc::new(AtomicUsize::new(0)));
        let (launched, told, done) = (kernels.clone(), chunks.clone(), runs.clone());
        let here = std::thread::current().id();
        let sink = move |span: &Span<'_>| {
            assert!(span.start <= span.end && span.worker.is_none_or(|worker| worker < threads));
            assert_eq!(span.worker.is_none(), std::thread::current().id() == here);
            match &span.work {
                Work::Chunk { units, .. } => *told.lock().unwrap() += units.end - units.start,
                Work::Task { kernel: Some(kernel), .. } => {
                    launched.lock().unwrap().push((kernel.units, std::mem::take(&mut *told.lock().unwrap())));
                }
                Work::Run { program } => {
                    assert_eq!(*program, "walk");
                    done.fetch_add(1, Ordering::Relaxed);
                }
                _ => {}
            }
        };
        let context = if pool { Context::new(threads).unwrap() } else { Context::on_caller() };
        assert_eq!(ring.walk(3, &context.with_trace(sink), |_| ()).unwrap(), plain);
        let kernels = kernels.lock().unwrap();
        assert!(kernels.len() > 3 && kernels.iter().all(|(launched, run)| launched == run), "{kernels:?}");
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    }
}

/// Memory of a host, counted; gives none beyond a limit.
#[derive(Debug, Default)]
struct Counted {
    now: AtomicUsize,
    given: AtomicUsize,
    limit: usize,
    shift: usize,
}

// SAFETY: passes on what the system's allocator promises.
unsafe impl Allocator for Counted {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() > self.limit {
            return None;
        }
        self.now.fetch_add(layout.size(), Ordering::Relaxed);
        self.given.fetch_add(1, Ordering::Relaxed);
        let wider = Layout::from_size_align(layout.size() + 64, layout.align()).unwrap();
        // SAFETY: the layout is not empty, and `shift` stays within the 64 bytes added.
        let address = unsafe { alloc(wider).wrapping_add(self.shift) };
        let address = NonNull::new(address)?;
        // SAFETY: of this very layout; what is not zero may not show.
        unsafe { address.write_bytes(0xa5, layout.size()) };
        Some(address)
    }

    unsafe fn release(&self, address: NonNull<u8>, layout: Layout) {
        self.now.fetch_sub(layout.size(), Ordering::Relaxed);
        let wider = Layout::from_size_align(layout.size() + 64, layout.align()).unwrap();
        // SAFETY: allocated above with this layout.
        unsafe { dealloc(address.as_ptr().wrapping_sub(self.shift), wider) };
    }
}

#[test]
fn temporaries_come_from_the_host_and_go_back() {
    let ring = Ring::new(3000);
    for context in [Context::new(2).unwrap(), Context::on_caller()] {
        let memory = Arc::new(Counted { limit: usize::MAX, ..Counted::default() });
        let context = context.with_allocator(memory.clone());
        assert_eq!(ring.walk(2, &context, |_| ()).unwrap(), ring.expected(2));
        assert!(memory.given.load(Ordering::Relaxed) >= 2, "two buffers that rotate");
        assert_eq!(memory.now.load(Ordering::Relaxed), 0, "all came back");
    }
}

#[test]
fn what_the_host_does_not_give_is_a_typed_refusal() {
    let ring = Ring::new(3000);
    for memory in
        [Counted { limit: 100, ..Counted::default() }, Counted { limit: 1 << 30, shift: 8, ..Counted::default() }]
    {
        let memory = Arc::new(memory);
        let context = Context::on_caller().with_allocator(memory.clone());
        match ring.walk(2, &context, |_| ()) {
            Err(error @ RuntimeError::Allocator { .. }) => {
                let text = error.to_string();
                assert!(text.starts_with("the host's allocator gave no 24000 bytes, aligned to 64, for "), "{text}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(memory.now.load(Ordering::Relaxed), 0, "all came back");
    }
}

#[test]
fn contexts_work_side_by_side() {
    let ring = Ring::new(4000);
    let contexts = [Context::new(1).unwrap(), Context::new(2).unwrap(), Context::on_caller()];
    std::thread::scope(|scope| {
        for context in &contexts {
            scope.spawn(|| {
                for steps in 0..20 {
                    assert_eq!(ring.walk(steps, context, |_| ()).unwrap(), ring.expected(steps));
                }
            });
        }
        // And one of them by two threads at once.
        scope.spawn(|| assert_eq!(ring.walk(7, &contexts[1], |_| ()).unwrap(), ring.expected(7)));
    });
}

/// A bundle with another object for all its targets.
fn with_kernels(bytes: &[u8], object: &[u8]) -> Bundle {
    let whole = tiga_bundle::Bundle::from_bytes(bytes.to_vec()).unwrap();
    let manifest = whole.manifest().clone();
    let plans = manifest.programs.iter().map(|program| whole.plan(&program.name).unwrap().clone()).collect();
    let kernels = manifest.targets.iter().map(|target| (target.name.clone(), object.to_vec())).collect();
    let contents = Contents { manifest, plans, kernels, ir: BTreeMap::new() };
    Bundle::from_bytes(tiga_bundle::write(&contents).unwrap()).unwrap()
}

/// A bundle as somebody means harm: its kernels are an object that acts as soon as it is loaded.
#[test]
fn opening_a_bundle_runs_nothing_of_it() {
    let mut ring = Ring::new(5);
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("opening");
    std::fs::create_dir_all(&folder).unwrap();
    let (source, object, mark) = (folder.join("acts.c"), folder.join("acts.so"), folder.join("mark"));
    let _ = std::fs::remove_file(&mark);
    let text = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void act(void) {{ fclose(fopen(\"{}\", \"w\")); }}\n",
        mark.display()
    );
    std::fs::write(&source, text).unwrap();
    let made = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&object).arg(&source).status();
    assert!(made.unwrap().success());
    ring.road.bundle = with_kernels(&ring.road.bytes, &std::fs::read(&object).unwrap());
    assert!(ring.road.bundle.call("walk").is_ok() && !mark.exists());
    // Running it does run it; that it lacks the kernels is found then.
    let error = ring.walk(3, &Context::on_caller(), |_| {}).unwrap_err();
    assert!(matches!(error, RuntimeError::Plan { .. }) && mark.exists(), "{error}");
}

#[test]
fn kernels_that_cannot_be_loaded_are_refused_by_the_first_run() {
    let mut ring = Ring::new(5);
    ring.road.bundle = with_kernels(&ring.road.bytes, b"no object");
    for _ in 0..2 {
        let error = ring.walk(3, &Context::on_caller(), |_| {}).unwrap_err();
        assert!(matches!(error, RuntimeError::Load { .. }), "{error}");
    }
}
