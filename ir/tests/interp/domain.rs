//! The domain level: worked values of graph-and-store.md §3.1, language.md's heat, and the laws of empty rows.

use crate::*;
use tiga_ir::interp::run_domain;

/// `out[d] = Σ c·T + b`, for any feature shape.
const HEAT: &str = "
domain @heat<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %T: f32[S], %b: f32[D], %c: f32[E]) -> (out: f32[D]) {
  %out = apply %g, %T, %b, %c roles(src, dst, edge) targets(row @sum) (%t: f32, %b0: f32, %w: f32) {
    %m = mul %w, %t : f32
    yield %m
  } (%total: f32, %b0: f32) {
    %o = add %total, %b0 : f32
    yield %o
  } : f32[D]
  return %out
}
domain @weighted<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %x: f32[S, F], %w: f32[E]) -> (out: f32[D, F]) {
  %out = apply %g, %x, %w roles(src, edge) targets(row @sum) (%t: f32[F], %c: f32) {
    %m = mul %c, %t : f32[F]
    yield %m
  } : f32[D, F]
  return %out
}
domain @difference<set N, edges E>(%g: graph<csr, N -> N, E>, %x: f32[N], %w: f32[E]) -> (out: f32[N]) {
  %out = apply %g, %x, %x, %w roles(src, dst, edge) targets(row @sum) (%s: f32, %d: f32, %c: f32) {
    %e = sub %s, %d : f32
    %m = mul %c, %e : f32
    yield %m
  } : f32[N]
  return %out
}
";

/// A reducer on the sources' values.
fn reduce_sources(reducer: &str) -> Module {
    module(&format!(
        "domain @f<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %x: f32[S, F]) -> (out: f32[D, F]) {{
          %out = apply %g, %x roles(src) targets(row @{reducer}) (%t: f32[F]) {{ yield %t }} : f32[D, F]
          return %out
        }}"
    ))
}

#[test]
fn heat_has_the_values_of_the_language_page() {
    let g = csr(3, &[0, 2, 3, 5], &[0, 2, 1, 0, 1]);
    let args = [g.into(), field(&[1.0f32, 2.0, 3.0]), field(&[0.1f32, 0.2, 0.3]), field(&[2.0f32, 3.0, 4.0, 5.0, 6.0])];
    let out = run_domain(&module(HEAT), "heat", &args).unwrap();
    assert_close(&numbers(&out[0]), &[11.1, 8.2, 17.3], 1e-6);
}

#[test]
fn weighted_sums_and_differences() {
    let g = csr(3, &[0, 2, 3, 5], &[0, 2, 1, 0, 1]);
    let module = module(HEAT);
    let args = [g.clone().into(), field(&[1.0f32, 2.0, 4.0]), field(&[2.0f32, 3.0, 4.0, 5.0, 6.0])];
    let out = run_domain(&module, "difference", &args).unwrap();
    assert_eq!(numbers::<f32>(&out[0]), [9.0, 0.0, -27.0]);
    let x = tensor(&[3, 2], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let args = [g.into(), x, field(&[0.5f32, 1.0, 2.0, 1.5, 0.25])];
    let out = run_domain(&module, "weighted", &args).unwrap();
    assert_eq!(numbers::<f32>(&out[0]), [5.5, 7.0, 6.0, 8.0, 2.25, 4.0]);
    for (row_ptr, col, w, expected) in [
        (&[0, 2, 3, 3], [0, 1, 1], [4.0f32, 5.0, 2.0], &[23.0f32, 6.0, 0.0][..]),
        (&[0, 2, 3, 3], [0, 1, 0], [1.0, 2.0, 4.0], &[8.0, 8.0, 0.0]),
    ] {
        let args = [csr(2, row_ptr, &col).into(), tensor(&[2, 1], &[2.0f32, 3.0]), field(&w)];
        assert_eq!(numbers::<f32>(&run_domain(&module, "weighted", &args).unwrap()[0]), expected);
    }
}

#[test]
fn means_and_products_of_rows() {
    let g = || Value::from(csr(3, &[0, 2, 3, 5], &[0, 2, 1, 0, 1]));
    let mean = reduce_sources("mean");
    let args = [g(), tensor(&[3, 1], &[1.0f32, 2.0, 4.0])];
    assert_eq!(numbers::<f32>(&run_domain(&mean, "f", &args).unwrap()[0]), [2.5, 2.0, 1.5]);
    let args = [g(), tensor(&[3, 2], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])];
    assert_eq!(numbers::<f32>(&run_domain(&mean, "f", &args).unwrap()[0]), [3.0, 4.0, 3.0, 4.0, 2.0, 3.0]);
    let prod = reduce_sources("prod");
    let args = [csr(3, &[0, 2, 2, 5], &[0, 1, 0, 1, 2]).into(), tensor(&[3, 1], &[2.0f32, 3.0, 5.0])];
    assert_eq!(numbers::<f32>(&run_domain(&prod, "f", &args).unwrap()[0]), [6.0, 1.0, 30.0]);
    // The mean of an empty row is 0 here.
    let args = [csr(3, &[0, 2, 2, 4], &[0, 2, 0, 1]).into(), tensor(&[3, 1], &[2.0f32, 4.0, 8.0])];
    assert_eq!(numbers::<f32>(&run_domain(&mean, "f", &args).unwrap()[0]), [5.0, 0.0, 3.0]);
    assert_eq!(numbers::<f32>(&run_domain(&prod, "f", &args).unwrap()[0]), [16.0, 1.0, 8.0]);
}
