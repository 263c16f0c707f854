//! The names of kernels in object files.

use std::fmt::Write;

/// The ELF symbol of a kernel: `tiga.` before its name, every byte outside `A–Z a–z 0–9 _ .` as `$` and two
/// hexadecimal digits. Different names give different symbols; the prefix keeps names such as `_init` or
/// `llvm.x` from meaning something to a loader or to LLVM.
pub fn symbol_name(kernel: &str) -> String {
    let mut symbol = String::from("tiga.");
    for byte in kernel.bytes() {
        if byte.is_ascii_alphanumeric() || b"_.".contains(&byte) {
            symbol.push(char::from(byte));
        } else {
            write!(symbol, "${byte:02x}").expect("writing to a string cannot fail");
        }
    }
    symbol
}

#[cfg(test)]
mod tests {
    use super::symbol_name;

    #[test]
    fn dots_stay_and_other_bytes_are_escaped() {
        assert_eq!(symbol_name("heat.0.rows.v16"), "tiga.heat.0.rows.v16");
        assert_eq!(symbol_name("a-b$"), "tiga.a$2db$24");
    }
}
