//! Line tables: which line of the model each machine instruction is for, in DWARF, so that debuggers and profilers
//! show it.

use crate::{OptLevel, symbol_name};
use indexmap::IndexMap;
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIFlags, DIFlagsConstants, DILocation, DIScope, DISubprogram, DISubroutineType,
    DWARFEmissionKind, DWARFSourceLanguage, DebugInfoBuilder,
};
use inkwell::module::{FlagBehavior, Module};
use inkwell::values::FunctionValue;
use std::sync::Arc;
use tiga_ir::Func;
use tiga_source::Loc;

/// The version of DWARF. Every debugger and profiler in use reads it.
const DWARF: u64 = 4;

/// The lines of a module.
pub(crate) struct Lines<'c> {
    context: &'c Context,
    builder: DebugInfoBuilder<'c>,
    unit: DICompileUnit<'c>,
    /// The type of all kernels, which says nothing of parameters: lines are all that is told.
    ty: DISubroutineType<'c>,
    optimised: bool,
    files: IndexMap<Arc<str>, DIFile<'c>>,
}

impl<'c> Lines<'c> {
    /// Begins the tables of a module; there are none if no kernel has a place.
    pub(crate) fn new<'f>(
        context: &'c Context,
        module: &Module<'c>,
        mut kernels: impl Iterator<Item = &'f Func>,
        opt: OptLevel,
    ) -> Option<Self> {
        let main = kernels.find(|kernel| kernel.loc.is_known())?.loc.file().clone();
        let number = |value| context.i32_type().const_int(value, false);
        module.add_basic_value_flag("Dwarf Version", FlagBehavior::Warning, number(DWARF));
        let version = inkwell::debug_info::debug_metadata_version();
        module.add_basic_value_flag("Debug Info Version", FlagBehavior::Warning, number(version.into()));
        let optimised = opt != OptLevel::O0;
        // Without a folder: the name is all that is known of the file (`Sources::loc`). In full, though there are no
        // types and no variables: gdb does not look at units of which it is told no function.
        let (builder, unit) = module.create_debug_info_builder(
            false,
            DWARFSourceLanguage::C,
            &main,
            "",
            "tigac",
            optimised,
            "",
            0,
            "",
            DWARFEmissionKind::Full,
            0,
            false,
            false,
            "",
            "",
        );
        let file = unit.get_file();
        let ty = builder.create_subroutine_type(file, None, &[], DIFlags::ZERO);
        Some(Self { context, builder, unit, ty, optimised, files: IndexMap::from([(main, file)]) })
    }

    /// The lines of one kernel, which begin at its own; `None` if it has no place.
    pub(crate) fn kernel(&mut self, func: &Func, target: FunctionValue<'c>) -> Option<KernelLines<'_, 'c>> {
        if !func.loc.is_known() {
            return None;
        }
        let symbol = symbol_name(&func.name);
        let kernel = self.function(&func.loc, &func.name, &symbol);
        target.set_subprogram(kernel);
        let inside = self.function(&func.loc, func.of.as_ref().unwrap_or(&func.name), "");
        let scopes = IndexMap::from([(func.loc.file().clone(), inside.as_debug_info_scope())]);
        let [kernel, inside] = [kernel, inside].map(|function| function.as_debug_info_scope());
        Some(KernelLines { lines: self, own: func.loc.clone(), kernel, inside, scopes, call: None })
    }

    /// Ends the tables.
    pub(crate) fn finish(self) {
        self.builder.finalize();
    }

    fn file(&mut self, name: &Arc<str>) -> DIFile<'c> {
        let builder = &self.builder;
        *self.files.entry(name.clone()).or_insert_with(|| builder.create_file(name, ""))
    }

    fn function(&mut self, loc: &Loc, name: &str, symbol: &str) -> DISubprogram<'c> {
        let (file, line) = (self.file(loc.file()), loc.line());
        let unit = self.unit.as_debug_info_scope();
        let flags = DIFlags::ZERO;
        self.builder.create_function(
            unit,
            name,
            Some(symbol),
            file,
            line,
            self.ty,
            false,
            true,
            line,
            flags,
            self.optimised,
        )
    }

    fn location(&self, loc: &Loc, scope: DIScope<'c>, call: Option<DILocation<'c>>) -> DILocation<'c> {
        self.builder.create_debug_location(self.context, loc.line(), loc.column(), scope, call)
    }
}

