//! Forms of output: what is in them, what is not, and that they are the same every time.

use crate::native::{Array, Guard, Library};
use crate::verify_outside;
use object::{Object, ObjectSymbol};
use tiga_abi::CpuTarget;
use tiga_backend_llvm::{Compiled, OptLevel, Options, compile};
use tiga_ir::parse_module;

/// `out[i] = a[i]*b[i] + c[i]`, not fused; `F` units to clear, `F` to copy; two levels of loops.
const KERNELS: &str = r#"
kernel @unfused(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>, %out: ptr<f32>, %unit_begin: i64, %unit_end: i64) {
  %one = const value(i64 1) : i64
  jump ^head(%unit_begin)
^head(%i: i64):
  %more = lt %i, %unit_end : bool
  branch %more ^body, ^done
^body():
  %x = ptr.load %a, %i : f32
  %y = ptr.load %b, %i : f32
  %z = ptr.load %c, %i : f32
  %p = mul %x, %y : f32
  %r = add %p, %z : f32
  ptr.store %r, %out, %i
  %next = add %i, %one : i64
  jump ^head(%next)
^done():
  return
}

kernel @clear.and.copy(%a: ptr<i64>, %out: ptr<i64>, %zeros: ptr<bool>, %unit_begin: i64, %unit_end: i64) {
  %one = const value(i64 1) : i64
  %off = const value(bool false) : bool
  jump ^clear(%unit_begin)
^clear(%i: i64):
  ptr.store %off, %zeros, %i
  %i1 = add %i, %one : i64
  %more = lt %i1, %unit_end : bool
  branch %more ^clear(%i1), ^copy(%unit_begin)
^copy(%j: i64):
  %x = ptr.load %a, %j : i64
  ptr.store %x, %out, %j
  %j1 = add %j, %one : i64
  %again = lt %j1, %unit_end : bool
  branch %again ^copy(%j1), ^done
^done():
  return
}

kernel @rows.sum<set S, dim F>(%S: i64, %F: i64, %g.row_ptr: ptr<i64>, %x: ptr<f64>, %out: ptr<f64>, %scratch: ptr<f64>, %unit_begin: i64, %unit_end: i64) {
  %one = const value(i64 1) : i64
  %zero = const value(i64 0) : i64
  %start = const value(f64 -0.0) : f64
  jump ^rows(%unit_begin)
^rows(%d: i64):
  %more = lt %d, %unit_end : bool
  branch %more ^row, ^done
^row():
  %d1 = add %d, %one : i64
  %p = ptr.load %g.row_ptr, %d : i64
  %q = ptr.load %g.row_ptr, %d1 : i64
  jump ^edges(%p, %start)
^edges(%e: i64, %acc: f64):
  %inside = lt %e, %q : bool
  branch %inside ^edge, ^end
^edge():
  %at = mul %e, %F : i64
  %v = ptr.load %x, %at : f64
  %sum = add %acc, %v : f64
  %e1 = add %e, %one : i64
  jump ^edges(%e1, %sum)
^end():
  %s = cast %S to(f64) : f64
  %r = add %acc, %s : f64
  ptr.store %r, %scratch, %zero
  %again = ptr.load %scratch, %zero : f64
  ptr.store %again, %out, %d
  jump ^rows(%d1)
^done():
  return
}
"#;

const ALL: [Options; 5] = [
    Options { target: CpuTarget::X86_64V2, opt: OptLevel::O },
    Options { target: CpuTarget::X86_64V3, opt: OptLevel::O0 },
    Options { target: CpuTarget::X86_64V3, opt: OptLevel::O },
    Options { target: CpuTarget::Native, opt: OptLevel::O0 },
    Options { target: CpuTarget::Native, opt: OptLevel::O },
];

fn compiled(options: &Options) -> Compiled {
    let module = parse_module("kernels.tir", KERNELS).unwrap();
    compile(&module, &["unfused".into(), "clear.and.copy".into(), "rows.sum".into()], options).unwrap()
}

fn bytes<const N: usize, T>(values: impl IntoIterator<Item = T>, to_bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    values.into_iter().flat_map(to_bytes).collect()
}

