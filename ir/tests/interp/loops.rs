//! The loops level: trees compared with ones built by hand, spaces, accesses, and what is refused.

use crate::*;
use tiga_ir::interp::{ErrorKind, InterpError, Options, run_domain, run_host, run_loops};

const HEAT: &str = "
domain @heat<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %T: f32[S, F], %b: f32[D], %c: f32[E]) -> (out: f32[D, F]) {
  %out = apply %g, %T, %b, %c roles(src, dst, edge) targets(row @sum) (%t: f32[F], %b0: f32, %w: f32) {
    %m = mul %w, %t : f32[F]
    yield %m
  } (%total: f32[F], %b1: f32) {
    %o = add %total, %b1 : f32[F]
    yield %o
  } : f32[D, F]
  return %out
}
loops @heat.0<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %T: buf<f32[S, F]>, %b: buf<f32[D]>, %c: buf<f32[E]>, %out: buf<f32[D, F]>) {
  for space(rows(D)) (%d: i64) {
    %sum = reduce %g, %d with(@sum) shape(leaf inf, acc 1) over(neighbours) (%p: i64, %e: i64, %j: i64) {
      %w = load %c, %e : f32
      %t = load %T, %j : f32[F]
      %m = mul %w, %t : f32[F]
      yield %m
    } : f32[F]
    %b0 = load %b, %d : f32
    %o = add %sum, %b0 : f32[F]
    store %o, %out, %d
    yield
  }
  return
}
";

#[test]
fn the_fold_shape_is_the_domain_bit_for_bit() {
    let module = module(HEAT);
    let mut random = Random::of_seed(7);
    for (n, features) in [(0, 3), (5, 0), (40, 1), (30, 5)] {
        let g = random.graph(n.max(1), n, 9, 7);
        let inputs = [
            g.clone().into(),
            tensor(&[n.max(1), features], &random.f32s(n.max(1) * features)),
            field(&random.f32s(n)),
            field(&random.f32s(g.num_edges())),
        ];
        let expected = run_domain(&module, "heat", &inputs).unwrap();
        let mut args = inputs.to_vec();
        args.push(unwritten::<f32>(&[n, features]));
        let options = Options { shuffle: Some(n as u64), ..Options::default() };
        run_loops(&module, "heat.0", &mut args, &options).unwrap();
        assert_bits(&numbers(&args[4]), &numbers::<f32>(&expected[0]));
    }
}

/// A combination that tells trees apart: every shape and order gives another number.
fn join(a: i64, b: i64) -> i64 {
    a.wrapping_mul(1_000_003).wrapping_add(b.wrapping_mul(31)).wrapping_add(7)
}

/// Shows its tree, whatever laws it claims.
fn tree_reducer(laws: &str) -> String {
    format!(
        "reducer @tree state(t: i64) -> (i64 = -1) laws({laws}) {{
           lift (%x: i64) {{ yield %x }}
           combine (%a: i64, %b: i64) {{
             %p = const value(i64 1000003) : i64
             %q = const value(i64 31) : i64
             %r = const value(i64 7) : i64
             %ap = mul %a, %p : i64
             %bq = mul %b, %q : i64
             %s = add %ap, %bq : i64
             %t = add %s, %r : i64
             yield %t
           }}
           finalize (%t: i64) {{ yield %t }}
         }}"
    )
}

