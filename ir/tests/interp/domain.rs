//! The domain level: worked values of graph-and-store.md §3.1, language.md's heat, and the laws of empty rows.

use crate::*;
use tiga_ir::interp::{ErrorKind, Options, Place, run_domain, run_domain_with};

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
    let args = [args[0].clone(), args[1].clone(), args[2].clone(), field(&[0.5f32; 5])];
    let out = run_domain(&module(HEAT), "heat", &args).unwrap();
    assert_close(&numbers(&out[0]), &[2.1, 1.2, 1.8], 1e-6);
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

#[test]
fn blocks_and_a_periodic_grid() {
    // Two dense blocks of two nodes.
    let g = csr(4, &[0, 2, 4, 6, 8], &[0, 1, 0, 1, 2, 3, 2, 3]);
    let args = [g.into(), tensor(&[4, 1], &[1.0f32, 2.0, 3.0, 4.0])];
    assert_eq!(numbers::<f32>(&run_domain(&reduce_sources("sum"), "f", &args).unwrap()[0]), [3.0, 3.0, 7.0, 7.0]);
    // The five-point mean of x[n] = n on a periodic 5 by 5 grid.
    let at = |row: i64, column: i64| row.rem_euclid(5) * 5 + column.rem_euclid(5);
    let around = |n: i64| [(0, 0), (-1, 0), (0, -1), (0, 1), (1, 0)].map(|(r, c)| at(n / 5 + r, n % 5 + c));
    let col: Vec<i64> = (0..25).flat_map(around).collect();
    let row_ptr: Vec<i64> = (0..=25).map(|n| 5 * n).collect();
    let x: Vec<f32> = (0..25u8).map(f32::from).collect();
    let args = [csr(25, &row_ptr, &col).into(), tensor(&[25, 1], &x)];
    let out = numbers::<f32>(&run_domain(&reduce_sources("mean"), "f", &args).unwrap()[0]);
    assert_eq!((out[12], out[0]), (12.0, 6.0));
}

#[test]
fn a_ring_of_four() {
    let module = module(
        "domain @ring<set N, edges E>(%g: graph<csr, N -> N, E>, %u: f32[N], %c: f32[E]) -> (out: f32[N], flux: f32[N]) {
          %tenth = const value(f32 0.1) : f32
          %out, %flux = apply %g, %u, %u, %c roles(src, dst, edge) targets(row @sum) (%s: f32, %d: f32, %w: f32) {
            %e = sub %s, %d : f32
            %m = mul %w, %e : f32
            yield %m
          } (%fl: f32, %here: f32) {
            %m2 = mul %tenth, %fl : f32
            %o = add %here, %m2 : f32
            yield %o, %fl
          } : f32[N], f32[N]
          return %out, %flux
        }",
    );
    let ring = csr(4, &[0, 2, 4, 6, 8], &[3, 1, 0, 2, 1, 3, 2, 0]);
    let args = [ring.into(), field(&[0.0f32, 1.0, 0.5, -0.5]), field(&[1.0f32; 8])];
    let out = run_domain(&module, "ring", &args).unwrap();
    assert_close(&numbers(&out[0]), &[0.05, 0.85, 0.45, -0.35], 1e-6);
    assert_eq!(numbers::<f32>(&out[1]), [0.5, -1.5, -0.5, 1.5]);
}

