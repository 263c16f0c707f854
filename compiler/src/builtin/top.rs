//! `top<K>`: the K greatest values of a row and where they stand, as a reducer whose state is K values and K positions.

use super::extremes;
use std::fmt::Write;
use tiga_abi::DType;

/// The largest K: a tree compares each of K values with each of K.
pub const MOST: i64 = 32;

/// What it makes of a row.
pub const ABOUT: &str =
    "the K greatest and where they stand, greatest first; of nothing -inf or the least integer, and -1";

/// Its name in the IR: `top.8.f32`.
pub fn symbol(k: i64, dtype: DType) -> String {
    format!("top.{k}.{dtype}")
}

/// Code under construction: each value has a name of its own.
struct Code {
    text: String,
    next: usize,
}

impl Code {
    fn value(&mut self, op: &str, operands: &[&str], ty: &str) -> String {
        let name = format!("%t{}", self.next);
        self.next += 1;
        writeln!(self.text, "    {name} = {op} {} : {ty}", operands.join(", ")).expect("a string takes text");
        name
    }

    /// A sorted list of values and their positions, −1 where there is none, with one more. Equal values stay behind
    /// those that are there: the first wins; NaN is greatest.
    fn insert(&mut self, list: &mut [(String, String)], x: &str, at: &str, dtype: &str) {
        let zero = self.value("const value(i64 0)", &[], "i64");
        let absent = self.value("lt", &[at, &zero], "bool");
        let nan = self.value("ne", &[x, x], "bool");
        let mut ahead = Vec::new();
        for (value, position) in list.iter() {
            let present = self.value("ge", &[position, &zero], "bool");
            let greater = self.value("gt", &[x, value], "bool");
            let number = self.value("eq", &[value, value], "bool");
            let above = self.value("and", &[&nan, &number], "bool");
            let better = self.value("or", &[&greater, &above], "bool");
            let behind = self.value("not", &[&better], "bool");
            let kept = self.value("and", &[&present, &behind], "bool");
            ahead.push(self.value("or", &[&absent, &kept], "bool"));
        }
        let old = list.to_vec();
        for k in 0..list.len() {
            let (mut value, mut position) = (x.to_owned(), at.to_owned());
            if k > 0 {
                value = self.value("select", &[&ahead[k - 1], x, &old[k - 1].0], dtype);
                position = self.value("select", &[&ahead[k - 1], at, &old[k - 1].1], "i64");
            }
            list[k].0 = self.value("select", &[&ahead[k], &old[k].0, &value], dtype);
            list[k].1 = self.value("select", &[&ahead[k], &old[k].1, &position], "i64");
        }
    }
}

/// The template for an element type; `k` is from 1 to [`MOST`].
pub fn text(k: i64, dtype: DType) -> String {
    let (least, _) = extremes(dtype);
    let names = |prefix: &str| (0..k).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let params = |v: &str, i: &str| {
        let all = names(v).into_iter().map(|n| format!("%{n}: {dtype}"));
        all.chain(names(i).into_iter().map(|n| format!("%{n}: i64"))).collect::<Vec<_>>().join(", ")
    };
    let list = |v: &str, i: &str| -> Vec<(String, String)> {
        names(v).into_iter().zip(names(i)).map(|(v, i)| (format!("%{v}"), format!("%{i}"))).collect()
    };
    let state = params("v", "i").replace('%', "");
    let outs = [vec![format!("{dtype} = {least}"); k as usize], vec!["i64 = -1".to_owned(); k as usize]].concat();
    let mut code = Code { text: String::new(), next: 0 };
    let open = |code: &mut Code, clause: &str, params: &str| {
        writeln!(code.text, "  {clause} ({params}) {{").expect("a string takes text");
    };
    let close = |code: &mut Code, list: &[(String, String)]| {
        let values = list.iter().map(|(v, _)| v).chain(list.iter().map(|(_, i)| i));
        let values: Vec<&str> = values.map(String::as_str).collect();
        writeln!(code.text, "    yield {}\n  }}", values.join(", ")).expect("a string takes text");
    };
    writeln!(code.text, "reducer @{} state({state}) -> ({}) laws(associative) {{", symbol(k, dtype), outs.join(", "))
        .expect("a string takes text");
    open(&mut code, "lift", &format!("%x: {dtype}, %at: i64"));
    let none = code.value("const value(i64 -1)", &[], "i64");
    let lowest = code.value(&format!("const value({dtype} {least})"), &[], dtype.name());
    let mut one = vec![(lowest, none); k as usize];
    one[0] = ("%x".into(), "%at".into());
    close(&mut code, &one);
    open(&mut code, "step", &format!("{}, %x: {dtype}, %at: i64", params("v", "i")));
    let mut stepped = list("v", "i");
    code.insert(&mut stepped, "%x", "%at", dtype.name());
    close(&mut code, &stepped);
    open(&mut code, "combine", &format!("{}, {}", params("v", "i"), params("w", "j")));
    let mut both = list("v", "i");
    for (x, at) in list("w", "j") {
        code.insert(&mut both, &x, &at, dtype.name());
    }
    close(&mut code, &both);
    open(&mut code, "finalize", &params("v", "i"));
    close(&mut code, &list("v", "i"));
    code.text + "}\n"
}
