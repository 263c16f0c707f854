//! The text of a module: a function and a structure of results for each program.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use tiga_abi::{DType, Poly, Symbol};
use tiga_bundle::{Manifest, Param, Program, Type};

/// The module of a bundle, whose bytes it takes in from `bundle`.
pub fn functions(manifest: &Manifest, bundle: &Path) -> String {
    let mut out = format!("// Made by tiga-build {} from a bundle; do not edit.\n\n", env!("CARGO_PKG_VERSION"));
    out.push_str("use ::tiga_runtime::{ArrayMut, ArrayRef, Bundle, Context, DType, Graph, RuntimeError, zeroed};\n\n");
    out.push_str("/// Opens the bundle of these programs, which is a part of this program.\n///\n/// # Errors\n");
    out.push_str("/// The machine lacks what its kernels need.\npub fn bundle() -> Result<Bundle, RuntimeError> {\n");
    let _ = writeln!(out, "    Bundle::from_bytes(include_bytes!({:?}).to_vec())\n}}", bundle.display().to_string());
    let mut functions = BTreeSet::from(["bundle".to_owned()]);
    let mut structures = BTreeSet::new();
    for program in &manifest.programs {
        Binding::new(program, &mut functions, &mut structures).write(&mut out);
    }
    out
}

/// A program as Rust sees it.
struct Binding<'p> {
    program: &'p Program,
    /// Its name in Rust, and that of the structure of its results.
    function: String,
    results: String,
    /// Arguments of the inputs, then fields of the results.
    names: Vec<String>,
    /// What each size is in Rust: a graph's count, or an argument of its own.
    sizes: Vec<(Symbol, String)>,
    free: Vec<(Symbol, String)>,
}

impl<'p> Binding<'p> {
    fn new(program: &'p Program, functions: &mut BTreeSet<String>, structures: &mut BTreeSet<String>) -> Self {
        let taken = ["bundle", "context", "call", "shapes"].map(String::from);
        let mut taken = BTreeSet::from(taken);
        let params = program.params.iter().chain(&program.results);
        let names: Vec<String> = params.map(|p| unique(&p.name, &mut taken)).collect();
        let (mut sizes, mut free) = (Vec::new(), Vec::new());
        for symbol in &program.symbols {
            let count =
                program.counted_by(&symbol.name).map(|(graph, what)| format!("{}.{what}() as i64", names[graph]));
            let size = count.unwrap_or_else(|| {
                let name = unique(&symbol.name, &mut taken);
                free.push((symbol.name.clone(), name.clone()));
                format!("{name} as i64")
            });
            sizes.push((symbol.name.clone(), size));
        }
        let function = unique(&program.name, functions);
        let mut letters = function.trim_start_matches('_').chars();
        let first = letters.next().map_or('P', |c| c.to_ascii_uppercase());
        let results = unique(&format!("{first}{}Results", letters.as_str()), structures);
        Self { program, function, results, names, sizes, free }
    }

    fn write(&self, out: &mut String) {
        let (params, results) = (&self.program.params, &self.program.results);
        let (inputs, outputs) = self.names.split_at(params.len());
        let _ = writeln!(out, "\n/// What [`{}`] gives.\n#[derive(Clone, Debug)]", self.function);
        let _ = writeln!(out, "#[allow(non_camel_case_types, non_snake_case)]\npub struct {} {{", self.results);
        for (result, name) in results.iter().zip(outputs) {
            doc(out, "    ", &result.doc);
            let _ = writeln!(out, "    /// {}\n    pub {name}: Vec<{}>,", shape_text(result), stored(result));
        }
        out.push_str("}\n\n");
        doc(out, "", &self.program.doc);
        out.push_str("///\n/// # Errors\n/// Arrays of other lengths than the sizes say; what a run can fail with.\n");
        let _ = writeln!(out, "#[allow(non_snake_case, clippy::too_many_arguments)]\npub fn {}(", self.function);
        out.push_str("    bundle: &Bundle,\n    context: &Context,\n");
        for (param, name) in params.iter().zip(inputs) {
            let _ = writeln!(out, "    {name}: {},", argument(param));
        }
        for (_, name) in &self.free {
            let _ = writeln!(out, "    {name}: usize,");
        }
        let _ = writeln!(out, ") -> Result<{}, RuntimeError> {{", self.results);
        let _ = writeln!(out, "    let mut call = bundle.call({:?})?;", self.program.name);
        for (symbol, name) in &self.free {
            let _ = writeln!(out, "    call.dim({:?}, {name} as i64)?;", &**symbol);
        }
        for (param, name) in params.iter().zip(inputs) {
            let _ = writeln!(out, "    {};", self.bind(param, name));
        }
        out.push_str("    let shapes = call.result_shapes()?;\n");
        for (i, (result, name)) in results.iter().zip(outputs).enumerate() {
            let (ty, dtype) = (stored(result), element(result));
            let _ = writeln!(out, "    let mut {name} = zeroed::<{ty}>({:?}, &shapes[{i}].2)?;", result.name);
            let array = format!("ArrayMut::of_elements(DType::{dtype:?}, &shapes[{i}].2, &mut {name})");
            let _ = writeln!(out, "    call.output({:?}, {array})?;", result.name);
        }
        let fields = outputs.join(", ");
        let _ = writeln!(out, "    call.run(context)?;\n    drop(call);\n    Ok({} {{ {fields} }})\n}}", self.results);
    }

