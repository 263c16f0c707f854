//! Every law of every verifier: files that break one each, and what the text form cannot say.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tiga_ir::verify::{Law, Machine, Violations, kernel, structure, verify};
use tiga_ir::{Attrs, Func, InstData, Level, Module, Scalar, Type, ValueDef, ops, parse_module};

/// Names of the laws that a module breaks.
fn broken(module: &Module, machine: Machine) -> BTreeSet<String> {
    match verify(module, machine) {
        Ok(()) => BTreeSet::new(),
        Err(Violations(all)) => all.iter().map(|v| v.rule.name()).collect(),
    }
}

fn breaks(module: &Module, law: impl Into<Law>) {
    assert_eq!(broken(module, Machine::FULL), BTreeSet::from([law.into().name()]));
}

fn module(text: &str) -> Module {
    parse_module("test.tir", text).unwrap_or_else(|e| panic!("{e}"))
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "tir") {
            out.push(path);
        }
    }
}

#[test]
fn each_file_breaks_exactly_its_law() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testsuite/verify");
    let mut all = Vec::new();
    files(&folder, &mut all);
    all.sort();
    assert!(all.len() > 40, "the files were not found");
    let mut wrong = Vec::new();
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let expected =
            text.lines().find_map(|l| l.split_once("expected-rule:")).map(|(_, name)| name.trim().to_owned());
        let (found, expected) = (broken(&module(&text), Machine::FULL), expected.into_iter().collect());
        if found != expected {
            wrong.push(format!("{}: {found:?}, expected {expected:?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_violation_points_at_what_is_wrong() {
    let text = "domain @f(%x: f32, %n: i64) -> (y: f32) {\n  %y = add %x, %n : f32 loc(\"a.tg\":3:7)\n  return %y\n}";
    let error = verify(&module(text), Machine::FULL).unwrap_err().to_string();
    assert!(error.starts_with("a.tg:3:7: domain @f breaks IllTyped: "), "{error}");
    assert!(error.contains("; `%y = add %x, %n`: operand 1 of `add` has type i64"), "{error}");
}

const KERNEL: &str = "
kernel @k<set N>(%x: ptr<f32>, %unit_begin: i64, %unit_end: i64) {
  %a = ptr.load %x, %unit_begin : f32
  jump ^1(%a)
^1(%b: f32):
  %c = fma %b, %b, %b : f32
  ptr.store %c, %x, %unit_begin
  return
}";

#[test]
fn fma_needs_a_machine_that_has_it() {
    let module = module(KERNEL);
    assert_eq!(broken(&module, Machine::FULL), BTreeSet::new());
    let law = Law::from(kernel::Rule::MachineFma).name();
    assert_eq!(broken(&module, Machine { fma: false, ..Machine::FULL }), BTreeSet::from([law]));
}

#[test]
fn conversions_of_f16_need_a_machine_that_has_them() {
    let law = Law::from(kernel::Rule::MachineF16c).name();
    let bare = Machine { f16c: false, ..Machine::FULL };
    for (half, expected) in [("f16", BTreeSet::from([law])), ("bf16", BTreeSet::new())] {
        let text = KERNEL.replace("ptr<f32>", &format!("ptr<{half}>")).replace(
            "%a = ptr.load %x, %unit_begin : f32",
            &format!("%h = ptr.load %x, %unit_begin : {half}\n  %a = cast %h to(f32) : f32"),
        );
        let text = text.replace("ptr.store %c, %x", &format!("%d = cast %c to({half}) : {half}\n  ptr.store %d, %x"));
        assert_eq!(broken(&module(&text), Machine::FULL), BTreeSet::new());
        assert_eq!(broken(&module(&text), bare), expected);
    }
}

/// The module of `KERNEL`, changed.
fn changed(change: impl FnOnce(&mut Func)) -> Module {
    let mut module = module(KERNEL);
    change(&mut module.funcs["k"]);
    module
}

#[test]
fn a_definition_must_stand_before_its_uses() {
    let late = changed(|f| {
        let entry = f.body.entry(f.region);
        f.body.block_mut(entry).insts.remove(0);
    });
    breaks(&late, structure::Rule::NotInScope);
}

#[test]
fn nothing_stands_twice() {
    let twice = changed(|f| {
        let entry = f.body.entry(f.region);
        let first = f.body.block(entry).insts[0];
        f.body.block_mut(entry).insts.insert(1, first);
    });
    breaks(&twice, structure::Rule::StandsTwice);
    let foreign = changed(|f| {
        let entry = f.body.entry(f.region);
        let first = f.body.block(entry).insts[0];
        let block = f.body.region(f.region).blocks[1];
        assert_eq!(f.body.value(f.body.result(first)).def, ValueDef::Result(first, 0));
        let stranger = f.body.block(block).params[0];
        f.body.block_mut(entry).params.push(stranger);
    });
    assert!(broken(&foreign, Machine::FULL).contains(&Law::from(structure::Rule::StandsTwice).name()));
}

#[test]
fn jumps_stay_in_their_region_and_off_its_entry() {
    let entry = changed(|f| {
        let entry = f.body.entry(f.region);
        let jump = f.body.block(entry).insts[1];
        f.body.inst_mut(jump).targets = vec![(entry, Vec::new())];
    });
    assert!(broken(&entry, Machine::FULL).contains(&Law::from(structure::Rule::ForeignTarget).name()));
    let outside = changed(|f| {
        let other = f.body.add_region();
        let block = f.body.entry(other);
        let entry = f.body.entry(f.region);
        let jump = f.body.block(entry).insts[1];
        f.body.inst_mut(jump).targets[0].0 = block;
    });
    assert!(broken(&outside, Machine::FULL).contains(&Law::from(structure::Rule::ForeignTarget).name()));
}

const SUM: &str = "
reducer @sum state(s: f32 = -0.0) -> (f32 = 0.0) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) {
    %r = add %a, %b : f32
    yield %r
  }
  finalize (%s: f32) { yield %s }
}";