/// The reduction of 0, 1, …, n − 1 as a row, as a range, and cut into units by hand.
fn trees(n: usize, shape: &str, leaf: &str, laws: &str) -> Vec<i64> {
    let mut text = tree_reducer(laws)
        + &format!(
            "loops @row<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %out: buf<i64[D]>) {{
               for space(rows(D)) (%d: i64) {{
                 %r = reduce %g, %d with(@tree) shape({shape}) over(neighbours) (%p: i64, %e: i64, %j: i64) {{ yield %p }} : i64
                 store %r, %out, %d
                 yield
               }}
               return
             }}
             loops @all<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %out: buf<i64[D]>) {{
               for space(rows(D)) (%d: i64) {{
                 %r = reduce %g with(@tree) shape({shape}) over(edges) (%p: i64, %e: i64, %j: i64, %i: i64) {{ yield %p }} : i64
                 store %r, %out, %d
                 yield
               }}
               return
             }}
             loops @range<set E, set D>(%x: buf<i64[E]>, %out: buf<i64[D]>) {{
               for space(once) {{
                 %zero = const value(i64 0) : i64
                 %r = reduce with(@tree) shape({shape}) over(range) dims(i64[E]) (%i: i64) {{
                   %v = load %x, %i : i64
                   yield %v
                 }} : i64
                 store %r, %out, %zero
                 yield
               }}
               return
             }}"
        );
    let g = csr(1, &[0, n as i64], &vec![0; n]);
    let numbers_of = |args: &[Value]| numbers::<i64>(&args[1])[0];
    let x = field(&(0..n as i64).collect::<Vec<_>>());
    if leaf != "inf" {
        text += &(row_units(shape, leaf) + &range_units(shape, leaf));
    }
    let parsed = parse_module("trees.tir", &text).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { shuffle: Some(n as u64), ..Options::default() };
    let mut found = Vec::new();
    for (name, first) in [("row", Value::from(g.clone())), ("all", g.clone().into()), ("range", x.clone())] {
        let mut args = vec![first, unwritten::<i64>(&[1])];
        run_loops(&parsed, name, &mut args, &options).unwrap();
        found.push(numbers_of(&args));
    }
    if leaf != "inf" {
        for (name, first) in [("row.units", Value::from(g)), ("range.units", x)] {
            found.push(numbers::<i64>(&run_host(&parsed, name, &mut [first], &options).unwrap()[0])[0]);
        }
    }
    found
}

/// Short rows, leaves of long rows, and the trees of these.
fn row_units(shape: &str, leaf: &str) -> String {
    format!(
        "loops @short<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %out: buf<i64[D]>) {{
           for %g space(short({leaf})) (%d: i64) {{
             %r = reduce %g, %d with(@tree) shape({shape}) over(neighbours) (%p: i64, %e: i64, %j: i64) {{ yield %p }} : i64
             store %r, %out, %d
             yield
           }}
           return
         }}
         loops @leaves<set S, set D, edges E, bound P = \"2*div(E,{leaf})\">(%g: graph<csr, S -> D, E>, %part: buf<i64[P]>) {{
           for %g space(leaves({leaf})) (%u: i64, %d: i64) {{
             %r = reduce %g, %u with(@tree) shape({shape}) over(leaf) raw (%p: i64, %e: i64, %j: i64) {{ yield %p }} : i64
             store %r, %part, %u
             yield
           }}
           return
         }}
         loops @long<set S, set D, edges E, bound P = \"2*div(E,{leaf})\">(%g: graph<csr, S -> D, E>, %part: buf<i64[P]>, %out: buf<i64[D]>) {{
           for %g space(long({leaf})) (%r: i64, %d: i64) {{
             %v = join %g, %r, %part with(@tree) shape({shape}) over(neighbours) : i64
             store %v, %out, %d
             yield
           }}
           return
         }}
         host @row.units<set S, set D, edges E, bound P = \"2*div(E,{leaf})\">(%g: graph<csr, S -> D, E>) -> (out: buf<i64[D]>) {{
           %out = alloc dims(i64[D]) : buf<i64[D]>
           %part = alloc dims(i64[P]) : buf<i64[P]>
           launch %g, %out callee(@short)
           launch %g, %part callee(@leaves)
           launch %g, %part, %out callee(@long)
           return %out
         }}"
    )
}

