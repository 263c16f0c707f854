//! The stored form of a [`Manifest`]: JSON, written and read by hand here and nowhere else.

use crate::manifest::*;
use serde_json::{Value, json};
use tiga_abi::{FpMode, Symbol};
use tiga_plan::Mode;
use tiga_plan::json::{self, JsonError, JsonProblem, Node};

type Result<T> = std::result::Result<T, JsonError>;

const FP_MODES: &[(&str, FpMode)] =
    &[(FpMode::Strict.name(), FpMode::Strict), (FpMode::Default.name(), FpMode::Default)];
const SYMBOL_KINDS: &[(&str, SymbolKind)] = &[
    (SymbolKind::Set.name(), SymbolKind::Set),
    (SymbolKind::Edges.name(), SymbolKind::Edges),
    (SymbolKind::Dim.name(), SymbolKind::Dim),
];

impl Manifest {
    /// The stored form; the same manifest gives the same bytes.
    pub fn to_json(&self) -> String {
        json::write(json!({
            "format": self.format,
            "language": self.language,
            "compiler": self.compiler,
            "fp": self.fp.name(),
            "targets": self.targets.iter().map(write_target).collect::<Vec<_>>(),
            "programs": self.programs.iter().map(write_program).collect::<Vec<_>>(),
            "kernels": self.kernels.iter().map(write_kernel).collect::<Vec<_>>(),
        }))
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// The path to the first value that is not as the format says. Another version of the format is
    /// refused before anything else is looked at.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let tree = json::parse(text, json::MAX_TEXT)?;
        let node = Node::root(&tree);
        let format = node.get("format")?;
        if format.int()? != i64::from(FORMAT) {
            let (found, known) = (format.value().to_string(), FORMAT.to_string());
            return Err(format.refuse(JsonProblem::Version { found, known }));
        }
        node.keys(&["format", "language", "compiler", "fp", "targets", "programs", "kernels"])?;
        Ok(Manifest {
            format: FORMAT,
            language: node.get("language")?.name()?,
            compiler: node.get("compiler")?.name()?,
            fp: node.get("fp")?.choice(FP_MODES)?,
            targets: node.get("targets")?.list(read_target)?,
            programs: node.get("programs")?.list(read_program)?,
            kernels: node.get("kernels")?.list(read_kernel)?,
        })
    }
}

fn symbols(list: &[Symbol]) -> Vec<&str> {
    list.iter().map(|symbol| &**symbol).collect()
}

fn read_symbol(node: Node<'_>) -> Result<Symbol> {
    node.name().map(Into::into)
}

fn write_target(target: &Target) -> Value {
    json!({"name": target.name, "features": target.features, "entry": target.entry})
}

fn read_target(node: Node<'_>) -> Result<Target> {
    node.keys(&["name", "features", "entry"])?;
    Ok(Target {
        name: node.get("name")?.name()?,
        features: node.get("features")?.list(|feature| feature.name())?,
        entry: node.get("entry")?.name()?,
    })
}

fn write_program(program: &Program) -> Value {
    let symbol = |decl: &SymbolDecl| json!({"name": &*decl.name, "kind": decl.kind.name(), "origin": decl.origin});
    json!({
        "name": program.name,
        "doc": program.doc,
        "symbols": program.symbols.iter().map(symbol).collect::<Vec<_>>(),
        "params": program.params.iter().map(write_param).collect::<Vec<_>>(),
        "results": program.results.iter().map(write_param).collect::<Vec<_>>(),
        "plan": program.plan,
    })
}

fn read_program(node: Node<'_>) -> Result<Program> {
    node.keys(&["name", "doc", "symbols", "params", "results", "plan"])?;
    let symbol = |node: Node<'_>| {
        node.keys(&["name", "kind", "origin"])?;
        let (name, kind) = (read_symbol(node.get("name")?)?, node.get("kind")?.choice(SYMBOL_KINDS)?);
        Ok(SymbolDecl { name, kind, origin: node.get("origin")?.text()? })
    };
    Ok(Program {
        name: node.get("name")?.name()?,
        doc: node.get("doc")?.text()?,
        symbols: node.get("symbols")?.list(symbol)?,
        params: node.get("params")?.list(read_param)?,
        results: node.get("results")?.list(read_param)?,
        plan: node.get("plan")?.name()?,
    })
}

