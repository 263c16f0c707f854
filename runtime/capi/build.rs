//! How the shared library is linked: under the name of its ABI, and bound to itself.

/// Has the library's own calls stay inside of it, whatever the host or another library calls its functions. Only what
/// is declared `no_mangle` is exported: rustc's own version script sees to that, and a test looks.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtiga.so.1");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}
