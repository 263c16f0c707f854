//! What a definition costs: its instructions, counted and compared with the table of docs/math.md.

use crate::math::{Arith, FloatCmp, IntCmp, MathFn, Width, define};

/// Counts instructions; constants are free, a kernel holds them in registers.
#[derive(Default)]
struct Counter(usize);

macro_rules! count {
    ($($name:ident($($arg:ident: $ty:ty),*) $cost:literal;)*) => {$(
        fn $name(&mut self, $($arg: $ty),*) {
            self.0 += $cost;
        }
    )*};
}

impl Arith for Counter {
    type V = ();

    count! {
        f32(_v: f32) 0;
        f64(_v: f64) 0;
        i32(_v: i32) 0;
        i64(_v: i64) 0;
        fadd(_a: (), _b: ()) 1;
        fsub(_a: (), _b: ()) 1;
        fmul(_a: (), _b: ()) 1;
        fdiv(_a: (), _b: ()) 1;
        fsqrt(_a: ()) 1;
        fneg(_a: ()) 1;
        fabs(_a: ()) 1;
        fcmp(_cmp: FloatCmp, _a: (), _b: ()) 1;
        iadd(_a: (), _b: ()) 1;
        isub(_a: (), _b: ()) 1;
        imul(_a: (), _b: ()) 1;
        iand(_a: (), _b: ()) 1;
        ior(_a: (), _b: ()) 1;
        ixor(_a: (), _b: ()) 1;
        ishl(_a: (), _b: ()) 1;
        ilshr(_a: (), _b: ()) 1;
        iashr(_a: (), _b: ()) 1;
        icmp(_cmp: IntCmp, _a: (), _b: ()) 1;
        select(_c: (), _a: (), _b: ()) 1;
        float_to_bits(_a: ()) 0;
        bits_to_float(_a: ()) 0;
        widen(_a: ()) 1;
        narrow(_a: ()) 1;
        truncate(_a: ()) 1;
    }
}

#[test]
fn the_page_names_the_cost_of_every_definition() {
    let page = include_str!("../../../../docs/math.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|row| row.len() == 3)
        .collect();
    let mut wrong = Vec::new();
    for function in MathFn::ALL {
        for width in [Width::F32, Width::F64] {
            let mut counter = Counter::default();
            define(function, width, &mut counter, &[(), ()][..function.arity()]);
            let (name, dtype) = (format!("`{}`", function.name()), width.dtype().to_string());
            let row = rows.iter().find(|row| row[0] == name && row[1] == dtype);
            if row.is_none_or(|row| row[2] != counter.0.to_string()) {
                wrong.push(format!("{name} {dtype} takes {} instructions", counter.0));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/math.md does not say that\n{}", wrong.join("\n"));
}