    fn bind(&self, param: &Param, name: &str) -> String {
        let text = &param.name;
        let (shape, elements) = match &param.ty {
            Type::Graph { .. } => return format!("call.graph({text:?}, {name})?"),
            Type::Tensor { shape, .. } if shape.is_empty() => ("[]".into(), format!("std::slice::from_ref(&{name})")),
            Type::Tensor { .. } => (format!("[{}]", self.extents(param).join(", ")), name.to_owned()),
        };
        format!("call.input({text:?}, ArrayRef::of_elements(DType::{:?}, &{shape}, {elements}))?", element(param))
    }

    fn extents(&self, param: &Param) -> Vec<String> {
        match &param.ty {
            Type::Graph { .. } => Vec::new(),
            Type::Tensor { shape, .. } => shape.iter().map(|extent| self.extent(extent)).collect(),
        }
    }

    fn extent(&self, extent: &Poly) -> String {
        let size = |symbol: &Symbol| {
            let found = self.sizes.iter().find(|(name, _)| name == symbol);
            format!("({})", found.expect("checked: a bundle declares its sizes").1)
        };
        let term = |(coefficient, factors): (i64, &[Symbol])| {
            let number = (coefficient != 1 || factors.is_empty()).then(|| coefficient.to_string());
            number.into_iter().chain(factors.iter().map(size)).collect::<Vec<_>>().join(" * ")
        };
        let terms: Vec<String> = extent.terms().into_iter().map(term).collect();
        format!("({}) as usize", if terms.is_empty() { "0".into() } else { terms.join(" + ") })
    }
}

fn element(param: &Param) -> DType {
    match &param.ty {
        Type::Tensor { dtype, .. } => *dtype,
        Type::Graph { .. } => DType::I64,
    }
}

/// The Rust type of an element; 16-bit numbers as their bits.
fn rust_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::F16 | DType::BF16 => "u16",
        DType::I32 | DType::I64 | DType::F32 | DType::F64 => dtype.name(),
    }
}

/// What an argument is: a graph, a number, or an array.
fn argument(param: &Param) -> String {
    match &param.ty {
        Type::Graph { .. } => "&Graph".into(),
        Type::Tensor { dtype, shape } if shape.is_empty() => rust_type(*dtype).into(),
        Type::Tensor { dtype, .. } => format!("&[{}]", rust_type(*dtype)),
    }
}

/// What a result is stored as: a `bool` as a byte, 0 or 1.
fn stored(param: &Param) -> &'static str {
    match rust_type(element(param)) {
        "bool" => "u8",
        other => other,
    }
}

/// `f32[N, 16]`.
fn shape_text(param: &Param) -> String {
    match &param.ty {
        Type::Graph { .. } => "a graph".into(),
        Type::Tensor { dtype, shape } => {
            let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
            format!("`{dtype}[{}]`", extents.join(", "))
        }
    }
}

/// A doc comment, line by line.
fn doc(out: &mut String, indent: &str, text: &str) {
    for line in text.lines() {
        // Rust takes no carriage return alone.
        let _ = writeln!(out, "{indent}/// {}", line.replace('\r', " "));
    }
}

/// Words that are no names in Rust 2024.
const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final \
    fn for gen if impl in let loop macro match mod move mut override priv pub ref return self Self static struct super \
    trait true try type typeof unsafe unsized use virtual where while yield _";

/// A name in Rust.
fn identifier(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = name.chars().map(plain).collect();
    if KEYWORDS.split(' ').any(|word| word == name) {
        name.push('_');
    }
    name
}

/// A name that is not taken yet.
fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = identifier(name);
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_results_whose_names_meet_are_told_apart() {
        let tensor = |name: &str| {
            let ty = Type::Tensor { dtype: DType::F32, shape: Vec::new() };
            Param { name: name.into(), doc: String::new(), ty }
        };
        let program = |name: &str| Program {
            name: name.into(),
            doc: String::new(),
            symbols: Vec::new(),
            params: Vec::new(),
            results: vec![tensor("shapes"), tensor("y")],
            plan: String::new(),
        };
        let manifest = Manifest {
            format: tiga_bundle::FORMAT,
            language: "0.1".into(),
            compiler: "tigac".into(),
            fp: tiga_abi::FpMode::Default,
            targets: Vec::new(),
            programs: ["heat", "Heat", "match", "match_", "bundle"].map(program).into(),
            kernels: Vec::new(),
        };
        let text = functions(&manifest, Path::new("m.tgb"));
        let names = |before: &str| -> BTreeSet<String> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(before));
            lines.map(|rest| rest.split(['(', ' ']).next().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(names("pub fn ").len(), 6, "five programs, and the bundle\n{text}");
        assert_eq!(names("pub struct ").len(), 5, "{text}");
        // The shapes of all results are asked for once, and no result has their name.
        assert!(!text.contains("let mut shapes ="), "{text}");
    }

    #[test]
    fn names_are_identifiers() {
        let mut taken = BTreeSet::from(["x".to_owned()]);
        assert_eq!(["x", "g.src", "fn"].map(|name| unique(name, &mut taken)), ["x_", "g_src", "fn_"]);
    }
}
