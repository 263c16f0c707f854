//! The kernel level: lanes, masks, jumps and checked addresses.

use crate::*;
use tiga_abi::DType;
use tiga_ir::interp::{ErrorKind, InterpError, KernelCall, KernelMemory, Options, run_kernel};

/// `out[d, :] = Σ w[e] · x[col[e], :]` over two features at a time, with a masked tail.
const GATHER: &str = "
kernel @rows<dim F>(%F: i64, %row: ptr<i64>, %col: ptr<i32>, %w: ptr<f32>, %x: ptr<f32>, %out: ptr<f32>, %unit_begin: i64, %unit_end: i64) guard(F >= 1) {
  %zero = const value(i64 0) : i64
  %one = const value(i64 1) : i64
  %two = const value(i64 2) : i64
  %start = const value(f32 -0.0) : f32
  %starts = splat %start lanes(2) : v2f32
  %lane = lanes lanes(2) : v2i64
  jump ^row(%unit_begin)
^row(%d: i64):
  %more = lt %d, %unit_end : bool
  branch %more ^features(%zero), ^done
^features(%f: i64):
  %left = lt %f, %F : bool
  %next = add %d, %one : i64
  branch %left ^begin, ^row(%next)
^begin():
  %base = splat %f lanes(2) : v2i64
  %at = add %base, %lane : v2i64
  %Fs = splat %F lanes(2) : v2i64
  %mask = lt %at, %Fs : v2bool
  %p0 = ptr.load %row, %d : i64
  %next.d = add %d, %one : i64
  %q = ptr.load %row, %next.d : i64
  jump ^edges(%p0, %starts)
^edges(%p: i64, %acc: v2f32):
  %in = lt %p, %q : bool
  branch %in ^edge, ^store
^edge():
  ptr.prefetch %w, %p
  %j32 = ptr.load %col, %p : i32
  %j = cast %j32 to(i64) : i64
  %o = mul %j, %F : i64
  %of = add %o, %f : i64
  %v = ptr.load %x, %of, %mask lanes(2) : v2f32
  %c0 = ptr.load %w, %p : f32
  %c = splat %c0 lanes(2) : v2f32
  %m = mul %c, %v : v2f32
  %sum = add %acc, %m : v2f32
  %p1 = add %p, %one : i64
  jump ^edges(%p1, %sum)
^store():
  %od = mul %d, %F : i64
  %odf = add %od, %f : i64
  ptr.store %acc, %out, %odf, %mask
  %f2 = add %f, %two : i64
  jump ^features(%f2)
^done():
  return
}
";

fn lent<T: Element>(numbers: &[T]) -> KernelMemory {
    KernelMemory::lent(&Tensor::of(&[numbers.len()], numbers).unwrap())
}

fn run(text: &str, sym: &[i64], memory: &mut [KernelMemory], units: std::ops::Range<i64>) -> Result<(), InterpError> {
    let module = parse_module("kernel.tir", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.funcs.values().next().unwrap();
    run_kernel(func, KernelCall { sym, memory, units }, &Options { steps: 100_000, ..Options::default() })
}

#[test]
fn a_row_kernel_sums_with_a_masked_tail() {
    let (row, col) = ([0i64, 2, 3, 5], [0i32, 2, 1, 0, 1]);
    let w = [2.0f32, 3.0, 4.0, 5.0, 6.0];
    for features in 1..5usize {
        let x = Random::of_seed(features as u64).f32s(3 * features);
        let mut memory = [lent(&row), lent(&col), lent(&w), lent(&x), KernelMemory::unwritten(12 * features)];
        let f = features as i64;
        // The units are cut anywhere.
        run(GATHER, &[f], &mut memory, 2..3).unwrap();
        assert_eq!(memory[4].buffer(DType::F32, &[3 * features]).unwrap().tensor(), Err(0));
        run(GATHER, &[f], &mut memory, 0..2).unwrap();
        let expected: Vec<f32> = (0..3 * features)
            .map(|i| {
                let (d, k) = (i / features, i % features);
                (row[d]..row[d + 1])
                    .fold(-0.0, |acc, e| acc + w[e as usize] * x[col[e as usize] as usize * features + k])
            })
            .collect();
        let out = memory[4].buffer(DType::F32, &[3 * features]).unwrap().tensor().unwrap();
        assert_bits(&out.numbers().unwrap(), &expected);
    }
    let mut memory = [lent(&row), lent(&col), lent(&w), lent(&[0.0f32; 3]), KernelMemory::unwritten(8)];
    let error = run(GATHER, &[1], &mut memory, 0..3).unwrap_err();
    assert_eq!(*error.kind, ErrorKind::Index { what: "memory, in bytes,", index: 8, extent: 8 });
    assert_eq!(error.op, Some("ptr.store"));
    assert!(matches!(*run(GATHER, &[0], &mut memory, 0..3).unwrap_err().kind, ErrorKind::Guard { .. }));
}

/// A kernel with `out: ptr<f32>` of these bytes.
fn body(code: &str, bytes: usize) -> Result<Vec<f32>, ErrorKind> {
    let text = format!(
        "kernel @k(%x: ptr<f32>, %out: ptr<f32>, %scratch: ptr<f64>, %unit_begin: i64, %unit_end: i64) scratch(\"16\") {{
           %i0 = const value(i64 0) : i64
           %i1 = const value(i64 1) : i64
           {code}
           return
         }}"
    );
    let mut memory = [lent(&[1.0f32, 2.0, 3.0, 4.0]), KernelMemory::unwritten(bytes)];
    run(&text, &[], &mut memory, 0..1).map_err(|e| *e.kind)?;
    Ok(memory[1].buffer(DType::F32, &[bytes / 4]).unwrap().tensor().unwrap().numbers().unwrap())
}

