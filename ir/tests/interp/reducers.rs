//! The reducers that tests use, as text.

/// Sum, mean, prod, max, argmax (associative only) and online softmax over f32; `@sum64` over f64.
pub const ALL: &str = "
reducer @sum state(s: f32 = -0.0) -> (f32 = 0.0) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) {
    %r = add %a, %b : f32
    yield %r
  }
  finalize (%s: f32) { yield %s }
}

reducer @sum64 state(s: f64 = -0.0) -> (f64 = 0.0) laws(associative, commutative) {
  lift (%x: f64) { yield %x }
  combine (%a: f64, %b: f64) {
    %r = add %a, %b : f64
    yield %r
  }
  finalize (%s: f64) { yield %s }
}

reducer @mean state(s: f32 = -0.0, n: i64 = 0) -> (f32 = 0.0) laws(associative, commutative) {
  lift (%x: f32) {
    %one = const value(i64 1) : i64
    yield %x, %one
  }
  combine (%s: f32, %n: i64, %t: f32, %m: i64) {
    %r = add %s, %t : f32
    %k = add %n, %m : i64
    yield %r, %k
  }
  finalize (%s: f32, %n: i64) {
    %k = cast %n to(f32) : f32
    %r = div %s, %k : f32
    yield %r
  }
}

reducer @prod state(p: f32 = 1.0) -> (f32 = 1.0) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) {
    %r = mul %a, %b : f32
    yield %r
  }
  finalize (%p: f32) { yield %p }
}

reducer @max state(m: f32 = -inf) -> (f32 = -inf) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) {
    %r = max %a, %b : f32
    yield %r
  }
  finalize (%m: f32) { yield %m }
}

// No identity: an accumulator without elements cannot be stored.
reducer @last state(x: f32) -> (f32 = -1.0) laws(associative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) { yield %b }
  finalize (%x: f32) { yield %x }
}

// Not even associative: always a plain left fold.
reducer @horner state(x: f32) -> (f32 = 0.0) laws() {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) {
    %ten = const value(f32 10.0) : f32
    %t = mul %a, %ten : f32
    %r = add %t, %b : f32
    yield %r
  }
  finalize (%x: f32) { yield %x }
}

// NaN is greatest; the first one wins.
reducer @argmax state(m: f32 = -inf, i: i64 = -1) -> (i64 = -1) laws(associative) {
  lift (%v: f32, %at: i64) { yield %v, %at }
  combine (%am: f32, %ai: i64, %bm: f32, %bi: i64) {
    %zero = const value(i64 0) : i64
    %b.is = ge %bi, %zero : bool
    %a.not = lt %ai, %zero : bool
    %more = gt %bm, %am : bool
    %bn = ne %bm, %bm : bool
    %an = eq %am, %am : bool
    %nan = and %bn, %an : bool
    %o1 = or %more, %nan : bool
    %o2 = or %a.not, %o1 : bool
    %t = and %b.is, %o2 : bool
    %m = select %t, %bm, %am : f32
    %i = select %t, %bi, %ai : i64
    yield %m, %i
  }
  finalize (%m: f32, %i: i64) { yield %i }
}

reducer @online_softmax<dim D> state(m: f32 = -inf, l: f32 = 0.0, o: f32[D] = -0.0) -> (f32[D] = 0.0) laws(associative, commutative) {
  lift (%score: f32, %value: f32[D]) {
    %one = const value(f32 1.0) : f32
    yield %score, %one, %value
  }
  combine (%am: f32, %al: f32, %ao: f32[D], %bm: f32, %bl: f32, %bo: f32[D]) {
    %one = const value(f32 1.0) : f32
    %m = max %am, %bm : f32
    %same.a = eq %am, %m : bool
    %da = sub %am, %m : f32
    %ea = exp %da : f32
    %p = select %same.a, %one, %ea : f32
    %same.b = eq %bm, %m : bool
    %db = sub %bm, %m : f32
    %eb = exp %db : f32
    %q = select %same.b, %one, %eb : f32
    %lp = mul %al, %p : f32
    %lq = mul %bl, %q : f32
    %l = add %lp, %lq : f32
    %op = mul %ao, %p : f32[D]
    %oq = mul %bo, %q : f32[D]
    %o = add %op, %oq : f32[D]
    yield %m, %l, %o
  }
  finalize (%m: f32, %l: f32, %o: f32[D]) {
    %zero = const value(f32 0.0) : f32
    %low = const value(f32 -inf) : f32
    %none = eq %m, %low : bool
    %nan = ne %m, %m : bool
    %r = div %o, %l : f32[D]
    %r1 = select %nan, %m, %r : f32[D]
    %r2 = select %none, %zero, %r1 : f32[D]
    yield %r2
  }
}
";
