//! Programs with memory of their own: runs up to the sizes they are prepared for allocate nothing.
#![allow(unsafe_code)]

use crate::admit::check_instances;
use crate::bindings::Bindings;
use crate::bundle::Bundle;
use crate::call::{Call, Table, check_size};
use crate::frame::{Frame, Slot};
use crate::launch::Scratch;
use crate::memory::{Memory, check_room};
use crate::sizes::{Place, Sizes};
use crate::steps::Steps;
use crate::{Context, RuntimeError};
use cranelift_entity::EntityRef;
use tiga_bundle::Program;
use tiga_formats::Limits;
use tiga_plan::{Body, BodyId, Owner, ResourceId, TaskKind, Template};

/// Memory of every block begins at a multiple of this.
const ALIGN: u64 = 64;

/// A program with the memory that its runs need, up to given sizes. Made by [`Bundle::prepare`].
///
/// [`Prepared::call`] begins a call like any other. Binding arrays and graphs and running allocate nothing, on no
/// thread, as long as no size is above what was prepared, arrays have at most six axes, and what the program derives of
/// a graph is there ([`Call::derive`]); errors, log lines and an order of units other than ascending do. Temporaries
/// share memory where their lives allow it. It is the same memory for all runs, so there is one call at a time; a
/// program can be prepared several times.
#[derive(Debug)]
pub struct Prepared {
    bundle: Bundle,
    /// Its number in the manifest.
    program: usize,
    bindings: Bindings,
    held: Held,
}

/// The tables and the memory of a prepared program.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) frame: Frame,
    pub(crate) memory: HeldMemory,
    /// The largest value of each size.
    limits: Vec<i64>,
}

/// The memory of a prepared program: a block for each temporary, scratch for each worker.
#[derive(Debug)]
pub(crate) struct HeldMemory {
    all: Memory,
    /// By resource, where its block begins and how much it may take of it.
    blocks: Vec<Option<(u64, u64)>>,
    scratch: u64,
    /// Bytes of scratch from one worker to the next.
    stride: u64,
    workers: usize,
    bytes: u64,
}

impl Prepared {
    pub(crate) fn new(
        bundle: &Bundle,
        program: usize,
        sizes: &[(&str, i64)],
        context: &Context,
    ) -> Result<Self, RuntimeError> {
        let declared = &bundle.manifest().programs[program];
        let plan = bundle.plan(declared)?;
        let mut most = Sizes::new(declared);
        for (name, value) in sizes {
            check_size(declared, name)?;
            most.fix(declared, name, *value, Place::Given)?;
        }
        let limit = |(number, size): (usize, &tiga_bundle::SymbolDecl)| match most.of(number) {
            Some((value, _)) => Ok(value),
            None => Err(RuntimeError::Unbound(size.name.to_string())),
        };
        let limits = declared.symbols.iter().enumerate().map(limit).collect::<Result<Vec<i64>, _>>()?;
        // The documents of smaller sizes have other numbers and the same accesses: what is proven is proven of them.
        let value = |size: &str| most.get(declared, size);
        check_instances(plan, &value)
            .map_err(|reason| RuntimeError::Plan { program: declared.name.clone(), reason })?;
        let steps = bundle.inner.steps(declared, plan)?;
        let memory = HeldMemory::new(bundle, plan, steps, &value, context)?;
        let held = Held { frame: Frame::new(plan, steps), memory, limits };
        Ok(Self { bundle: bundle.clone(), program, bindings: Bindings::new(declared), held })
    }

    /// Begins a call, to which nothing is bound.
    pub fn call(&mut self) -> Call<'_> {
        let Self { bundle, program, bindings, held } = self;
        bindings.clear();
        let bundle: &Bundle = bundle;
        let program = &bundle.manifest().programs[*program];
        let plan = bundle.plan(program).expect("it was there when the program was prepared");
        Call::with(bundle, program, plan, Table::Prepared(bindings), Some(held))
    }

    /// Bytes of memory that it holds for temporaries and scratch.
    pub fn bytes(&self) -> u64 {
        self.held.memory.bytes
    }
}