const PAGERANK: &str = "
domain @pagerank<set N, edges E>(%g: graph<csr, N -> N, E>, %damping: f64, %tol: f64) -> (rank: f64[N], rounds: i64) {
  %zero = const value(f64 0.0) : f64
  %one = const value(f64 1.0) : f64
  %inf = const value(f64 inf) : f64
  %k0 = const value(i64 0) : i64
  %k1 = const value(i64 1) : i64
  %len = len dims(i64[N]) : i64
  %n = cast %len to(f64) : f64
  %t = transpose %g : graph<transpose, N -> N, E>
  %degree = degree %t : i64[N]
  %d = cast %degree to(f64) : f64[N]
  %start = div %one, %n : f64
  %r0 = fill %start dims(f64[N]) : f64[N]
  %rank, %delta, %rounds = while %r0, %inf, %k0 at_most(200) (%r: f64[N], %delta: f64, %k: i64) {
    %go = gt %delta, %tol : bool
    yield %go
  } (%r.1: f64[N], %delta.1: f64, %k.1: i64) {
    %none = eq %d, %zero : bool[N]
    %lost = select %none, %r.1, %zero : f64[N]
    %dangling = reduce_set %lost with(@sum64) : f64
    %back = mul %damping, %dangling : f64
    %rest = sub %one, %damping : f64
    %all = add %rest, %back : f64
    %each = div %all, %n : f64
    %base = fill %each dims(f64[N]) : f64[N]
    %next = apply %g, %r.1, %d, %base, %damping roles(src, src, dst, param) targets(row @sum64) (%sr: f64, %sd: f64, %b: f64, %dp: f64) {
      %m = div %sr, %sd : f64
      yield %m
    } (%total: f64, %b.1: f64, %dp.1: f64) {
      %m.1 = mul %dp.1, %total : f64
      %o = add %b.1, %m.1 : f64
      yield %o
    } : f64[N]
    %diff = sub %next, %r.1 : f64[N]
    %abs = abs %diff : f64[N]
    %sum = reduce_set %abs with(@sum64) : f64
    %k.2 = add %k.1, %k1 : i64
    yield %next, %sum, %k.2
  } : f64[N], f64, i64
  return %rank, %rounds
}
";

fn pagerank(g: &Relation, tol: f64, at_most: usize) -> (Vec<f64>, i64) {
    let module = module(&PAGERANK.replace("at_most(200)", &format!("at_most({at_most})")));
    let out = run_domain(&module, "pagerank", &[g.clone().into(), scalar(0.85f64), scalar(tol)]).unwrap();
    (numbers(&out[0]), numbers::<i64>(&out[1])[0])
}

#[test]
fn pagerank_with_a_dangling_node() {
    let g = csr(4, &[0, 1, 2, 3, 3], &[2, 0, 1]);
    let close = |found: &[f64], x: f64, y: f64, tolerance: f64| {
        assert!(found[..3].iter().all(|r| (r - x).abs() < tolerance) && (found[3] - y).abs() < tolerance, "{found:?}");
    };
    let (one, rounds) = pagerank(&g, 0.0, 1);
    close(&one, 0.303125, 0.090625, 1e-15);
    assert_eq!(rounds, 1);
    let (twenty, rounds) = pagerank(&g, 0.0, 20);
    close(&twenty, 0.317_460_3, 0.047_619_0, 1e-7);
    assert_eq!(rounds, 20);
    // The bound is no error, a condition that never holds is no round.
    assert_eq!(pagerank(&g, f64::INFINITY, 200).1, 0);
    assert!(pagerank(&g, 1e-10, 200).1 < 30);
}

#[test]
fn special_values_in_rows() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let row = |reducer: &str, xs: &[f32]| {
        let col: Vec<i64> = (0..xs.len() as i64).collect();
        let args = [csr(xs.len(), &[0, xs.len() as i64], &col).into(), tensor(&[xs.len(), 1], xs)];
        numbers::<f32>(&run_domain(&reduce_sources(reducer), "f", &args).unwrap()[0])[0]
    };
    for (reducer, xs, expected) in [
        ("sum", &[][..], 0.0),
        ("sum", &[-0.0], -0.0),
        ("sum", &[-0.0, -0.0], -0.0),
        ("sum", &[-0.0, 0.0], 0.0),
        ("sum", &[inf, 1.0, -inf], nan),
        ("sum", &[1e30, 1.0, -1e30], 0.0),
        ("prod", &[0.0, inf], nan),
        ("mean", &[inf], inf),
        ("max", &[], -inf),
        ("max", &[-0.0, 0.0], 0.0),
        ("max", &[1.0, nan, 2.0], nan),
        ("max", &[-inf], -inf),
        ("last", &[3.0, 4.0], 4.0),
        ("last", &[], -1.0),
        ("horner", &[1.0, 2.0, 3.0], 123.0),
    ] {
        assert_bits(&[row(reducer, xs)], &[expected]);
    }
}