/// Blocks of a range, and their join.
fn range_units(shape: &str, leaf: &str) -> String {
    format!(
        "loops @blocks<set E, bound P = \"ceildiv(E,{leaf})\">(%x: buf<i64[E]>, %part: buf<i64[P]>) {{
           for space(blocks(E, {leaf})) (%b: i64) {{
             %r = reduce %b with(@tree) shape({shape}) over(block) dims(i64[E]) raw (%i: i64) {{
               %v = load %x, %i : i64
               yield %v
             }} : i64
             store %r, %part, %b
             yield
           }}
           return
         }}
         loops @join<set E, bound P = \"ceildiv(E,{leaf})\">(%part: buf<i64[P]>, %x: buf<i64[E]>, %out: buf<i64>) {{
           for space(once) {{
             %r = join %part with(@tree) shape({shape}) over(range) dims(i64[E]) : i64
             store %r, %out
             yield
           }}
           return
         }}
         host @range.units<set E, bound P = \"ceildiv(E,{leaf})\">(%x: buf<i64[E]>) -> (out: buf<i64>) {{
           %out = alloc dims(i64) : buf<i64>
           %part = alloc dims(i64[P]) : buf<i64[P]>
           launch %x, %part callee(@blocks)
           launch %part, %x, %out callee(@join)
           return %out
         }}"
    )
}

fn check_trees(leaf: &str, acc: usize, laws: &str, expected: &[i64]) {
    for (n, expected) in expected.iter().enumerate() {
        let found = trees(n, &format!("leaf {leaf}, acc {acc}"), leaf, laws);
        let count = if leaf == "inf" { 3 } else { 5 };
        assert_eq!(found, vec![*expected; count], "{n} elements, leaf {leaf}, acc {acc}, laws({laws})");
    }
}

/// A left fold by hand.
fn fold(xs: &[i64]) -> i64 {
    xs[1..].iter().fold(xs[0], |a, b| join(a, *b))
}

#[test]
fn leaves_of_two_with_two_accumulators() {
    let j = join;
    let (l0, l1, l2, l3) = (j(0, 1), j(2, 3), j(4, 5), j(6, 7));
    let four = j(l0, l1);
    let expected = [
        -1,
        0,
        l0,
        j(l0, 2),
        four,
        j(four, 4),
        j(four, l2),
        j(four, j(l2, 6)),
        j(four, j(l2, l3)),
        j(j(four, j(l2, l3)), 8),
    ];
    check_trees("2", 2, "associative, commutative", &expected);
    // With two elements a leaf, runs and turns are the same.
    check_trees("2", 2, "associative", &expected);
}

#[test]
fn accumulators_take_turns_if_order_does_not_matter() {
    let j = join;
    let leaf4 = j(j(fold(&[0, 3]), 1), 2);
    let expected = [-1, 0, j(0, 1), j(j(0, 1), 2), leaf4, j(leaf4, 4), j(leaf4, j(4, 5)), j(leaf4, j(j(4, 5), 6))];
    check_trees("4", 3, "associative, commutative", &expected);
    let expected = [-1, 0, j(0, 1), j(fold(&[0, 2]), 1), j(fold(&[0, 2]), fold(&[1, 3]))];
    check_trees("inf", 2, "associative, commutative", &expected);
}

#[test]
fn accumulators_take_runs_if_order_matters() {
    let j = join;
    // Runs of ⌈4/3⌉ = 2 elements of the leaf, however many there are.
    let leaf4 = j(j(0, 1), j(2, 3));
    let expected = [-1, 0, j(0, 1), j(j(0, 1), 2), leaf4, j(leaf4, 4), j(leaf4, j(4, 5)), j(leaf4, j(j(4, 5), 6))];
    check_trees("4", 3, "associative", &expected);
    // Runs of ⌈5/2⌉ = 3.
    let leaf5 = j(fold(&[0, 1, 2]), j(3, 4));
    let expected = [-1, 0, j(0, 1), fold(&[0, 1, 2]), j(fold(&[0, 1, 2]), 3), leaf5, j(leaf5, 5)];
    check_trees("5", 2, "associative", &expected);
}

