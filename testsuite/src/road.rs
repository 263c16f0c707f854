//! The whole road for tests: a model or module compiled, packed, opened and run on the interpreters' values.

use anyhow::{Context as _, Result, anyhow, bail};
use std::path::Path;
use tiga_abi::{CpuTarget, DType};
use tiga_backend_llvm::{native_features, required_features};
use tiga_bundle::{Param, Program, SymbolDecl, SymbolKind, Type};
use tiga_formats::{Array, Csr, Indices};
use tiga_ir::interp::{self, Relation, Tensor, Value};
use tiga_ir::{Func, Module, SymKind};
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Call, Context, Graph, MemoryUse};
use tigac::driver::Front;
use tigac::pack::{Compilation, CompileOptions, compile, compile_for, compile_loops, contents};
use tigac::passes::loops::split_units;
use tigac::passes::{Pass, Watch, run};
use tigac::pipeline;
use tigac::sema::SemaOptions;

/// A module compiled in one way, opened and ready to run.
#[derive(Clone, Debug)]
pub struct Road {
    /// How it was compiled.
    pub options: CompileOptions,
    /// Its host and loops functions before reductions are split into units: what the default mode means.
    pub whole: Module,
    /// The same as the pipeline left them.
    pub loops: Module,
    /// Its kernels.
    pub kernels: Module,
    /// Its LLVM module, as text.
    pub llvm_ir: String,
    /// The bundle as a file.
    pub bytes: Vec<u8>,
    /// The bundle, opened.
    pub bundle: Bundle,
}

impl Road {
    /// Compiles the programs of a domain module.
    ///
    /// # Errors
    /// Some stage refuses it.
    pub fn of_domain(module: &Module, options: CompileOptions) -> Result<Self> {
        let compilation = compile(module, &options).context("compiling")?;
        let programs = module.funcs.values().map(manifest_of).collect();
        Self::pack(whole(module, pipeline::PASSES, &options)?, compilation, programs, options)
    }

    /// Compiles the host functions of a module and what they launch; other functions are left out.
    ///
    /// # Errors
    /// Some stage refuses it.
    pub fn of_loops(module: &Module, options: CompileOptions) -> Result<Self> {
        let compilation = compile_loops(module.clone(), &options).context("compiling")?;
        let hosts = module.funcs.values().filter(|f| f.level == tiga_ir::Level::Host);
        let programs = hosts.map(manifest_of).collect();
        Self::pack(whole(module, pipeline::of_loops(), &options)?, compilation, programs, options)
    }

    fn pack(whole: Module, compilation: Compilation, programs: Vec<Program>, options: CompileOptions) -> Result<Self> {
        let bytes =
            tiga_bundle::write(&contents(std::slice::from_ref(&compilation), programs, &options).context("packing")?)?;
        let bundle = Bundle::from_bytes(bytes.clone()).context("opening")?;
        let Compilation { loops, kernel_module: kernels, code, .. } = compilation;
        Ok(Self { options, whole, loops, kernels, llvm_ir: code.llvm_ir().to_owned(), bytes, bundle })
    }

    /// Runs a program on values in the order of its parameters; gives its results in their order.
    ///
    /// `dims` are sizes that no input fixes; names that the program does not have are passed over.
    ///
    /// # Errors
    /// The runtime refuses the call.
    pub fn run(&self, program: &str, values: &[Value], dims: &[(&str, i64)], context: &Context) -> Result<Vec<Tensor>> {
        let (graphs, arrays) = (self.graphs(program, values)?, arrays(values)?);
        let mut call = self.bundle.call(program)?;
        self.bind(&mut call, (program, values, dims), &graphs, &arrays)?;
        Ok(run_bound(call, context)?.0)
    }

    /// The same in memory that is prepared for sizes larger by `spare`, after a run there that has left its numbers in it.
    ///
    /// # Errors
    /// The runtime refuses the call.
    pub fn run_prepared(
        &self,
        (program, spare): (&str, i64),
        values: &[Value],
        dims: &[(&str, i64)],
        context: &Context,
    ) -> Result<Vec<Tensor>> {
        let graphs = self.graphs(program, values)?;
        let arrays = arrays(values)?;
        let mut call = self.bundle.call(program)?;
        self.bind(&mut call, (program, values, dims), &graphs, &arrays)?;
        call.derive()?;
        let sizes: Vec<(&str, i64)> = call.sizes().map(|(name, value)| (name, value + spare)).collect();
        let mut prepared = self.bundle.prepare(program, &sizes, context)?;
        let mut results = Vec::new();
        for _ in 0..2 {
            let mut call = prepared.call();
            self.bind(&mut call, (program, values, dims), &graphs, &arrays)?;
            results = run_bound(call, context)?.0;
        }
        Ok(results)
    }

