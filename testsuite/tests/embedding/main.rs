//! Programs that hold the C library: hosts in C and C++ are compiled, linked and run; the library shows `tiga_*` only.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod build;

use build::{Host, bundles, library, linked_heat, run, shell};
use tiga_formats::{Csr, Indices};
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Context, Graph};

/// What every host prints for the heat example of the specification.
const HEAT: &str = "11.1 8.2 17.3\n";

#[test]
fn hosts_in_c_and_cpp_print_the_heat_example() {
    let bundle = bundles().join("heat.tgb");
    for (host, name) in
        [(Host::c("../examples/embed/c/heat.c"), "c"), (Host::cpp("../examples/embed/cpp/heat.cpp"), "cpp")]
    {
        let program = host.compile(&format!("heat-{name}"));
        assert_eq!(run(&mut shell(&program, &[bundle.to_str().unwrap()])), HEAT, "{name}");
    }
}

#[test]
fn the_static_library_holds_all_that_it_needs() {
    let program = Host::c("../examples/embed/c/heat.c").of_static_library().compile("heat-static");
    assert_eq!(run(&mut shell(&program, &[bundles().join("heat.tgb").to_str().unwrap()])), HEAT);
}

#[test]
fn a_host_in_rust_prints_the_heat_example() {
    let bundle = Bundle::open(&bundles().join("heat.tgb")).unwrap();
    let csr = Csr::from_csr(vec![0, 2, 3, 5], Indices::I32(vec![0, 2, 1, 0, 1]), Some(3)).unwrap();
    let graph = Graph::new(&csr).unwrap();
    let f32s = |numbers: &[f32]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let [t, b, c] = [f32s(&[1., 2., 3.]), f32s(&[0.1, 0.2, 0.3]), f32s(&[2., 3., 4., 5., 6.])];
    let mut out = [0u8; 12];
    let mut call = bundle.call("heat").unwrap();
    call.graph("g", &graph).unwrap();
    for (name, bytes) in [("T", &t), ("b", &b), ("c", &c)] {
        call.input(name, ArrayRef::new(tiga_abi::DType::F32, &[bytes.len() / 4], bytes)).unwrap();
    }
    call.output("out", ArrayMut::new(tiga_abi::DType::F32, &[3], &mut out)).unwrap();
    call.run(&Context::new(0).unwrap()).unwrap();
    let shown: Vec<String> =
        out.chunks(4).map(|x| format!("{:.1}", f32::from_le_bytes(x.try_into().unwrap()))).collect();
    assert_eq!(format!("{}\n", shown.join(" ")), HEAT);
}

#[test]
fn the_library_keeps_its_promises_to_a_host_in_c() {
    let program = Host::c("tests/embedding/checks.c").compile("checks");
    let bundle = bundles().join("walk.tgb");
    for check in ["inspect", "targets", "errors", "overlap", "coo", "memory", "hooks", "contexts", "threads", "cancel"]
    {
        assert_eq!(run(&mut shell(&program, &[check, bundle.to_str().unwrap()])), "ok\n", "{check}");
    }
}

#[test]
fn memory_hierarchy_7_1_a_host_in_c_prints_the_table() {
    let table = include_str!("../../../runtime/tests/eight_bytes.txt");
    let host = || Host::c("../examples/embed/c/eight_bytes.c");
    assert_eq!(run(&mut shell(host().compile("eight-bytes"), &[])), table);
    assert_eq!(run(&mut shell(host().of_static_library().compile("eight-bytes-static"), &[])), table);
}

#[test]
fn memory_hierarchies_keep_their_promises_to_a_host_in_c() {
    let program = Host::c("tests/embedding/tiers.c").compile("tiers");
    assert_eq!(run(&mut shell(program, &[])), "ok\n");
}

#[test]
fn a_prepared_call_of_a_host_in_c_allocates_nothing() {
    let program = Host::c("tests/embedding/prepared.c").compile("prepared");
    assert_eq!(run(&mut shell(&program, &[bundles().join("walk.tgb").to_str().unwrap()])), "ok\n");
}

#[test]
fn halves_are_passed_as_their_bits() {
    let program = Host::c("tests/embedding/halves.c").compile("halves");
    let printed = run(&mut shell(&program, &[bundles().join("halves.tgb").to_str().unwrap()]));
    assert_eq!(printed, "4000 4200 4400 4500 3c00\n4000 4040 4080 40a0 3f80\n");
    let cpp = Host::cpp("tests/embedding/halves.cpp").compile("halves-cpp");
    for target in [None, Some("x86-64-v2"), Some("x86-64-v3")] {
        let bundle = bundles().join("halves.tgb");
        let arguments: Vec<&str> = bundle.to_str().into_iter().chain(target).collect();
        let again = run(&mut shell(&cpp, &arguments));
        assert_eq!(again.split_whitespace().collect::<Vec<_>>(), printed.split_whitespace().collect::<Vec<_>>());
    }
}