fn write_param(param: &Param) -> Value {
    let ty = match &param.ty {
        Type::Graph { src, dst, edges } => json!({"is": "graph", "src": &**src, "dst": &**dst, "edges": &**edges}),
        Type::Tensor { dtype, shape } => {
            let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
            json!({"is": "tensor", "dtype": dtype.name(), "shape": shape})
        }
    };
    json!({"name": param.name, "doc": param.doc, "type": ty})
}

fn read_param(node: Node<'_>) -> Result<Param> {
    node.keys(&["name", "doc", "type"])?;
    let ty = node.get("type")?;
    let ty = if ty.get("is")?.choice(&[("graph", true), ("tensor", false)])? {
        ty.keys(&["is", "src", "dst", "edges"])?;
        let [src, dst, edges] = ["src", "dst", "edges"].map(|key| read_symbol(ty.get(key)?));
        Type::Graph { src: src?, dst: dst?, edges: edges? }
    } else {
        ty.keys(&["is", "dtype", "shape"])?;
        Type::Tensor { dtype: ty.get("dtype")?.dtype()?, shape: ty.get("shape")?.list(|extent| extent.poly())? }
    };
    Ok(Param { name: node.get("name")?.name()?, doc: node.get("doc")?.text()?, ty })
}

fn write_kernel(kernel: &Kernel) -> Value {
    let condition = |condition: &Condition| match condition {
        Condition::Equal(extent, value) => json!([extent.to_string(), "==", value]),
        Condition::Less(extent, value) => json!([extent.to_string(), "<", value]),
    };
    let variant = |variant: &Variant| {
        let guard: Vec<Value> = variant.guard.0.iter().map(condition).collect();
        json!({"guard": guard, "entry": variant.entry})
    };
    let pointer = |pointer: &Pointer| json!([pointer.parameter, pointer.dtype.name(), pointer.mode.name()]);
    json!({
        "symbol": kernel.symbol,
        "variants": kernel.variants.iter().map(variant).collect::<Vec<_>>(),
        "syms": symbols(&kernel.syms),
        "ptrs": kernel.ptrs.iter().map(pointer).collect::<Vec<_>>(),
        "scratch": kernel.scratch.to_string(),
        "shape": kernel.shape,
        "relation": kernel.relation,
    })
}

fn read_kernel(node: Node<'_>) -> Result<Kernel> {
    node.keys(&["symbol", "variants", "syms", "ptrs", "scratch", "shape", "relation"])?;
    let pointer = |node: Node<'_>| {
        let [parameter, dtype, mode] = node.tuple()?;
        Ok(Pointer { parameter: parameter.name()?, dtype: dtype.dtype()?, mode: Mode::from_json(mode)? })
    };
    Ok(Kernel {
        symbol: node.get("symbol")?.name()?,
        variants: node.get("variants")?.list(read_variant)?,
        syms: node.get("syms")?.list(read_symbol)?,
        ptrs: node.get("ptrs")?.list(pointer)?,
        scratch: node.get("scratch")?.size()?,
        shape: node.get("shape")?.text()?,
        relation: node.get("relation")?.optional_name()?,
    })
}

fn read_variant(node: Node<'_>) -> Result<Variant> {
    node.keys(&["guard", "entry"])?;
    let condition = |node: Node<'_>| {
        let [extent, operator, value] = node.tuple()?;
        let make: fn(tiga_abi::SizeExpr, i64) -> Condition =
            if operator.choice(&[("==", true), ("<", false)])? { Condition::Equal } else { Condition::Less };
        Ok(make(extent.size()?, value.int()?))
    };
    Ok(Variant { guard: Guard(node.get("guard")?.list(condition)?), entry: node.get("entry")?.name()? })
}
