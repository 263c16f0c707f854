//! Printing and parsing back changes nothing; errors have a place.

use tiga_ir::{parse_module, print_module};

const HEAT: &str = r#"
reducer @sum state(s: f32 = -0.0) -> (f32 = 0.0) laws(associative, commutative) {
  lift (%x: f32) {
    yield %x
  }
  combine (%a: f32, %b: f32) {
    %r = add %a, %b : f32
    yield %r
  }
  finalize (%s: f32) {
    yield %s
  }
}

domain @heat<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %T: f32[S, F], %b: f32[D], %c: f32[E]) -> (out: f32[D, F]) {
  %out = apply %g, %T, %b, %c roles(src, dst, edge) targets(row @sum) (%t: f32[F], %b0: f32, %w: f32) {
    %m = mul %w, %t : f32[F]
    yield %m
  } (%total: f32[F], %b0: f32) {
    %o = add %total, %b0 : f32[F]
    yield %o
  } : f32[D, F] loc("heat.tg":5:19)
  return %out
} loc("heat.tg":9:1)

loops @heat.0<set S, set D, edges E, dim F, bound L = "2*div(E,512)">(%g: graph<csr, S -> D, E>, %T: buf<f32[S, F]>, %out: buf<f32[D, F]>) {
  for space(rows(D)) (%d: i64) {
    %sum = reduce %g, %d with(@sum) shape(leaf 512, acc {F == 1: 16, F < 64: 4, else 1}) over(neighbours) (%p: i64, %e: i64, %j: i64) {
      %t = load %T, %j : f32[F]
      yield %t
    } : f32[F]
    store %sum, %out, %d
    yield
  }
  return
}

kernel @count<dim F>(%F: i64, %out: ptr<f32>, %unit_begin: i64, %unit_end: i64) guard(F == 16 && F < 64) scratch("64*F") {
  %one = const value(i64 1) : i64
  jump ^head(%unit_begin)
^head(%i: i64):
  %more = lt %i, %unit_end : bool
  branch %more ^body, ^done
^body():
  %v = const value(f32 -inf) : f32
  %w = splat %v lanes(16) : v16f32
  ptr.store %w, %out, %i
  %next = add %i, %one : i64
  jump ^head(%next)
^done():
  return
}
"#;

#[test]
fn printing_is_a_fixed_point() {
    let once = print_module(&parse_module("heat.tir", HEAT).unwrap());
    let twice = print_module(&parse_module("heat.tir", &once).unwrap());
    assert_eq!(once, twice);
    assert!(
        once.contains(r#"loc("heat.tg":5:19)"#) && once.contains("guard(F == 16 && F < 64) scratch(\"64*F\")"),
        "{once}"
    );
}

#[test]
fn errors_have_a_place() {
    for (text, message) in [
        ("domain @f() { return %x }", "bad.tir:1:22: `%x` is not declared"),
        ("domain @f() {\n  frobnicate\n}", "bad.tir:3:1: `frobnicate` is not declared"),
        ("domain @f(%a: f32, %a: f32) { return }", "`%a` is declared twice"),
        ("domain @f(%a: f33) { return }", "expected"),
        ("domain @f() { return } $", "bad.tir:1:24: `$` begins no token"),
        ("kernel @f() { jump ^nowhere }", "`^nowhere` is not declared"),
    ] {
        let error = parse_module("bad.tir", text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}\nshould contain\n{message}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!("loops @f() {{ {}", "for space(once) { ".repeat(100_000));
    assert!(parse_module("deep.tir", &text).unwrap_err().to_string().contains("nested deeper"));
}