/// The lines of one kernel. What has the kernel's own place, the loops around a message, is told as the kernel; all else
/// as its loops function, which each block inlines anew. For gdb stops at one address for a line of a function, the
/// lowest: that is where sixteen edges are folded at once, which a short row never gets to.
pub(crate) struct KernelLines<'l, 'c> {
    lines: &'l mut Lines<'c>,
    own: Loc,
    kernel: DIScope<'c>,
    inside: DIScope<'c>,
    /// What stands for a file in the loops function.
    scopes: IndexMap<Arc<str>, DIScope<'c>>,
    /// Where this block inlines the loops function.
    call: Option<DILocation<'c>>,
}

impl<'c> KernelLines<'_, 'c> {
    /// Begins a block.
    pub(crate) fn block(&mut self) {
        self.call = None;
    }

    /// A place. What has none is on line 0, by which DWARF means code that no line is to blame for.
    pub(crate) fn location(&mut self, loc: &Loc) -> DILocation<'c> {
        if *loc == self.own || !loc.is_known() {
            return self.lines.location(loc, self.kernel, None);
        }
        let call = match self.call {
            Some(call) => call,
            None => self.inline(),
        };
        let scope = self.scope(loc.file());
        self.lines.location(loc, scope, Some(call))
    }

    /// Calls that are at one place are told apart by a scope of their own.
    fn inline(&mut self) -> DILocation<'c> {
        let scope = self.part(self.kernel, &self.own.clone());
        let call = self.lines.location(&self.own, scope, None);
        self.call = Some(call);
        call
    }

    fn scope(&mut self, name: &Arc<str>) -> DIScope<'c> {
        if let Some(scope) = self.scopes.get(name) {
            return *scope;
        }
        let scope = self.part(self.inside, &Loc::new(name.clone(), 0, 0));
        self.scopes.insert(name.clone(), scope);
        scope
    }

    fn part(&mut self, of: DIScope<'c>, loc: &Loc) -> DIScope<'c> {
        let file = self.lines.file(loc.file());
        self.lines.builder.create_lexical_block(of, file, loc.line(), loc.column()).as_debug_info_scope()
    }
}

#[cfg(test)]
mod tests {
    use crate::{OptLevel, Options, compile};
    use tiga_abi::{CpuTarget, Symbol};
    use tiga_ir::parse_module;

    const PARAMS: &str = "(%x: ptr<f32>, %unit_begin: i64, %unit_end: i64)";

    fn llvm_ir(text: &str, kernels: &[&str]) -> String {
        let module = parse_module("k.tir", text).unwrap();
        let kernels: Vec<Symbol> = kernels.iter().map(|name| (*name).into()).collect();
        let options = Options { target: CpuTarget::X86_64V3, opt: OptLevel::O0 };
        compile(&module, &kernels, &options).unwrap().llvm_ir().to_owned()
    }

    #[test]
    fn places_of_another_file_and_no_places_are_told_apart() {
        let text = format!(
            "kernel @k{PARAMS} {{\n  %a = ptr.load %x, %unit_begin : f32 loc(\"b.tg\":3:1)\n  ptr.store %a, %x, %unit_end\n  \
             return loc(\"a.tg\":1:2)\n}} loc(\"a.tg\":1:2)\nkernel @bare{PARAMS} {{ return }}"
        );
        let ir = llvm_ir(&text, &["k", "bare"]);
        // The number of the only node with a text.
        let node = |text: &str| {
            let found: Vec<&str> = ir.lines().filter(|line| line.contains(text)).collect();
            let [line] = found[..] else { panic!("{text}: {found:?}\n{ir}") };
            line.split(' ').next().unwrap().to_owned()
        };
        let other = node("!DIFile(filename: \"b.tg\", directory: \"\")");
        let scope = node(&format!("!DILexicalBlock(scope: {}, file: {other})", node("name: \"k\", scope")));
        let kernel = node("linkageName: \"tiga.k\"");
        let block = node(&format!("!DILexicalBlock(scope: {kernel}, "));
        let call = node(&format!("!DILocation(line: 1, column: 2, scope: {block})"));
        assert!(ir.contains(&format!("!DILocation(line: 3, column: 1, scope: {scope}, inlinedAt: {call})")), "{ir}");
        assert!(ir.contains(&format!("!DILocation(line: 0, scope: {kernel})")), "{ir}");
        let bare = ir.lines().find(|line| line.starts_with("define void @tiga.bare")).unwrap();
        assert!(!bare.contains("!dbg"), "{bare}");
    }

    #[test]
    fn without_any_place_there_are_no_tables() {
        let ir = llvm_ir(&format!("kernel @bare{PARAMS} {{ return }}"), &["bare"]);
        assert!(!ir.contains("!DI") && !ir.contains("Debug Info Version"), "{ir}");
    }
}