impl Held {
    /// Refuses a run beyond what is prepared.
    pub(crate) fn admit(&self, program: &Program, sizes: &Sizes, context: &Context) -> Result<(), RuntimeError> {
        let (threads, prepared) = (context.threads(), self.memory.workers);
        if threads > prepared {
            return Err(RuntimeError::PreparedThreads { found: threads, prepared });
        }
        for (number, prepared) in self.limits.iter().enumerate() {
            if let Some((found, place)) = sizes.of(number).filter(|(found, _)| found > prepared) {
                let (symbol, origin) = (program.symbols[number].name.to_string(), place.origin(program));
                return Err(RuntimeError::PreparedSize { symbol, found, origin, prepared: *prepared });
            }
        }
        Ok(())
    }
}

impl HeldMemory {
    fn new(
        bundle: &Bundle,
        plan: &Template,
        steps: &Steps,
        sizes: &dyn Fn(&str) -> Option<i64>,
        context: &Context,
    ) -> Result<Self, RuntimeError> {
        let mut bytes = Vec::new();
        for resource in plan.resources.values() {
            let owned = resource.owner == Owner::Owned;
            bytes.push(if owned { Some(resource.capacity.eval(sizes)? as u64) } else { None });
        }
        let (blocks, end) = place(plan, &bytes);
        let (mut stride, workers) = (0u64, context.threads());
        for kernel in steps.kernels() {
            stride = stride.max(bundle.manifest().kernels[kernel].scratch.eval(sizes)? as u64);
        }
        let stride = stride.checked_next_multiple_of(ALIGN);
        let all = stride.and_then(|stride| stride.checked_mul(workers as u64)).and_then(|all| all.checked_add(end?));
        let what = || format!("`{}`, prepared for these sizes,", plan.program);
        let total = all.unwrap_or(u64::MAX);
        check_room(total, what)?;
        let memory = usize::try_from(total).ok().and_then(|total| Memory::new(total, context.allocator.as_ref()));
        let (Some(all), Some(scratch), Some(stride)) = (memory, end, stride) else {
            return Err(match context.allocator {
                Some(_) => RuntimeError::Allocator { what: what(), bytes: total },
                None => {
                    let available = Limits::of_this_machine().memory;
                    RuntimeError::Memory { what: what(), bytes: total, available }
                }
            });
        };
        Ok(Self { all, blocks, scratch, stride, workers, bytes: total })
    }

    /// The memory of a temporary of so many bytes; what is prepared for it if they are more. It is as the last run has
    /// left it: plans read what they have written, and nothing else.
    pub(crate) fn slot(&self, id: ResourceId, bytes: u64) -> Result<Slot, u64> {
        let (begin, prepared) = self.blocks[id.index()].unwrap_or((0, 0));
        if bytes > prepared {
            return Err(prepared);
        }
        Ok(Slot { address: self.all.address().wrapping_add(begin as usize), bytes: bytes as usize })
    }