#[test]
fn nothing_is_fused_or_reassociated() {
    // (1 + 2^-12)² − 1 − 2^-11 is 2^-24 exactly and 0 after rounding the product.
    let x = 1.0 + 1.0 / 4096.0f32;
    let c = -1.0 - 1.0 / 2048.0f32;
    for options in &ALL {
        let library = Library::load(&compiled(options).shared_object().unwrap());
        let fill = |v: f32| Array::new(&bytes([v; 64], f32::to_le_bytes), Guard::After);
        let out = fill(1.0);
        library.run("tiga.unfused", &[], &[&fill(x), &fill(x), &fill(c), &out], None, (0, 64));
        assert_eq!(out.bytes(), bytes([x * x + c; 64], f32::to_le_bytes), "{options:?}");
    }
    assert_ne!(x * x + c, x.mul_add(x, c));
}

#[test]
fn symbols_arrays_and_scratch_arrive() {
    for options in &ALL {
        let library = Library::load(&compiled(options).shared_object().unwrap());
        let row_ptr = Array::new(&bytes([0, 2, 2, 5i64], i64::to_le_bytes), Guard::After);
        let x = Array::new(&bytes((0..10).map(f64::from), f64::to_le_bytes), Guard::After);
        let (out, scratch) = (Array::new(&[0; 24], Guard::After), Array::new(&[0; 8], Guard::After));
        library.run("tiga.rows.sum", &[100, 2], &[&row_ptr, &x, &out], Some(&scratch), (0, 3));
        assert_eq!(out.bytes(), bytes([102.0, 100.0, 118.0], f64::to_le_bytes), "{options:?}");
    }
}

#[test]
fn loops_do_not_become_library_calls() {
    for options in &ALL {
        let compiled = compiled(options);
        assert!(!compiled.llvm_ir().contains("@llvm.mem"), "{}", compiled.llvm_ir());
        let library = Library::load(&compiled.shared_object().unwrap());
        let a = Array::new(&bytes(0..999i64, i64::to_le_bytes), Guard::After);
        let (out, zeros) = (Array::new(&[7; 999 * 8], Guard::After), Array::new(&[1; 999], Guard::After));
        library.run("tiga.clear.and.copy", &[], &[&a, &out, &zeros], None, (0, 999));
        assert_eq!((out.bytes(), zeros.bytes()), (a.bytes(), vec![0; 999]));
    }
}

#[test]
fn objects_export_kernels_and_need_nothing() {
    for options in &ALL {
        let compiled = compiled(options);
        verify_outside(compiled.llvm_ir());
        let (object, shared) = (compiled.object(), compiled.shared_object().unwrap());
        let object = object::File::parse(object).unwrap();
        let named = |s: &object::Symbol| s.name().unwrap_or("").to_owned();
        let undefined = object.symbols().filter(|s| s.is_undefined() && !named(s).is_empty()).count();
        assert_eq!(undefined, 0);
        let parsed = object::File::parse(&*shared).unwrap();
        let mut exported: Vec<String> = parsed.dynamic_symbols().filter(|s| s.is_global()).map(|s| named(&s)).collect();
        exported.sort();
        assert_eq!(exported, ["tiga.clear.and.copy", "tiga.rows.sum", "tiga.unfused"]);
        assert_eq!(compiled.symbols()["rows.sum"], "tiga.rows.sum");
        assert!(!compiled.llvm_ir().contains(" fast ") && !compiled.llvm_ir().contains("contract"));
        assert!(compiled.asm().unwrap().contains("tiga.rows.sum:"));
    }
}

#[test]
fn the_same_input_gives_the_same_bytes_and_no_path() {
    let forms = |c: &Compiled| {
        vec![
            c.llvm_ir().as_bytes().to_vec(),
            c.asm().unwrap().into_bytes(),
            c.object().to_vec(),
            c.shared_object().unwrap(),
        ]
    };
    for options in &ALL {
        let (once, twice) = (forms(&compiled(options)), forms(&compiled(options)));
        assert!(once == twice, "{options:?}");
        let places = [std::env::temp_dir(), env!("CARGO_MANIFEST_DIR").into()];
        for (form, place) in once.iter().flat_map(|form| places.iter().map(move |p| (form, p))) {
            let place = place.to_str().unwrap().as_bytes();
            assert!(!form.windows(place.len()).any(|w| w == place));
        }
    }
}
