//! The loops level: heat, and trees compared with ones built by hand.

use crate::*;
use tiga_ir::interp::{Options, run_domain, run_loops};

const HEAT: &str = "
domain @heat<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %T: f32[S, F], %b: f32[D], %c: f32[E]) -> (out: f32[D, F]) {
  %out = apply %g, %T, %b, %c roles(src, dst, edge) targets(row @sum) (%t: f32[F], %b0: f32, %w: f32) {
    %m = mul %w, %t : f32[F]
    yield %m
  } (%total: f32[F], %b0: f32) {
    %o = add %total, %b0 : f32[F]
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
    let mut random = Random(7);
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