#[test]
fn softmax_of_special_scores() {
    let module = module(
        "domain @f<set S, set T, edges E, dim D>(%g: graph<csr, S -> T, E>, %s: f32[S], %v: f32[S, D]) -> (out: f32[T, D]) {
          %out = apply %g, %s, %v roles(src, src) targets(row @online_softmax) (%s0: f32, %v0: f32[D]) { yield %s0, %v0 } : f32[T, D]
          return %out
        }",
    );
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let row = |scores: &[f32], values: &[f32]| {
        let n = scores.len();
        let col: Vec<i64> = (0..n as i64).collect();
        let args = [csr(n, &[0, n as i64], &col).into(), field(scores), tensor(&[n, 2], values)];
        numbers::<f32>(&run_domain(&module, "f", &args).unwrap()[0])
    };
    assert_bits(&row(&[], &[]), &[0.0, 0.0]);
    assert_bits(&row(&[-inf, -inf], &[1.0, 2.0, 3.0, 4.0]), &[0.0, 0.0]);
    assert_bits(&row(&[0.5, nan], &[1.0, 2.0, 3.0, 4.0]), &[nan, nan]);
    assert_bits(&row(&[-inf, 2.0], &[1.0, 2.0, 3.0, 4.0]), &[3.0, 4.0]);
    assert_bits(&row(&[1000.0, 1000.0], &[1.0, 2.0, 3.0, 4.0]), &[2.0, 3.0]);
}

#[test]
fn argmax_takes_the_first_greatest_and_nan_above_all() {
    let module = module(
        "domain @f<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %v: f32[S], %i: i64[E]) -> (out: i64[D]) {
          %out = apply %g, %v, %i roles(src, edge) targets(row @argmax) (%v0: f32, %i0: i64) { yield %v0, %i0 } : i64[D]
          return %out
        }",
    );
    let nan = f32::NAN;
    let g = csr(5, &[0, 3, 6, 6, 8], &[0, 1, 2, 3, 4, 3, 3, 0]);
    let args = [g.into(), field(&[1.0f32, 2.0, 2.0, nan, 9.0]), field(&[0i64, 1, 2, 3, 4, 5, 6, 7])];
    assert_eq!(numbers::<i64>(&run_domain(&module, "f", &args).unwrap()[0]), [1, 3, -1, 6]);
}

#[test]
fn edges_totals_and_kept_states() {
    let module = module(
        "domain @f<set S, set D, edges E>(%g: graph<transpose, S -> D, E>, %x: f32[S], %w: f32[E], %k: f32) -> (row: f32[D], s: f32[D], n: i64[D], edge: f32[E], sum: f32, max: f32) {
          %row, %s, %n, %edge, %sum, %max = apply %g, %x, %w, %k roles(src, edge, param) targets(edge, row @mean keep, total @sum, total @max) (%x0: f32, %w0: f32, %k0: f32) {
            %m = mul %w0, %x0 : f32
            %km = mul %k0, %m : f32
            yield %km, %m, %w0, %x0
          } : f32[D], f32[D], i64[D], f32[E], f32, f32
          return %row, %s, %n, %edge, %sum, %max
        }",
    );
    // The transpose of [0, 2, 3, 5], [0, 2, 1, 0, 1]: rows (edges 0 3), (edges 2 4), (edge 1), all sources of the first.
    let g = csr(3, &[0, 2, 3, 5], &[0, 2, 1, 0, 1]).transposed().unwrap();
    let args = [g.into(), field(&[1.0f32, 2.0, 4.0]), field(&[2.0f32, 3.0, 4.0, 5.0, 6.0]), scalar(10.0f32)];
    let out = run_domain(&module, "f", &args).unwrap();
    assert_eq!(numbers::<f32>(&out[0]), [11.0, 16.0, 3.0]);
    assert_eq!(numbers::<f32>(&out[1]), [22.0, 32.0, 3.0]);
    assert_eq!(numbers::<i64>(&out[2]), [2, 2, 1]);
    assert_eq!(numbers::<f32>(&out[3]), [20.0, 30.0, 80.0, 200.0, 240.0]);
    assert_eq!((numbers::<f32>(&out[4]), numbers::<f32>(&out[5])), (vec![20.0], vec![4.0]));
    let none = csr(3, &[0, 0, 0, 0], &[]).transposed().unwrap();
    let args = [none.into(), field(&[1.0f32; 3]), field::<f32>(&[]), scalar(10.0f32)];
    let out = run_domain(&module, "f", &args).unwrap();
    assert_bits(&numbers(&out[1]), &[-0.0; 3]);
    assert_eq!((numbers::<f32>(&out[3]), numbers::<f32>(&out[4])), (vec![], vec![0.0]));
    let empty = csr(0, &[0], &[]).transposed().unwrap();
    let args = [empty.into(), field::<f32>(&[]), field::<f32>(&[]), scalar(10.0f32)];
    assert_eq!(run_domain(&module, "f", &args).unwrap()[1].as_tensor().unwrap().shape(), [0]);
}