#[test]
fn kernels_linked_ahead_of_time_load_nothing() {
    let folder = linked_heat();
    let object = folder.join("heat.o");
    let include = format!("-I{}", folder.display());
    let names = run(&mut shell("nm", &["-g", "--defined-only", "--format=just-symbols", object.to_str().unwrap()]));
    assert_eq!(names, "tiga_linked_heat\n", "two objects in one program meet in nothing else");
    let host = || Host::c("../examples/embed/c/linked.c").with(&include).with(object.to_str().unwrap());
    assert_eq!(run(&mut shell(host().compile("linked"), &[])), HEAT);
    let alone = host().with("tests/embedding/no_dlopen.c").of_static_library().compile("linked-alone");
    assert_eq!(run(&mut shell(&alone, &[])), HEAT, "with a dlopen that aborts");
    let loading = Host::c("../examples/embed/c/heat.c").with("tests/embedding/no_dlopen.c").of_static_library();
    let mut loading = shell(loading.compile("loading"), &[bundles().join("heat.tgb").to_str().unwrap()]);
    assert!(!loading.output().unwrap().status.success(), "a host that does load is seen");
    let cpp = Host::cpp("tests/embedding/linked.cpp").with(&include).with(object.to_str().unwrap());
    assert_eq!(run(&mut shell(cpp.compile("linked-cpp"), &[])), HEAT);
}

#[test]
fn the_library_exports_its_own_names_only() {
    let names = run(&mut shell("nm", &["-D", "--defined-only", library("libtiga.so").to_str().unwrap()]));
    let names: Vec<&str> = names.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert!(names.len() > 30, "{names:?}");
    let others: Vec<&&str> = names.iter().filter(|name| !name.starts_with("tiga_")).collect();
    assert!(others.is_empty(), "{others:?}");
    let header = include_str!("../../../runtime/capi/include/tiga.h");
    let undeclared: Vec<&&str> = names.iter().filter(|name| !header.contains(&format!("{name}("))).collect();
    assert!(undeclared.is_empty(), "exported, but not in tiga.h: {undeclared:?}");
}

#[test]
fn the_library_needs_the_system_only() {
    let needed = run(&mut shell("ldd", &[library("libtiga.so").to_str().unwrap()]));
    let known = ["linux-vdso", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64"];
    let others: Vec<&str> = needed.lines().filter(|line| !known.iter().any(|name| line.contains(name))).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// `cargo xtask sanitize` runs it: valgrind and AddressSanitizer are no part of the usual tests.
#[test]
#[ignore = "minutes, and needs valgrind"]
fn sanitized() {
    let bundle = bundles().join("walk.tgb");
    let bundle = bundle.to_str().unwrap();
    let plain = Host::c("tests/embedding/checks.c").compile("checks-sanitized");
    let plain = plain.to_str().unwrap();
    let valgrind = |arguments: &[&str]| run(shell("valgrind", &["-q", "--error-exitcode=9"]).args(arguments));
    let suppressions = concat!("--suppressions=", env!("CARGO_MANIFEST_DIR"), "/tests/embedding/memcheck.supp");
    assert_eq!(valgrind(&["--leak-check=full", suppressions, plain, "all", bundle]), "ok\n");
    println!("memcheck: the host, the library and the kernels in all checks: clean");
    assert_eq!(valgrind(&["--tool=helgrind", plain, "threads", bundle]), "ok\n");
    println!("helgrind: eight threads with contexts of their own on one bundle and one graph: clean");
    let library = std::env::var("TIGA_ASAN_LIBRARY").expect("`cargo xtask sanitize` builds the library and names it");
    let names = run(&mut shell("nm", &["--undefined-only", &library]));
    assert!(names.contains("__asan_report_load8"), "{library} is built without AddressSanitizer");
    let checked = Host::c("tests/embedding/checks.c").with("-fsanitize=address,undefined").of_library(&library);
    assert_eq!(run(&mut shell(checked.compile("checks-asan"), &["all", bundle])), "ok\n");
    println!(
        "AddressSanitizer: the host and the inside of the library, in all checks, eight threads among them: clean"
    );
    println!("not looked at: pools under helgrind, which does not know Rust's locks; the inside of kernels under");
    println!("AddressSanitizer (memcheck and the tests with guard pages look at it)");
}