    /// The same in a context whose memory has tiers, with what was used of them.
    ///
    /// # Errors
    /// The runtime refuses the call, or runs it elsewhere.
    pub fn run_in_tiers(
        &self,
        program: &str,
        values: &[Value],
        dims: &[(&str, i64)],
        context: &Context,
    ) -> Result<(Vec<Tensor>, MemoryUse)> {
        let graphs = self.graphs(program, values)?;
        let arrays = arrays(values)?;
        let mut call = self.bundle.call(program)?;
        self.bind(&mut call, (program, values, dims), &graphs, &arrays)?;
        let (results, used) = run_bound(call, context)?;
        Ok((results, used.context("no memory in tiers")?))
    }

    /// The graphs among values, by parameter.
    fn graphs(&self, program: &str, values: &[Value]) -> Result<Vec<Option<Graph>>> {
        self.bundle.manifest().program(program).context("no such program")?;
        let of = |value: &Value| match value {
            Value::Rel(relation) => graph(relation).map(Some),
            _ => Ok(None),
        };
        values.iter().map(of).collect()
    }

    fn bind<'a>(
        &self,
        call: &mut Call<'a>,
        (program, values, dims): (&str, &[Value], &[(&str, i64)]),
        graphs: &[Option<Graph>],
        arrays: &'a [Array],
    ) -> Result<()> {
        let manifest = self.bundle.manifest().program(program).context("no such program")?;
        for (((value, graph), array), param) in values.iter().zip(graphs).zip(arrays).zip(&manifest.params) {
            match (value, graph) {
                (Value::Tensor(t), _) => {
                    call.input(&param.name, ArrayRef::new(t.dtype(), t.shape(), array.as_bytes()))?;
                }
                (_, Some(graph)) => drop(call.graph(&param.name, graph)?),
                _ => bail!("memory to write is no argument of a program"),
            }
        }
        for (name, value) in dims.iter().filter(|(name, _)| manifest.symbols.iter().any(|s| &*s.name == *name)) {
            call.dim(name, *value)?;
        }
        Ok(())
    }

    /// What the loops interpreter makes of the program, with reductions whole.
    ///
    /// # Errors
    /// The interpreter refuses it; a result that nothing has written.
    pub fn interpret(&self, program: &str, values: &[Value], dims: &[(&str, i64)]) -> Result<Vec<Tensor>> {
        interpret(&self.whole, program, values, dims)
    }

    /// The same with reductions split into units.
    ///
    /// # Errors
    /// As [`Road::interpret`].
    pub fn interpret_split(&self, program: &str, values: &[Value], dims: &[(&str, i64)]) -> Result<Vec<Tensor>> {
        interpret(&self.loops, program, values, dims)
    }
}

fn arrays(values: &[Value]) -> Result<Vec<Array>> {
    values.iter().map(array).collect::<Option<Vec<Array>>>().context("inputs do not fit")
}

/// Runs a call whose inputs are bound.
fn run_bound(call: Call<'_>, context: &Context) -> Result<(Vec<Tensor>, Option<MemoryUse>)> {
    // Its results live here only.
    let mut call: Call<'_> = call;
    let shapes = call.result_shapes()?;
    let zeroed = |(_, dtype, shape): &(_, _, Vec<usize>)| Array::zeroed(*dtype, shape.clone());
    let mut arrays = shapes.iter().map(zeroed).collect::<Option<Vec<Array>>>().context("results do not fit")?;
    for ((name, dtype, shape), array) in shapes.iter().zip(&mut arrays) {
        call.output(name, ArrayMut::new(*dtype, shape, array.as_bytes_mut()))?;
    }
    call.run(context)?;
    let used = call.memory_use().cloned();
    drop(call);
    let tensor = |((_, dtype, shape), array): (&(String, _, Vec<usize>), &Array)| {
        Ok(Tensor::from_bytes(*dtype, shape, array.as_bytes())?)
    };
    Ok((shapes.iter().zip(&arrays).map(tensor).collect::<Result<_>>()?, used))
}

fn interpret(loops: &Module, program: &str, values: &[Value], dims: &[(&str, i64)]) -> Result<Vec<Tensor>> {
    let mut options = interp::Options::default();
    options.sizes.extend(dims.iter().map(|(name, value)| ((*name).into(), *value)));
    let results = interp::run_host(loops, program, &mut values.to_vec(), &options)?;
    results.into_iter().map(result).collect()
}

/// The levels of x86-64 whose kernels this machine can run, from the least on.
pub fn levels_here() -> Vec<CpuTarget> {
    let here = native_features();
    let levels = [CpuTarget::X86_64V2, CpuTarget::X86_64V3, CpuTarget::X86_64V4];
    levels.into_iter().filter(|level| required_features(*level).iter().all(|f| here.contains(f))).collect()
}

/// The file of one bundle with kernels for several CPUs, from a domain module.
///
/// # Errors
/// Some stage refuses it.
pub fn bundle_for(module: &Module, targets: &[CpuTarget], options: &CompileOptions) -> Result<Vec<u8>> {
    let compilations = compile_for(module, targets, options).context("compiling")?;
    let programs = module.funcs.values().map(manifest_of).collect();
    Ok(tiga_bundle::write(&contents(&compilations, programs, options).context("packing")?)?)
}