#[test]
fn a_state_without_elements_needs_an_identity() {
    let module = module(
        "domain @f<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %x: f32[S]) -> (row: f32[D], state: f32[D]) {
          %row, %s = apply %g, %x roles(src) targets(row @last keep) (%x0: f32) { yield %x0 } : f32[D], f32[D]
          return %row, %s
        }",
    );
    let error = run_domain(&module, "f", &[csr(1, &[0, 0], &[]).into(), field(&[1.0f32])]).unwrap_err();
    assert_eq!(*error.kind, ErrorKind::NoIdentity { reducer: "last".into() });
    assert_eq!(error.op, Some("apply"));
}

#[test]
fn small_tensors_and_fields() {
    let module = module(
        "domain @f<set N, dim F>(%a: f32[N, F], %b: f32[F, 2], %s: f32[N], %v: f32[F]) -> (p: f32[N, 2], q: f32[N, F], r: f32[N], t: f32[F], m: i64, c: f32[N, 3*F], o: f32[F, 2]) {
          %p = matmul %a, %b : f32[N, 2]
          %x = mul %a, %v : f32[N, F]
          %q = add %x, %s : f32[N, F]
          %r = reduce_axis %a axis(0) with(@sum) : f32[N]
          %t = reduce_set %a with(@max) : f32[F]
          %m = len dims(i64[3*F]) : i64
          %c = concat %a, %q, %a : f32[N, 3*F]
          %k = reduce_axis %b axis(0) with(@mean) : f32[2]
          %o = outer %v, %k : f32[F, 2]
          return %p, %q, %r, %t, %m, %c, %o
        }",
    );
    let run = |a: Value, b: Value, s: Value, v: Value| run_domain(&module, "f", &[a, b, s, v]).unwrap();
    let a = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let out = run(
        tensor(&[2, 3], &a),
        tensor(&[3, 2], &[2.0f32, 1.0, 0.0, 3.0, 4.0, -1.0]),
        field(&[10.0f32, 20.0]),
        field(&[1.0f32, 0.0, -1.0]),
    );
    assert_eq!(numbers::<f32>(&out[0]), [14.0, 4.0, 32.0, 13.0]);
    assert_eq!(numbers::<f32>(&out[1]), [11.0, 10.0, 7.0, 24.0, 20.0, 14.0]);
    assert_eq!(numbers::<f32>(&out[2]), [6.0, 15.0]);
    assert_eq!(numbers::<f32>(&out[3]), [4.0, 5.0, 6.0]);
    assert_eq!(numbers::<i64>(&out[4]), [9]);
    assert_eq!(numbers::<f32>(&out[5])[9..], [4.0, 5.0, 6.0, 24.0, 20.0, 14.0, 4.0, 5.0, 6.0]);
    assert_eq!(numbers::<f32>(&out[6]), [2.0, 1.0, 0.0, 0.0, -2.0, -1.0]);
    // No features, then no nodes.
    let out = run(tensor::<f32>(&[2, 0], &[]), tensor::<f32>(&[0, 2], &[]), field(&[1.0f32; 2]), field::<f32>(&[]));
    assert_eq!((numbers::<f32>(&out[0]), numbers::<f32>(&out[2])), (vec![0.0; 4], vec![0.0; 2]));
    assert_eq!(out[1].as_tensor().unwrap().shape(), [2, 0]);
    let out = run(tensor::<f32>(&[0, 3], &[]), tensor(&[3, 2], &a), field::<f32>(&[]), field(&[1.0f32; 3]));
    assert_eq!(numbers::<f32>(&out[3]), [f32::NEG_INFINITY; 3]);
    assert_eq!(out[2].as_tensor().unwrap().shape(), [0]);
    assert_eq!(out[5].as_tensor().unwrap().shape(), [0, 9]);
}