#[test]
fn without_associativity_there_is_only_the_left_fold() {
    let expected: Vec<i64> = (0..8).map(|n| if n == 0 { -1 } else { fold(&(0..n).collect::<Vec<_>>()) }).collect();
    check_trees("inf", 4, "", &expected);
    check_trees("inf", 4, "commutative", &expected);
    check_trees("inf", 1, "associative, commutative", &expected);
    let module = parse_module(
        "t.tir",
        &(tree_reducer("")
            + "loops @row<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %out: buf<i64[D]>) {
                 for space(rows(D)) (%d: i64) {
                   %r = reduce %g, %d with(@tree) shape(leaf 2, acc 2) over(neighbours) (%p: i64, %e: i64, %j: i64) { yield %p } : i64
                   store %r, %out, %d
                   yield
                 }
                 return
               }"),
    );
    let mut args = [csr(1, &[0, 7], &[0; 7]).into(), unwritten::<i64>(&[1])];
    run_loops(&module.unwrap(), "row", &mut args, &Options::default()).unwrap();
    assert_eq!(numbers::<i64>(&args[1]), [expected[7]]);
}

#[test]
fn sums_of_floats_have_the_bits_of_their_tree() {
    let text = "loops @f<set N, dim F>(%x: buf<f32[N, F]>, %out: buf<f32[F]>) {
      for space(once) {
        %r = reduce with(@sum) shape(leaf 4, acc {F == 1: 3, F < 4: 2, else 1}) over(range) dims(f32[N]) (%i: i64) {
          %v = load %x, %i : f32[F]
          yield %v
        } : f32[F]
        store %r, %out
        yield
      }
      return
    }";
    let module = module(text);
    let x = Random::of_seed(99).f32s(9 * 5);
    for (features, acc) in [(1, 3), (3, 2), (5, 1)] {
        for n in 0..10 {
            let mut args = [tensor(&[n, features], &x[..n * features]), unwritten::<f32>(&[features])];
            run_loops(&module, "f", &mut args, &Options::default()).unwrap();
            let expected = (0..features).map(|f| {
                let leaf = |c: usize| -> f32 {
                    let at = |i: usize| x[i * features + f];
                    let end = (c + 4).min(n);
                    let lane = |a: usize| (c + a..end).step_by(acc).map(at).reduce(|a, b| a + b);
                    (0..acc).filter_map(lane).reduce(|a, b| a + b).unwrap()
                };
                // At most three accumulators and three leaves: the tree of three is a left fold.
                (0..n).step_by(4).map(leaf).reduce(|a, b| a + b).unwrap_or(0.0)
            });
            assert_bits(&numbers(&args[1]), &expected.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_step_starts_from_the_identities() {
    let text = "loops @f<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %x: buf<f32[S, F]>, %w: buf<f32[E]>, %out: buf<f32[D, F]>) {
      for space(rows(D)) (%d: i64) {
        %r = reduce %g, %d with(@sum) shape(leaf 3, acc 2) over(neighbours) step (%p: i64, %e: i64, %j: i64, %acc: f32[F]) {
          %c = load %w, %e : f32
          %v = load %x, %j : f32[F]
          %next = fma %c, %v, %acc : f32[F]
          yield %next
        } : f32[F]
        store %r, %out, %d
        yield
      }
      return
    }";
    let module = module(text);
    let mut random = Random::of_seed(4);
    let g = random.graph(8, 12, 7, 5);
    let (x, w) = (random.f32s(16), random.f32s(g.num_edges()));
    let mut args = [g.clone().into(), tensor(&[8, 2], &x), field(&w), unwritten::<f32>(&[12, 2])];
    run_loops(&module, "f", &mut args, &Options::default()).unwrap();
    let row = |d: usize, f: usize| -> f32 {
        let lane = |c: usize, a: usize| {
            let positions = (c + a..(c + 3).min(g.row(d).end)).step_by(2);
            positions
                .map(|p| (w[p], x[g.source(p) * 2 + f]))
                .fold(None, |acc: Option<f32>, (c, v)| Some(c.mul_add(v, acc.unwrap_or(-0.0))))
        };
        let mut level: Vec<f32> =
            g.row(d).step_by(3).map(|c| (0..2).filter_map(|a| lane(c, a)).reduce(|a, b| a + b).unwrap()).collect();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| pair.iter().copied().reduce(|a, b| a + b).unwrap()).collect();
        }
        level.first().copied().unwrap_or(0.0)
    };
    let expected: Vec<f32> = (0..24).map(|i| row(i / 2, i % 2)).collect();
    assert_bits(&numbers(&args[3]), &expected);
}