/// Runs the passes that stand before the split into units, without those that the options leave out: constants that are
/// not folded are contracted.
fn whole(module: &Module, passes: &[Pass], options: &CompileOptions) -> Result<Module> {
    let split = passes.iter().position(|pass| pass.name == split_units::PASS.name);
    let before = &passes[..split.expect("the pipeline splits reductions")];
    let watch = Watch { skip: options.watch.skip.clone(), ..Watch::default() };
    Ok(run(module.clone(), before, &options.passes(), &watch, &mut std::io::sink())?)
}

/// The domain functions of a model's text.
///
/// # Errors
/// Mistakes in the text, as they are shown.
pub fn model(name: &str, text: &str, options: &SemaOptions) -> Result<Module> {
    let front = Front::of_text(name, text.to_owned(), options).context("the text is too large")?;
    if front.errors() > 0 {
        let shown: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
        bail!("{}", shown.join("\n\n"));
    }
    Ok(front.analysis.ir)
}

/// The same from one of the project's examples.
///
/// # Errors
/// As [`model`]; no such example.
pub fn example(name: &str, options: &SemaOptions) -> Result<Module> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    model(name, &std::fs::read_to_string(&path).with_context(|| path.display().to_string())?, options)
}

/// A result of an interpreter as a tensor.
///
/// # Errors
/// Something was never written; a relation.
pub fn result(value: Value) -> Result<Tensor> {
    match value {
        Value::Buffer(buffer) => buffer.tensor().map_err(|i| anyhow!("element {i} was never written")),
        Value::Tensor(tensor) => Ok(tensor),
        Value::Rel(_) => bail!("a relation as a result"),
    }
}

/// Where two tensors differ first, in words; any NaN equals any NaN.
pub fn difference(got: &Tensor, expected: &Tensor) -> Option<String> {
    if got.same(expected) {
        return None;
    }
    if got.shape() != expected.shape() || got.dtype() != expected.dtype() {
        return Some(format!("the shape is {:?}, expected {:?}", got.shape(), expected.shape()));
    }
    let mut elements = got.elems().iter().zip(expected.elems()).enumerate();
    let (at, (got, expected)) = elements.find(|(_, (g, e))| !g.same(**e))?;
    Some(format!("[{at}] is {got}, expected {expected}"))
}

/// A relation of the interpreters from a graph of a file.
pub fn relation(csr: &Csr) -> Relation {
    let col = csr.col().iter().collect();
    Relation::csr(csr.num_src(), csr.row_ptr().to_vec(), col).expect("a validated graph is a relation")
}

/// A graph handle from a relation of the interpreters.
fn graph(relation: &Relation) -> Result<Graph> {
    let col = Indices::I32(relation.col().iter().map(|c| i32::try_from(*c)).collect::<Result<_, _>>()?);
    Ok(Graph::new(&Csr::from_csr(relation.row_ptr().to_vec(), col, Some(relation.num_src()))?)?)
}

/// A tensor in memory of its own, no larger than it needs to be; nothing for other values. `None` if memory is short.
fn array(value: &Value) -> Option<Array> {
    let Some(tensor) = value.as_tensor() else { return Array::zeroed(DType::Bool, vec![0]) };
    let mut array = Array::zeroed(tensor.dtype(), tensor.shape().to_vec())?;
    array.as_bytes_mut().copy_from_slice(&tensor.to_bytes());
    Some(array)
}

/// What a manifest says of a domain or host function.
pub fn manifest_of(func: &Func) -> Program {
    let ty = |ty: &tiga_ir::Type| match ty {
        tiga_ir::Type::Rel(r) => Type::Graph { src: r.src.clone(), dst: r.dst.clone(), edges: r.edges.clone() },
        other => {
            let t = other.as_tensor().or_else(|| other.as_buffer()).expect("programs take relations and arrays");
            Type::Tensor { dtype: t.dtype, shape: t.extents() }
        }
    };
    let param = |name: &str, t: &tiga_ir::Type| Param { name: name.into(), doc: String::new(), ty: ty(t) };
    let kind = |k: &SymKind| match k {
        SymKind::Set => SymbolKind::Set,
        SymKind::Edges => SymbolKind::Edges,
        SymKind::Dim | SymKind::Bound(_) => SymbolKind::Dim,
    };
    let symbol = |(name, k): (&tiga_abi::Symbol, &SymKind)| SymbolDecl {
        name: name.clone(),
        kind: kind(k),
        origin: String::new(),
    };
    let free = func.symbols.iter().filter(|(_, k)| !matches!(k, SymKind::Bound(_)));
    let params = func.params().iter().enumerate();
    Program {
        name: func.name.to_string(),
        doc: String::new(),
        symbols: free.map(symbol).collect(),
        params: params.map(|(i, v)| param(func.param_name(i), func.body.ty(*v))).collect(),
        results: func.results.iter().map(|(name, t)| param(name, t)).collect(),
        plan: format!("plans/{}.json", func.name),
    }
}