#[test]
fn lanes_move_as_they_are_told() {
    let code = "%v = ptr.load %x, %i0 lanes(4) : v4f32
      %r = shuffle %v pattern(3, 2, 1, 0) : v4f32
      %s = add %v, %r : v4f32
      ptr.store %r, %out, %i0";
    assert_eq!(body(code, 16).unwrap(), [4.0, 3.0, 2.0, 1.0]);
    let code = "%l = lanes lanes(2) : v2i64
      %two = const value(i64 2) : i64
      %twos = splat %two lanes(2) : v2i64
      %at = mul %l, %twos : v2i64
      %v = ptr.gather %x, %at : v2f32
      %b = extract %v axis(1) : f32
      ptr.store %b, %out, %i1
      %a = extract %v axis(0) : f32
      ptr.store %a, %out, %i0";
    assert_eq!(body(code, 8).unwrap(), [1.0, 3.0]);
    // A block may swap its own parameters.
    let code = "%a = ptr.load %x, %i0 : f32
      %b = ptr.load %x, %i1 : f32
      jump ^swap(%a, %b, %i0)
    ^swap(%p: f32, %q: f32, %n: i64):
      %again = lt %n, %i1 : bool
      %m = add %n, %i1 : i64
      branch %again ^swap(%q, %p, %m), ^end
    ^end():
      ptr.store %p, %out, %i0";
    assert_eq!(body(code, 4).unwrap(), [2.0]);
    let code = "%h = const value(f64 2.5) : f64
      ptr.store %h, %scratch, %i1
      %far = ptr.offset %scratch bytes(8) to(f64) : ptr<f64>
      %g = ptr.load %far, %i0 : f64
      %f = cast %g to(f32) : f32
      ptr.store %f, %out, %i0";
    assert_eq!(body(code, 4).unwrap(), [2.5]);
}

#[test]
fn masked_lanes_are_zero_and_not_accessed() {
    let code = "%l = lanes lanes(4) : v4i64
      %two = const value(i64 2) : i64
      %twos = splat %two lanes(4) : v4i64
      %mask = lt %l, %twos : v4bool
      %v = ptr.load %x, %two, %mask lanes(4) : v4f32
      %far = const value(i64 1000) : i64
      %fars = splat %far lanes(4) : v4i64
      %at = select %mask, %l, %fars : v4i64
      %g = ptr.gather %x, %at, %mask : v4f32
      %s = add %v, %g : v4f32
      ptr.store %s, %out, %i0, %mask
      %last = extract %s axis(3) : f32
      ptr.store %last, %out, %two";
    assert_eq!(body(code, 12).unwrap(), [4.0, 6.0, 0.0]);
}

#[test]
fn wrong_accesses_are_refused() {
    let outside = |code: &str| matches!(body(code, 4), Err(ErrorKind::Index { .. }));
    assert!(outside("%four = const value(i64 4) : i64 %v = ptr.load %x, %four : f32"));
    assert!(outside("%m = const value(i64 -1) : i64 %v = ptr.load %x, %m : f32"));
    assert!(outside("%m = const value(i64 9223372036854775807) : i64 %v = ptr.load %x, %m lanes(4) : v4f32"));
    assert!(outside("%v = ptr.load %x, %i1 lanes(4) : v4f32"));
    assert!(outside("ptr.prefetch %out, %i1"));
    assert_eq!(body("%v = ptr.load %out, %i0 : f32", 4), Err(ErrorKind::Unwritten { index: 0 }));
    let store = "%v = const value(f32 1.0) : f32 ptr.store %v, %x, %i1";
    assert_eq!(body(store, 4), Err(ErrorKind::ReadOnly { index: 4 }));
    let odd = "%p = ptr.offset %x bytes(2) to(f32) : ptr<f32> %v = ptr.load %p, %i0 : f32";
    assert_eq!(body(odd, 4), Err(ErrorKind::Misaligned { offset: 2, dtype: DType::F32 }));
    assert_eq!(body("jump ^a ^a(): jump ^a", 4), Err(ErrorKind::Steps { limit: 100_000 }));
    let mut none = [];
    let error = run(GATHER, &[1], &mut none, 0..1).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Arguments { expected: 8, found: 3, .. }));
}