#[test]
fn spaces_visit_what_they_say() {
    let text = "
    loops @edges<set S, set D, edges E>(%g: graph<transpose, S -> D, E>, %out: buf<i64[E, 3]>) {
      %one = const value(i64 1) : i64
      %two = const value(i64 2) : i64
      %zero = const value(i64 0) : i64
      for %g space(edges) (%p: i64, %e: i64, %j: i64, %d: i64) {
        store %p, %out, %e, %zero
        store %j, %out, %e, %one
        store %d, %out, %e, %two
        yield
      }
      return
    }
    loops @units<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %out: buf<i64[D, 2]>) {
      %zero = const value(i64 0) : i64
      %one = const value(i64 1) : i64
      for %g space(short(2)) (%d: i64) {
        %n = degree %g, %d : i64
        store %n, %out, %d, %zero
        store %d, %out, %d, %one
        yield
      }
      for %g space(long(2)) (%r: i64, %d: i64) {
        %n = neg %r : i64
        store %n, %out, %d, %zero
        %l = len dims(i64[E]) : i64
        store %l, %out, %d, %one
        yield
      }
      return
    }";
    let module = module(text);
    let g = csr(2, &[0, 2, 5, 5, 9], &[0, 1, 0, 1, 1, 0, 0, 1, 0]);
    let options = Options { shuffle: Some(9), ..Options::default() };
    let mut args = [g.transposed().unwrap().into(), unwritten::<i64>(&[9, 3])];
    run_loops(&module, "edges", &mut args, &options).unwrap();
    let found = numbers::<i64>(&args[1]);
    for e in 0..9 {
        assert_eq!(found[3 * e + 1..3 * e + 3], [g.destination(e) as i64, g.source(e) as i64]);
    }
    assert_eq!((found[0], found[3], found[6]), (0, 5, 1));
    let mut args = [g.into(), unwritten::<i64>(&[4, 2])];
    run_loops(&module, "units", &mut args, &options).unwrap();
    assert_eq!(numbers::<i64>(&args[1]), [2, 0, 0, 9, 0, 2, -1, 9]);
}

fn refused(body: &str, x: Value, out: Value) -> InterpError {
    let text = format!("loops @f<set N, set M>(%x: buf<f32[N]>, %out: buf<f32[M]>) {{ {body} return }}");
    run_loops(&module(&text), "f", &mut [x, out], &Options { shuffle: Some(1), ..Options::default() }).unwrap_err()
}

#[test]
fn accesses_that_are_wrong_are_refused() {
    let x = || field(&[1.0f32, 2.0]);
    let two = || unwritten::<f32>(&[2]);
    let copy = "for space(rows(M)) (%i: i64) { %v = load %x, %i : f32 store %v, %out, %i yield }";
    let error = refused(copy, x(), unwritten::<f32>(&[3]));
    assert_eq!(*error.kind, ErrorKind::Index { what: "an axis", index: 2, extent: 2 });
    assert_eq!(error.op, Some("load"));
    assert_eq!(*refused(copy, x(), field(&[0.0f32])).kind, ErrorKind::ReadOnly { index: 0 });
    assert!(matches!(*refused(copy, two(), two()).kind, ErrorKind::Unwritten { .. }));
    let same = "for space(rows(M)) (%i: i64) { %z = const value(i64 0) : i64 %v = load %x, %i : f32 store %v, %out, %z yield }";
    assert_eq!(*refused(same, x(), two()).kind, ErrorKind::Race { index: 0 });
    let peek = "for space(rows(M)) (%i: i64) {
      %v = load %x, %i : f32
      store %v, %out, %i
      %n = sub %i, %i : i64
      %w = load %out, %n : f32
      yield
    }";
    assert!(matches!(*refused(peek, x(), two()).kind, ErrorKind::Race { .. } | ErrorKind::Unwritten { .. }));
    // Its own element an iteration may read again, and another loop may read all of them.
    let text = "loops @f<set N>(%x: buf<f32[N]>, %out: buf<f32[N]>, %sum: buf<f32>) {
      for space(rows(N)) (%i: i64) {
        %v = load %x, %i : f32
        store %v, %out, %i
        %w = load %out, %i : f32
        %u = add %w, %v : f32
        store %u, %out, %i
        yield
      }
      for space(once) {
        %r = reduce with(@sum) shape(leaf inf, acc 1) over(range) dims(f32[N]) (%i: i64) {
          %v = load %out, %i : f32
          yield %v
        } : f32
        store %r, %sum
        yield
      }
      return
    }";
    let mut args = [x(), two(), unwritten::<f32>(&[])];
    run_loops(&module(text), "f", &mut args, &Options::default()).unwrap();
    assert_eq!((numbers::<f32>(&args[1]), numbers::<f32>(&args[2])), (vec![2.0, 4.0], vec![6.0]));
}

