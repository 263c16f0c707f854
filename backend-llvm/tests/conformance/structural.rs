//! Cases of constants, lanes, memory and control: what they must give is worked out here.

use crate::case::{Case, Shape, unit_loop};
use crate::values::{Random, specials};
use tiga_abi::DType;
use tiga_ir::{Op, Scalar, ops};

/// Units of a case; few, since these ops do not depend on values.
const UNITS: usize = 24;

/// All of them in these shapes.
pub fn cases(shapes: &[Shape]) -> Vec<Case> {
    let mut out = Vec::new();
    for dtype in DType::ALL {
        out.push(constants(dtype));
        out.push(prefetch(dtype));
        out.extend([-8, 0, 8].map(|bytes| offset(dtype, bytes)));
        for shape in shapes.iter().copied() {
            out.extend([load(dtype, shape), store(dtype, shape)]);
            out.extend([carried(dtype, shape), chosen(dtype, shape), early_return(dtype, shape)]);
            if shape.0 > 1 {
                out.extend([splat(dtype, shape), shuffle(dtype, shape), extract(dtype, shape)]);
                out.extend([masked_load(dtype, shape), masked_store(dtype, shape)]);
                out.extend([gather(dtype, shape, false), gather(dtype, shape, true)]);
            }
        }
    }
    out.extend(shapes.iter().copied().filter(|s| s.0 > 1).map(lanes));
    out
}

fn random(dtype: DType, count: usize) -> Vec<Scalar> {
    let mut random = Random::new(count as u64);
    (0..count).map(|_| random.element(dtype)).collect()
}

fn zeros(dtype: DType, count: usize) -> Vec<Scalar> {
    vec![Scalar::from_i64(dtype, 0); count]
}

/// A case whose kernel is a loop over units.
fn looped(
    op: Op,
    label: &str,
    (dtype, shape): (DType, Shape),
    params: &[(&str, Vec<Scalar>)],
    body: &str,
    expected: Vec<Scalar>,
) -> Case {
    let name = format!("{label}.{dtype}.{}", shape.0);
    let typed: Vec<(String, DType)> = params.iter().map(|(n, a)| ((*n).to_owned(), a[0].dtype())).collect();
    Case {
        op,
        dtype,
        shape,
        text: unit_loop(&name, &typed, shape.lanes(), body),
        name,
        sym: Vec::new(),
        arrays: params.iter().map(|(_, a)| a.clone()).collect(),
        units: UNITS as i64,
        expected,
    }
}

fn constants(dtype: DType) -> Case {
    let values = specials(dtype);
    let at = |i: usize| {
        let value = values[i];
        format!(
            "  %i{i} = const value(i64 {i}) : i64\n  %c{i} = const value({dtype} {value}) : {dtype}\n  ptr.store %c{i}, %out, %i{i}\n"
        )
    };
    let stores: String = (0..values.len()).map(at).collect();
    let name = format!("const.{dtype}.1");
    let text =
        format!("kernel @{name}(%out: ptr<{dtype}>, %unit_begin: i64, %unit_end: i64) {{\n{stores}  return\n}}\n");
    let arrays = vec![zeros(dtype, values.len())];
    Case { op: ops::CONST, dtype, shape: Shape(1), name, text, sym: Vec::new(), arrays, units: 1, expected: values }
}

fn load(dtype: DType, shape: Shape) -> Case {
    let a = random(dtype, UNITS * shape.lanes());
    let out = zeros(dtype, a.len());
    let body = format!("  %x = ptr.load %a, %at{} : {}\n  ptr.store %x, %out, %at", shape.attr(), shape.of(dtype));
    looped(ops::PTR_LOAD, "load", (dtype, shape), &[("a", a.clone()), ("out", out)], &body, a)
}

fn store(dtype: DType, shape: Shape) -> Case {
    let case = load(dtype, shape);
    let text = case.text.replace("@load.", "@store.");
    Case { op: ops::PTR_STORE, name: case.name.replace("load.", "store."), text, ..case }
}

/// A mask that is off from `length` on and at random before.
fn mask(count: usize, length: usize) -> Vec<Scalar> {
    let mut random = Random::new(7);
    (0..count).map(|i| Scalar::Bool(i < length && random.below(3) > 0)).collect()
}

fn is_on(mask: &Scalar) -> bool {
    mask.as_bool() == Some(true)
}

/// The array ends within the last unit: a masked-off lane that is read after all hits the guard page.
fn masked_load(dtype: DType, shape: Shape) -> Case {
    let count = UNITS * shape.lanes();
    let a = random(dtype, count - shape.lanes() + 1);
    let mask = mask(count, a.len());
    let zero = Scalar::from_i64(dtype, 0);
    let expected = (0..count).map(|i| if is_on(&mask[i]) { a[i] } else { zero }).collect();
    let body = format!(
        "  %m = ptr.load %mask, %at lanes({n}) : v{n}bool\n  %x = ptr.load %a, %at, %m lanes({n}) : v{n}{dtype}\n  ptr.store %x, %out, %at",
        n = shape.0
    );
    let params = [("mask", mask), ("a", a), ("out", vec![Scalar::from_i64(dtype, 1); count])];
    looped(ops::PTR_LOAD, "load.masked", (dtype, shape), &params, &body, expected)
}

