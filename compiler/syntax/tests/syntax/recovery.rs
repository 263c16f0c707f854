//! Errors are found, said and survived.

use crate::read;
use tiga_syntax::ast::{ExprKind, ItemKind, StmtKind};

/// Codes and lines of the findings, and what items were read: name, or name with `~` if in part, `!` if not at all.
fn outline(text: &str) -> (Vec<(&'static str, usize)>, Vec<String>) {
    let (parsed, _) = read("a.tg", text);
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let found = parsed.errors.iter().map(|error| (error.code, line(error.primary.span.start))).collect();
    let items = parsed.module.items.iter().map(|item| {
        let name = item.name().map_or("?", |name| &name.text);
        let mark = match &item.kind {
            ItemKind::Broken(_) => "!",
            _ if item.recovered => "~",
            _ => "",
        };
        format!("{name}{mark}")
    });
    (found, items.collect())
}

/// Inside a program with parameters `x` and `y`: codes and lines.
fn in_program(body: &str) -> Vec<(&'static str, usize)> {
    let (found, items) =
        outline(&format!("program p(x: f32, y: f32) -> (z: f32) {{\n{body}\n}}\nfn after() -> f32 {{ 0 }}"));
    assert_eq!(items, ["p~", "after"]);
    found
}

/// The one finding, as a terminal shows it, has these parts.
#[track_caller]
fn says(text: &str, parts: &[&str]) {
    let (_, shown) = read("a.tg", text);
    assert_eq!(shown.len(), 1, "{}", shown.join("\n"));
    for part in parts {
        assert!(shown[0].contains(part), "`{part}` is missing from\n{}", shown[0]);
    }
}

#[test]
fn three_errors_in_three_items_hide_nothing() {
    let text = "\
fn a(x: f32) -> f32 { x + }
fn good(x: f32) -> f32 { x }
message m(src: {x: f32}) -> f32 {
    edge { src.x }
    reduc sum
}
program p(x: f32 -> (y: f32) {
    x
}
program q(x: f32) -> (y: f32) { x }
";
    let (found, items) = outline(text);
    assert_eq!(found, [("TG0004", 1), ("TG0004", 5), ("TG0007", 7)]);
    assert_eq!(items, ["a~", "good", "m~", "p!", "q"]);
}

#[test]
fn errors_in_one_block_are_all_found() {
    let found = in_program(
        "let a = x +;\nlet b = (x y);\nlet c = f(x, axis = 1, {x: 1 2});\nlet d x;\nlet e = x\nlet f = not e;\na and b",
    );
    let expected = [
        ("TG0004", 2),
        ("TG0004", 3),
        ("TG0018", 4),
        ("TG0004", 4),
        ("TG0004", 5),
        ("TG0005", 6),
        ("TG0011", 7),
        ("TG0011", 8),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_hole_keeps_what_surrounds_it() {
    let (parsed, _) =
        read("a.tg", "fn f(x: f32) -> f32 {\n    let a = x + ;\n    let b = a b;\n    g(a, {x: 1 +}, b)\n}");
    let ItemKind::Function(f) = &parsed.module.items[0].kind else { panic!("not a function") };
    assert_eq!(f.body.statements.len(), 2);
    for statement in &f.body.statements {
        let StmtKind::Let(item) = &statement.kind else { panic!("the name is lost") };
        assert_eq!(item.value.kind, ExprKind::Error);
    }
    assert!(matches!(f.body.value.kind, ExprKind::Call { .. }), "{:?}", f.body.value);
}

#[test]
fn unbalanced_brackets_end_with_their_item() {
    let (found, items) = outline(
        "fn a() -> f32 { f(1, 2 }\nfn b() -> f32 { [1 }\nfn c() -> f32 {\nfn d() -> f32 { 1 }}\nfn e() -> f32 { (1] }",
    );
    assert_eq!(found, [("TG0007", 1), ("TG0007", 2), ("TG0007", 3), ("TG0008", 4), ("TG0008", 5)]);
    assert_eq!(items, ["a~", "b~", "c~", "d~", "e~"]);
}

#[test]
fn text_between_items_is_refused_alone() {
    let (found, items) =
        outline("hello world\nfn a() -> f32 { 1 } stray { text }\nfn b() -> f32 { 2 };\nfn c() -> f32 { 3 }");
    assert_eq!(found, [("TG0010", 1), ("TG0010", 2), ("TG0010", 3)]);
    assert_eq!(items, ["a~", "b~", "c"]);
}

#[test]
fn the_commonest_mistakes_are_named() {
    let program = |body: &str| format!("program p(x: f32) -> (y: f32) {{ {body} }}");
    says(&program("x ** 2"), &["error[TG0011]: `**` is not part of the language", "pow(x, y)"]);
    says(&program("x and x"), &["TG0011", "logical and is `&&`", "+ program p(x: f32) -> (y: f32) { x && x }"]);
    says(&program("return x"), &["TG0011", "a block's value is its last expression"]);
    says(&program("x as f64"), &["TG0011", "f32(x)"]);
    says(&program("heat::vjp(x)"), &["`::` is not part", "heat.vjp"]);
    says(&program("if x { 1 } elif x { 2 } else { 3 }"), &["`elif` is not part", "else if"]);
    says(&program("if x { 1 }"), &["expected `else`, found `}`", "needs both branches"]);
    says(&program("if x = 1 { 1 } else { 2 }"), &["expected `==`, found `=`"]);
    says(&program("0 < x < 1"), &["comparisons do not chain", "{ 0 < x && x < 1 }"]);
    says(&program("x;"), &["this block has no value", "remove this `;`"]);
    says(&program("f(x, axis = 1)"), &["expected `:`, found `=`", "{ f(x, axis: 1) }"]);
    says(&program("let mut a = x; a"), &["`mut` is not part", "`loop`"]);
    says(&program("while x > 0 { x }"), &["expected `let` or an expression, found `while`", "a loop names the values"]);
    says(&program("loop (a = x) for i in 3 { a } in a"), &["expected `<`, found `in`", "for i < n"]);
    says(&program("loop (a = x) for i < 3 { a }"), &["expected `in`, found `}`", "a loop ends with `in`"]);
    says(&program("let in = 1; x"), &["`in` is a keyword", "let in_ = 1"]);
    says(&program("f(x y)"), &["expected one of `)`, `,`, `:`, or an operator, found `y`"]);
    says("fn f(x) -> f32 { 1 }", &["expected `:`, found `)`", "parameters have types"]);
    says("fn f(x: f32) { x }", &["expected `->`, found `{`", "say what it returns"]);
    says("fn f(x: f32[2][3]) -> f32 { x }", &["found `[`", "all axes of a type stand in one list"]);
    says("fn f(x: f32 @paged) -> f32 { x }", &["found `@`", "placement stands before the name"]);
    says("fn f(g: graph<U, I>) -> f32 { 1 }", &["expected `->`, found `,`", "graph<U -> I>"]);
    says("program p(x: f32) -> f32 { x }", &["a program's results have names", "-> (out: f32[N])"]);
    says("const a = 1", &["expected `:`, found `=`", "its type stands before `=`"]);
    says("progam p() -> () { {} }", &["expected an item, found `progam`", "a similar word", "program p"]);
    says("def f(x):\n    return x", &["expected an item, found `def`", "functions are written `fn`"]);
    says(
        "message m(src: {x: f32}) -> f32 {\n    edge { src.x }\n    reduc sum\n}",
        &["found `reduc`", "    reduce sum"],
    );
    says("message m(src: {x: f32}) -> f32 { edge { src.x }; reduce sum }", &["found `;`", "clauses are not separated"]);
    says(
        "message m(src: {x: f32}) -> f32 { let a = 1; edge { a } }",
        &["found `let`", "stand in the blocks of clauses"],
    );
}

#[test]
fn a_missing_semicolon_is_shown_where_it_belongs() {
    let text = "fn f(x: f32) -> f32 {\n    let a = x\n    a\n}";
    says(
        text,
        &["error[TG0005]: expected `;`, found `a`", "a.tg:2:14", "unexpected here", "add `;` here", "let a = x;"],
    );
}

#[test]
fn doc_comments_find_their_places_or_warn() {
    let (parsed, shown) = read(
        "a.tg",
        "//! file\n/// one\n/// two\nfn f(\n    /// param\n    x: f32,\n) -> f32 {\n    x /// lost\n}\n/// end",
    );
    assert_eq!(parsed.module.docs, ["file"]);
    assert_eq!(parsed.module.items[0].docs, ["one", "two"]);
    let ItemKind::Function(f) = &parsed.module.items[0].kind else { panic!("not a function") };
    assert_eq!(f.params[0].docs, ["param"]);
    assert_eq!(shown.len(), 2, "{}", shown.join("\n"));
    assert!(!parsed.has_errors() && shown.iter().all(|text| text.starts_with("warning[TG0016]")));
    assert_eq!(parsed.comments.len(), 6);
}

#[test]
fn what_the_scanner_refuses_is_said_once() {
    assert_eq!(in_program("let a = x ? y;\nlet b = \"text\";\na × b"), [("TG0001", 2), ("TG0001", 3), ("TG0001", 4)]);
    assert_eq!(in_program("1.0f32 + 3d + 0x1F"), [("TG0002", 2); 3]);
    assert_eq!(in_program("99999999999999999999 + x.99999999999"), [("TG0003", 2); 2]);
}