#[test]
fn branches_repetition_and_calls() {
    let module = module(
        "domain @double<set M>(%x: f32[M]) -> (y: f32[M]) {
          %y = add %x, %x : f32[M]
          return %y
        }
        domain @f<set N>(%x: f32[N], %times: i64, %c: bool) -> (y: f32[N], k: i64) {
          %k0 = const value(i64 0) : i64
          %y, %k = repeat %times, %x, %k0 (%i: i64, %z: f32[N], %k1: i64) {
            %z2 = call %z callee(@double) : f32[N]
            %k2 = add %k1, %i : i64
            yield %z2, %k2
          } : f32[N], i64
          %r = if %c {
            yield %y
          } {
            %n = neg %y : f32[N]
            yield %n
          } : f32[N]
          return %r, %k
        }",
    );
    let run =
        |times: i64, c: bool| run_domain(&module, "f", &[field(&[1.0f32, -0.0]), scalar(times), scalar(c)]).unwrap();
    let out = run(3, false);
    assert_bits(&numbers(&out[0]), &[-8.0, 0.0]);
    assert_eq!(numbers::<i64>(&out[1]), [3]);
    assert_bits(&numbers(&run(-1, true)[0]), &[1.0, -0.0]);
}

#[test]
fn sizes_that_disagree_name_both_places() {
    let module = module(HEAT);
    let g = csr(3, &[0, 2, 3, 5], &[0, 2, 1, 0, 1]);
    let args = [g.into(), field(&[1.0f32; 3]), field(&[1.0f32; 4]), field(&[1.0f32; 5])];
    let error = run_domain(&module, "heat", &args).unwrap_err();
    assert_eq!(error.to_string(), "`D` is 3 by the destinations of `g`, but 4 by axis 0 of `b`");
    let ErrorKind::SizeConflict { second_place, .. } = *error.kind else { panic!("{error}") };
    assert_eq!(second_place, Place::Axis("b".into(), 0));
    let error = run_domain(&module, "heat", &args[..2]).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Arguments { expected: 4, found: 2, .. }));
    let wrong = [args[0].clone(), field(&[1.0f64; 3]), args[1].clone(), args[3].clone()];
    let error = run_domain(&module, "heat", &wrong).unwrap_err();
    assert_eq!(error.to_string(), "argument `T` is f64 with extents [3], expected f32[S]");
    assert!(matches!(*run_domain(&module, "cold", &args).unwrap_err().kind, ErrorKind::UnknownFunction { .. }));
}

#[test]
fn extents_that_no_argument_fixes_come_from_the_options() {
    let module = module(
        "domain @f<dim F, dim K>(%x: f32[2*F+1]) -> (y: f32[K, F]) {
          %one = const value(f32 1.0) : f32
          %y = fill %one dims(f32[K, F]) : f32[K, F]
          return %y
        }",
    );
    let mut options = Options::default();
    let run = |n: usize, options: &Options| run_domain_with(&module, "f", &[field(&vec![0.0f32; n])], options);
    assert!(matches!(*run(7, &options).unwrap_err().kind, ErrorKind::Size(_)));
    options.sizes.extend([("F".into(), 3), ("K".into(), 2)]);
    assert_eq!(run(7, &options).unwrap()[0].as_tensor().unwrap().shape(), [2, 3]);
    let error = run(8, &options).unwrap_err();
    assert_eq!(error.to_string(), "axis 0 of `x` is 8, expected 2*F+1 = 7");
    options.sizes.insert("K".into(), -1);
    assert!(matches!(*run(7, &options).unwrap_err().kind, ErrorKind::Size(_)));
    options.sizes.insert("K".into(), 1 << 40);
    assert!(matches!(*run(7, &options).unwrap_err().kind, ErrorKind::Elements { .. }));
}

#[test]
fn nothing_runs_forever() {
    let module = module(
        "domain @loop(%c: bool) -> (c: bool) {
          %r = while %c at_most(9000000000000000000) (%a: bool) { yield %a } (%b: bool) { yield %b } : bool
          return %r
        }
        domain @recursive(%c: bool) -> (c: bool) {
          %r = call %c callee(@recursive) : bool
          return %r
        }",
    );
    let options = Options { steps: 10_000, ..Options::default() };
    let error = |name: &str| *run_domain_with(&module, name, &[scalar(true)], &options).unwrap_err().kind;
    assert_eq!(error("loop"), ErrorKind::Steps { limit: 10_000 });
    assert!(matches!(error("recursive"), ErrorKind::Depth { .. }));
}