fn masked_store(dtype: DType, shape: Shape) -> Case {
    let count = UNITS * shape.lanes();
    let a = random(dtype, count);
    let out = vec![Scalar::from_i64(dtype, 1); count - shape.lanes() + 1];
    let mask = mask(count, out.len());
    let expected = (0..out.len()).map(|i| if is_on(&mask[i]) { a[i] } else { out[i] }).collect();
    let body = format!(
        "  %m = ptr.load %mask, %at lanes({n}) : v{n}bool\n  %x = ptr.load %a, %at lanes({n}) : v{n}{dtype}\n  ptr.store %x, %out, %at, %m",
        n = shape.0
    );
    looped(ops::PTR_STORE, "store.masked", (dtype, shape), &[("mask", mask), ("a", a), ("out", out)], &body, expected)
}

/// Masked-off lanes hold indices far outside the array.
fn gather(dtype: DType, shape: Shape, masked: bool) -> Case {
    let count = UNITS * shape.lanes();
    let a = random(dtype, 37);
    let mask = if masked { mask(count, count) } else { vec![Scalar::Bool(true); count] };
    let mut random = Random::new(3);
    let wild = [i64::MIN, i64::MAX, -1, 1 << 40];
    let mut index = |m: &Scalar| if is_on(m) { random.below(a.len()) as i64 } else { wild[random.below(4)] };
    let indices: Vec<i64> = mask.iter().map(&mut index).collect();
    let zero = Scalar::from_i64(dtype, 0);
    let expected = (0..count).map(|i| if is_on(&mask[i]) { a[indices[i] as usize] } else { zero }).collect();
    let body = format!(
        "  %m = ptr.load %mask, %at lanes({n}) : v{n}bool\n  %j = ptr.load %index, %at lanes({n}) : v{n}i64\n  %x = ptr.gather %a, %j{mask} : v{n}{dtype}\n  ptr.store %x, %out, %at",
        n = shape.0,
        mask = if masked { ", %m" } else { "" }
    );
    let label = if masked { "gather.masked" } else { "gather" };
    let indices = indices.into_iter().map(Scalar::I64).collect();
    let params = [("mask", mask), ("index", indices), ("a", a), ("out", vec![Scalar::from_i64(dtype, 1); count])];
    looped(ops::GATHER, label, (dtype, shape), &params, &body, expected)
}

fn prefetch(dtype: DType) -> Case {
    let a = random(dtype, UNITS);
    let body = format!("  ptr.prefetch %a, %at\n  %x = ptr.load %a, %at : {dtype}\n  ptr.store %x, %out, %at");
    let params = [("a", a.clone()), ("out", zeros(dtype, UNITS))];
    looped(ops::PREFETCH, "prefetch", (dtype, Shape(1)), &params, &body, a)
}

/// Elements of `dtype` seen through an address of words, forth and back by `bytes`.
fn offset(dtype: DType, bytes: i64) -> Case {
    let words = 8 / dtype.bytes();
    let a = random(dtype, (UNITS + 2) * words);
    let start = ((8 + bytes) / dtype.bytes() as i64) as usize;
    let expected = a[start..start + UNITS].to_vec();
    let body = format!(
        "  %w = ptr.offset %a bytes(8) to(i64) : ptr<i64>\n  %e = ptr.offset %w bytes({bytes}) to({dtype}) : ptr<{dtype}>\n  %x = ptr.load %e, %at : {dtype}\n  ptr.store %x, %out, %at"
    );
    let label = format!("offset{}", bytes + 8);
    let params = [("a", a), ("out", zeros(dtype, UNITS))];
    looped(ops::OFFSET, &label, (dtype, Shape(1)), &params, &body, expected)
}

fn splat(dtype: DType, shape: Shape) -> Case {
    let a = random(dtype, UNITS);
    let expected = a.iter().flat_map(|x| vec![*x; shape.lanes()]).collect();
    let ty = shape.of(dtype);
    let body = format!(
        "  %x = ptr.load %a, %i : {dtype}\n  %v = splat %x lanes({}) : {ty}\n  ptr.store %v, %out, %at",
        shape.0
    );
    let params = [("a", a), ("out", zeros(dtype, UNITS * shape.lanes()))];
    looped(ops::SPLAT, "splat", (dtype, shape), &params, &body, expected)
}

fn lanes(shape: Shape) -> Case {
    let expected = (0..UNITS).flat_map(|_| (0..i64::from(shape.0)).map(Scalar::I64)).collect();
    let body = format!("  %v = lanes lanes({n}) : v{n}i64\n  ptr.store %v, %out, %at", n = shape.0);
    let params = [("out", zeros(DType::I64, UNITS * shape.lanes()))];
    looped(ops::LANES, "lanes", (DType::I64, shape), &params, &body, expected)
}