    /// Scratch of so many bytes for each worker; what is prepared if they are more.
    pub(crate) fn scratch(&self, bytes: u64) -> Result<Scratch, u64> {
        if bytes > self.stride {
            return Err(self.stride);
        }
        let first = self.all.address().wrapping_add(self.scratch as usize);
        Ok(Scratch::Held { first, stride: self.stride as usize })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Where the block of each resource begins, and where all end; `None` if they are more than can be counted.
///
/// Two resources share a block if one is released before the other is written, in the order in which tasks run: the
/// bodies of a branch one after the other, that of a loop once.
fn place(plan: &Template, bytes: &[Option<u64>]) -> (Vec<Option<(u64, u64)>>, Option<u64>) {
    let mut lives = Lives { plan, at: 0, of: vec![None; bytes.len()], visits: vec![0; plan.bodies.len()] };
    lives.walk(&plan.root);
    let once = lives.visits.iter().all(|visits| *visits <= 1);
    let mut order: Vec<(usize, Life, u64)> = Vec::new();
    for (number, bytes) in bytes.iter().enumerate() {
        if let (Some(life), Some(bytes)) = (lives.of[number], bytes) {
            // A body of two tasks lives twice: its resources keep their own memory, and so do all for its sake.
            let pinned = life.pinned || !once;
            order.push((number, Life { pinned, ..life }, *bytes));
        }
    }
    order.sort_by_key(|(number, life, _)| (life.first, *number));
    let mut blocks: Vec<Block> = Vec::new();
    let mut block_of = vec![None; bytes.len()];
    for (number, life, bytes) in order {
        let ended = |block: &Block| !life.pinned && block.last.is_some_and(|last| last < life.first);
        let free = blocks.iter().enumerate().filter(|(_, block)| ended(block));
        // The smallest that is large enough, or the largest, which then grows.
        let best = free.min_by_key(|(_, block)| (block.bytes < bytes, block.bytes.abs_diff(bytes)));
        let last = (!life.pinned).then_some(life.last);
        let index = match best.map(|(index, _)| index) {
            Some(index) => {
                blocks[index] = Block { bytes: blocks[index].bytes.max(bytes), last };
                index
            }
            None => {
                blocks.push(Block { bytes, last });
                blocks.len() - 1
            }
        };
        block_of[number] = Some((index, bytes));
    }
    let mut begins = Vec::new();
    let mut end = Some(0u64);
    for block in &blocks {
        begins.push(end.unwrap_or(0));
        end = end.and_then(|end| end.checked_add(block.bytes)?.checked_next_multiple_of(ALIGN));
    }
    (block_of.into_iter().map(|found| found.map(|(index, bytes): (usize, u64)| (begins[index], bytes))).collect(), end)
}

/// Memory of several resources, one after the other.
struct Block {
    bytes: u64,
    /// When the last one is released; `None` if it never is before the end.
    last: Option<u64>,
}

/// The first and the last task that touch a resource.
#[derive(Clone, Copy)]
struct Life {
    first: u64,
    last: u64,
    /// It is not known when it ends.
    pinned: bool,
}

struct Lives<'p> {
    plan: &'p Template,
    at: u64,
    of: Vec<Option<Life>>,
    /// How many tasks run each body.
    visits: Vec<u32>,
}

impl Lives<'_> {
    fn walk(&mut self, body: &Body) {
        for task in body.tasks.values() {
            self.at += 1;
            let accessed = task.accesses.iter().map(|access| access.resource);
            accessed.chain(task.args.iter().map(|arg| arg.resource)).for_each(|id| self.touch(id, false));
            match &task.kind {
                TaskKind::Loop { body, rotate, .. } => {
                    // Which of the two memories is whose depends on how many rounds there are.
                    rotate.iter().flat_map(|r| [r.a, r.b]).for_each(|id| self.touch(id, true));
                    self.visit(*body);
                }
                TaskKind::Branch { then_body, else_body, .. } => {
                    self.visit(*then_body);
                    self.visit(*else_body);
                }
                _ => continue,
            }
            // What its bodies use lives until the last round has ended.
            self.at += 1;
            task.accesses.iter().for_each(|access| self.touch(access.resource, false));
        }
    }

    fn visit(&mut self, id: BodyId) {
        self.visits[id.index()] += 1;
        if self.visits[id.index()] == 1 {
            self.walk(&self.plan.bodies[id]);
        }
    }

    fn touch(&mut self, id: ResourceId, pinned: bool) {
        let at = self.at;
        let life = self.of[id.index()].get_or_insert(Life { first: at, last: at, pinned });
        life.last = at;
        life.pinned |= pinned;
    }
}
