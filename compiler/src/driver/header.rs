//! `--emit=header`: the programs of a model as C functions, for hosts that link its object.

use std::collections::BTreeSet;
use std::fmt::Write;
use tiga_abi::{DType, Poly, Symbol};
use tiga_bundle::{Param, Program, Type};

/// The name of a model in C: its file's, with an underscore for what may not stand in an identifier.
pub(super) fn model_name(stem: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = stem.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// The symbol of the table in the object of a model.
pub(super) fn table_symbol(model: &str) -> String {
    format!("tiga_linked_{model}")
}

/// The text of the header.
pub(super) fn header(model: &str, programs: &[Program]) -> String {
    let guard = format!("TIGA_MODEL_{model}_H");
    let mut out = format!("// The programs of `{model}`, made by tigac {}; do not edit.\n", env!("CARGO_PKG_VERSION"));
    out.push_str("//\n// Open the bundle once: tiga_bundle_from_linked(");
    let table = table_symbol(model);
    let _ = writeln!(out, "&{table}, &bundle, &error).\n// Arrays are in C order; an unset pointer is an error.\n");
    let _ = writeln!(out, "#ifndef {guard}\n#define {guard}\n\n#include <tiga.h>\n");
    out.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    let _ = writeln!(out, "// The kernels and the bundle of the object.\nextern const tiga_linked {table};\n");
    for program in programs {
        Stub::new(model, program).write(&mut out);
    }
    let _ = write!(out, "#ifdef __cplusplus\n}}\n#endif\n\n#endif // {guard}\n");
    out
}

/// A program as C sees it.
struct Stub<'p> {
    program: &'p Program,
    function: String,
    /// Fields of the parameters, then of the results.
    fields: Vec<String>,
    /// What each size is in C: a graph's count, or a field of its own.
    sizes: Vec<(Symbol, String)>,
    /// The sizes that have fields.
    free: Vec<(Symbol, String)>,
}

impl<'p> Stub<'p> {
    fn new(model: &str, program: &'p Program) -> Self {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let params = program.params.iter().chain(&program.results);
        let fields: Vec<String> = params.map(|p| field(&p.name, &mut taken)).collect();
        let (mut sizes, mut free) = (Vec::new(), Vec::new());
        for symbol in &program.symbols {
            let count = program
                .counted_by(&symbol.name)
                .map(|(graph, what)| format!("(int64_t)tiga_graph_{what}(arguments->{})", fields[graph]));
            let size = count.unwrap_or_else(|| {
                let name = field(&symbol.name, &mut taken);
                free.push((symbol.name.clone(), name.clone()));
                format!("arguments->{name}")
            });
            sizes.push((symbol.name.clone(), size));
        }
        let function = format!("{model}_{}", program.name.replace('.', "_"));
        Self { program, function, fields, sizes, free }
    }

    fn write(&self, out: &mut String) {
        let name = &self.function;
        let _ = writeln!(out, "// What {name} takes: inputs, then results.\ntypedef struct {{");
        let inputs = self.program.params.len();
        let params = self.program.params.iter().chain(&self.program.results).zip(&self.fields);
        for (i, (param, field)) in params.enumerate() {
            declare(out, param, field, i < inputs);
        }
        for (symbol, field) in &self.free {
            let _ = writeln!(out, "    // The size `{symbol}`.\n    int64_t {field};");
        }
        let _ = writeln!(out, "}} {name}_arguments;\n");
        comment(out, "", &self.program.doc);
        let _ =
            writeln!(out, "static inline tiga_status {name}(const tiga_bundle *bundle, const tiga_context *context,");
        let _ = writeln!(out, "        const {name}_arguments *arguments, tiga_error **error) {{");
        let _ = writeln!(out, "    tiga_call *call;");
        let program = &self.program.name;
        let _ = writeln!(out, "    tiga_status status = tiga_call_new(bundle, TIGA_STR(\"{program}\"), &call, error);");
        for (symbol, field) in &self.free {
            step(out, &format!("tiga_call_dim(call, TIGA_STR(\"{symbol}\"), arguments->{field}, error)"));
        }
        for (i, (param, field)) in self.program.params.iter().chain(&self.program.results).zip(&self.fields).enumerate()
        {
            self.bind(out, param, field, i < inputs);
        }
        step(out, "tiga_call_run(call, context, error)");
        out.push_str("    tiga_call_free(call);\n    return status;\n}\n\n");
    }

    fn bind(&self, out: &mut String, param: &Param, field: &str, input: bool) {
        let name = &param.name;
        let (dtype, shape) = match &param.ty {
            Type::Graph { .. } => {
                step(out, &format!("tiga_call_graph(call, TIGA_STR(\"{name}\"), arguments->{field}, error)"));
                return;
            }
            Type::Tensor { dtype, shape } => (dtype, shape),
        };
        let (structure, call) = if input { ("tiga_array", "input") } else { ("tiga_array_mut", "output") };
        let data =
            if input && shape.is_empty() { format!("&arguments->{field}") } else { format!("arguments->{field}") };
        let number =
            format!("TIGA_{}", if *dtype == DType::Bool { "BOOL8".into() } else { dtype.name().to_uppercase() });
        out.push_str("    if (status == TIGA_OK) {\n");
        let extents: Vec<String> = shape.iter().map(|extent| self.extent(extent)).collect();
        let extents = if extents.is_empty() { "0".into() } else { extents.join(", ") };
        let _ = writeln!(out, "        const int64_t shape[] = {{{extents}}};");
        let rank = shape.len();
        let _ = writeln!(out, "        const {structure} array = {{{data}, {number}, {rank}, shape, NULL}};");
        let _ = writeln!(out, "        status = tiga_call_{call}(call, TIGA_STR(\"{name}\"), &array, error);\n    }}");
    }