fn shuffle(dtype: DType, shape: Shape) -> Case {
    let a = random(dtype, UNITS * shape.lanes());
    let mut random = Random::new(11);
    let pattern: Vec<usize> = (0..shape.lanes()).map(|_| random.below(shape.lanes())).collect();
    let expected = a.chunks(shape.lanes()).flat_map(|v| pattern.iter().map(|i| v[*i]).collect::<Vec<_>>()).collect();
    let listed: Vec<String> = pattern.iter().map(usize::to_string).collect();
    let ty = shape.of(dtype);
    let body = format!(
        "  %x = ptr.load %a, %at{} : {ty}\n  %v = shuffle %x pattern({}) : {ty}\n  ptr.store %v, %out, %at",
        shape.attr(),
        listed.join(", ")
    );
    let params = [("a", a.clone()), ("out", zeros(dtype, a.len()))];
    looped(ops::SHUFFLE, "shuffle", (dtype, shape), &params, &body, expected)
}

/// The last lane of every unit.
fn extract(dtype: DType, shape: Shape) -> Case {
    let a = random(dtype, UNITS * shape.lanes());
    let expected = a.chunks(shape.lanes()).map(|v| v[shape.lanes() - 1]).collect();
    let body = format!(
        "  %v = ptr.load %a, %at{} : {}\n  %x = extract %v axis({}) : {dtype}\n  ptr.store %x, %out, %i",
        shape.attr(),
        shape.of(dtype),
        shape.0 - 1
    );
    let params = [("a", a), ("out", zeros(dtype, UNITS))];
    looped(ops::EXTRACT, "extract", (dtype, shape), &params, &body, expected)
}

/// A value carried around the loop: each unit stores what the one before loaded, the last value and an address
/// leave through block parameters.
fn carried(dtype: DType, shape: Shape) -> Case {
    let n = shape.lanes();
    let a = random(dtype, UNITS * n);
    let expected = [&a[..n], &a].concat();
    let (name, ty, load) = (format!("jump.{dtype}.{}", shape.0), shape.of(dtype), shape.attr());
    let text = format!(
        "kernel @{name}(%a: ptr<{dtype}>, %out: ptr<{dtype}>, %unit_begin: i64, %unit_end: i64) {{
  %one = const value(i64 1) : i64
  %n = const value(i64 {n}) : i64
  %zero = const value(i64 0) : i64
  %first = ptr.load %a, %zero{load} : {ty}
  jump ^head(%unit_begin, %first, %out)
^head(%i: i64, %old: {ty}, %to: ptr<{dtype}>):
  %at = mul %i, %n : i64
  ptr.store %old, %to, %at
  %more = lt %i, %unit_end : bool
  branch %more ^body, ^done(%old, %to, %at)
^body():
  %new = ptr.load %a, %at{load} : {ty}
  %next = add %i, %one : i64
  jump ^head(%next, %new, %to)
^done(%last: {ty}, %p: ptr<{dtype}>, %where: i64):
  ptr.store %last, %p, %where
  return
}}
"
    );
    let arrays = vec![a, zeros(dtype, expected.len())];
    let units = UNITS as i64;
    Case { op: ops::JUMP, dtype, shape, name, text, sym: Vec::new(), arrays, units, expected }
}

/// Two edges from one block to the same one, with different arguments, values and addresses.
fn chosen(dtype: DType, shape: Shape) -> Case {
    let n = shape.lanes();
    let (a, b) = (random(dtype, UNITS * n), random(dtype, UNITS * n + 1)[1..].to_vec());
    let expected = (0..UNITS * n).map(|i| if (i / n).is_multiple_of(2) { a[i] } else { b[i] }).collect();
    let (ty, load) = (shape.of(dtype), shape.attr());
    let body = format!(
        "  %low = and %i, %one : i64
  %odd = eq %low, %one : bool
  %x = ptr.load %a, %at{load} : {ty}
  branch %odd ^join(%b, %x), ^join(%a, %x)
^join(%p: ptr<{dtype}>, %unused: {ty}):
  %y = ptr.load %p, %at{load} : {ty}
  ptr.store %y, %out, %at"
    );
    let params = [("a", a), ("b", b), ("out", zeros(dtype, UNITS * n))];
    looped(ops::BRANCH, "branch", (dtype, shape), &params, &body, expected)
}

/// Out of the kernel from the middle of a loop, with a block after it that nothing reaches.
fn early_return(dtype: DType, shape: Shape) -> Case {
    let n = shape.lanes();
    let a = random(dtype, UNITS * n);
    let expected = (0..a.len()).map(|i| if i / n < 5 { a[i] } else { Scalar::from_i64(dtype, 0) }).collect();
    let (ty, load) = (shape.of(dtype), shape.attr());
    let body = format!(
        "  %five = const value(i64 5) : i64
  %enough = ge %i, %five : bool
  branch %enough ^out, ^on
^out():
  return
^never(%y: {ty}):
  ptr.store %y, %out, %at
  jump ^never(%y)
^on():
  %x = ptr.load %a, %at{load} : {ty}
  ptr.store %x, %out, %at"
    );
    let params = [("a", a.clone()), ("out", zeros(dtype, a.len()))];
    looped(ops::RETURN, "return", (dtype, shape), &params, &body, expected)
}