#[test]
fn a_reducer_sees_nothing_but_its_parameters() {
    let mut captures = module(SUM);
    let reducer = &mut captures.reducers["sum"];
    let message = reducer.body.block(reducer.body.entry(reducer.lift)).params[0];
    let combine = reducer.body.entry(reducer.combine);
    let add = reducer.body.block(combine).insts[0];
    reducer.body.inst_mut(add).operands[1] = message;
    breaks(&captures, structure::Rule::NotInScope);
}

#[test]
fn constants_of_a_reducer_have_the_types_they_stand_for() {
    let mut wrong = module(SUM);
    wrong.reducers["sum"].state[0].identity = Some(Scalar::F64(-0.0));
    breaks(&wrong, structure::Rule::ReducerConstant);
    let mut wrong = module(SUM);
    wrong.reducers["sum"].empty = Vec::new();
    breaks(&wrong, structure::Rule::ReducerConstant);
}

#[test]
fn a_function_without_code_breaks_laws_and_nothing_else() {
    for level in Level::ALL {
        let mut module = Module::new();
        module.add(Func::new("f", level));
        breaks(&module, structure::Rule::MissingTerminator);
    }
    let mut func = Func::new("f", Level::Domain);
    let data = InstData {
        op: ops::APPLY,
        operands: Vec::new(),
        results: Vec::new(),
        attrs: Attrs::new(),
        regions: Vec::new(),
        targets: Vec::new(),
        loc: func.loc.clone(),
    };
    for op in ops::ALL {
        let inst = func.body.add_inst(InstData { op: *op, ..data.clone() });
        func.body.add_result(inst, Type::Vector(tiga_abi::DType::F32, 4));
        let entry = func.body.entry(func.region);
        func.body.block_mut(entry).insts.push(inst);
    }
    let mut module = Module::new();
    module.add(func);
    assert!(broken(&module, Machine::FULL).contains(&Law::from(structure::Rule::IllTyped).name()));
}

#[test]
fn the_worked_programs_keep_every_law() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../testsuite/programs"), &mut all);
    assert!(all.len() >= 5, "the files were not found");
    for path in all {
        let module = module(&std::fs::read_to_string(&path).unwrap());
        verify(&module, Machine::FULL).unwrap_or_else(|e| panic!("{}:\n{e}", path.display()));
    }
}