    /// An extent in C.
    fn extent(&self, extent: &Poly) -> String {
        let size = |symbol: &Symbol| {
            let found = self.sizes.iter().find(|(name, _)| name == symbol);
            found.expect("checked: a bundle declares its sizes").1.clone()
        };
        let term = |(coefficient, factors): (i64, &[Symbol])| {
            let number = (coefficient != 1 || factors.is_empty()).then(|| coefficient.to_string());
            number.into_iter().chain(factors.iter().map(size)).collect::<Vec<_>>().join(" * ")
        };
        let terms: Vec<String> = extent.terms().into_iter().map(term).collect();
        if terms.is_empty() { "0".into() } else { terms.join(" + ") }
    }
}

/// A step that only follows steps that went well.
fn step(out: &mut String, call: &str) {
    let _ = writeln!(out, "    if (status == TIGA_OK) status = {call};");
}

/// The field of a parameter: a graph, a number, or where an array is.
fn declare(out: &mut String, param: &Param, field: &str, input: bool) {
    comment(out, "    ", &param.doc);
    let (dtype, shape) = match &param.ty {
        Type::Graph { .. } => {
            let _ = writeln!(out, "    const tiga_graph *{field};");
            return;
        }
        Type::Tensor { dtype, shape } => (dtype, shape),
    };
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let ty = c_type(*dtype);
    let _ = match (input, shape.is_empty()) {
        (true, true) => writeln!(out, "    {ty} {field};"),
        (true, false) => writeln!(out, "    // [{}]\n    const {ty} *{field};", extents.join(", ")),
        (false, _) => writeln!(out, "    // [{}]\n    {ty} *{field};", extents.join(", ")),
    };
}

/// A doc comment, line by line. A backslash at the end of one would take the next line into it, also with blanks behind
/// it for some compilers.
fn comment(out: &mut String, indent: &str, doc: &str) {
    for line in doc.lines() {
        let end = if line.trim_end().ends_with('\\') { "." } else { "" };
        let _ = writeln!(out, "{indent}// {}{end}", line.trim_end());
    }
}

/// The type of an element; 16-bit numbers as their bits.
fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I32 => "int32_t",
        DType::I64 => "int64_t",
        DType::F16 | DType::BF16 => "uint16_t",
        DType::F32 => "float",
        DType::F64 => "double",
    }
}

/// Words that are no names in C11 or C++17.
const KEYWORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const \
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false \
    float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private \
    protected public register reinterpret_cast restrict return short signed sizeof static static_assert static_cast \
    struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void \
    volatile wchar_t while xor xor_eq NULL";

/// A name in C that is not taken yet.
fn field(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = model_name(name);
    while KEYWORDS.split(' ').any(|word| word == name) || !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiga_bundle::{SymbolDecl, SymbolKind};

    #[test]
    fn extents_are_formulas_of_sizes() {
        let extent = |f: &Poly| f.mul(&Poly::constant(2)).sub(&Poly::symbol("N")).add(&Poly::constant(3));
        let shape = vec![Poly::symbol("N"), Poly::symbol("F"), extent(&Poly::symbol("F"))];
        let of = |name: &str, ty| Param { name: name.into(), doc: String::new(), ty };
        let graph = Type::Graph { src: "N".into(), dst: "N".into(), edges: "g.edges".into() };
        let size = |name: &str, kind| SymbolDecl { name: name.into(), kind, origin: String::new() };
        let program = Program {
            name: "p".into(),
            doc: String::new(),
            symbols: vec![size("N", SymbolKind::Set), size("F", SymbolKind::Dim)],
            params: vec![of("g", graph), of("x", Type::Tensor { dtype: DType::F32, shape })],
            results: Vec::new(),
            plan: String::new(),
        };
        let text = header("m", &[program]);
        let line = text.lines().find(|line| line.contains("const int64_t shape[]")).unwrap_or_default().trim();
        let nodes = "(int64_t)tiga_graph_num_src(arguments->g)";
        let last = format!("2 * arguments->F + -1 * {nodes} + 3");
        assert_eq!(line, format!("const int64_t shape[] = {{{nodes}, arguments->F, {last}}};"), "{text}");
    }

    #[test]
    fn no_line_of_a_comment_goes_on_in_the_next() {
        let mut out = String::new();
        comment(&mut out, "", "rows are a \\ \nand b\\");
        assert_eq!(out, "// rows are a \\.\n// and b\\.\n");
    }

    #[test]
    fn names_are_identifiers() {
        assert_eq!(model_name("3d heat-v2"), "_3d_heat_v2");
        let mut taken = BTreeSet::new();
        let names = ["x", "x", "int", "g.src"].map(|name| field(name, &mut taken));
        assert_eq!(names, ["x", "x_", "int_", "g_src"]);
    }
}
