//! The command `tigac`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tigac::driver::main()
}