#[test]
fn partial_states_that_are_not_stored_are_refused() {
    let text = format!("{}{}", tree_reducer("associative"), row_units("leaf 2, acc 1", "2"));
    let text = text.replace("launch %g, %part callee(@leaves)", "");
    let module = parse_module("t.tir", &text).unwrap();
    let run = |n: i64| {
        let g = csr(1, &[0, n], &vec![0; n as usize]);
        run_host(&module, "row.units", &mut [g.into()], &Options::default())
    };
    assert_eq!(numbers::<i64>(&run(2).unwrap()[0]), [join(0, 1)]);
    assert_eq!(*run(3).unwrap_err().kind, ErrorKind::Unwritten { index: 0 });
}

#[test]
fn a_host_loop_rotates_memory() {
    let text = "
    loops @half<set N>(%x: buf<f32[N]>, %y: buf<f32[N]>, %go: buf<bool>) {
      for space(rows(N)) (%i: i64) {
        %h = const value(f32 0.5) : f32
        %v = load %x, %i : f32
        %w = mul %v, %h : f32
        store %w, %y, %i
        yield
      }
      for space(once) {
        %m = reduce with(@max) shape(leaf 2, acc 2) over(range) dims(f32[N]) (%i: i64) {
          %v = load %y, %i : f32
          yield %v
        } : f32
        %one = const value(f32 1.0) : f32
        %c = gt %m, %one : bool
        store %c, %go
        yield
      }
      return
    }
    host @f<set N>(%x: buf<f32[N]>, %start: buf<bool>, %n: buf<i64>, %copy: buf<f32[N]>) -> (y: buf<f32[N]>, z: buf<f32[N]>) {
      %y, %go = while %x, %start at_most(100) (%a: buf<f32[N]>, %c: buf<bool>) {
        yield %c
      } (%b: buf<f32[N]>, %d: buf<bool>) {
        %next = alloc dims(f32[N]) : buf<f32[N]>
        %more = alloc dims(bool) : buf<bool>
        launch %b, %next, %more callee(@half)
        yield %next, %more
      } : buf<f32[N]>, buf<bool>
      copy %y, %copy
      %z = repeat %n, %x (%i: buf<i64>, %r: buf<f32[N]>) {
        %t = alloc dims(f32[N]) : buf<f32[N]>
        %u = alloc dims(bool) : buf<bool>
        launch %r, %t, %u callee(@half)
        yield %t
      } : buf<f32[N]>
      return %y, %z
    }";
    let module = module(text);
    let mut args = vec![field(&[6.0f32, 16.0, -1.0]), scalar(true), scalar(2i64), unwritten::<f32>(&[3])];
    let out = run_host(&module, "f", &mut args, &Options::default()).unwrap();
    assert_eq!(numbers::<f32>(&out[0]), [0.375, 1.0, -0.0625]);
    assert_eq!(numbers::<f32>(&args[3]), [0.375, 1.0, -0.0625]);
    assert_eq!(numbers::<f32>(&out[1]), [1.5, 4.0, -0.25]);
    args[1] = scalar(false);
    let out = run_host(&module, "f", &mut args, &Options::default()).unwrap();
    assert_eq!(numbers::<f32>(&out[0]), [6.0, 16.0, -1.0]);
}
