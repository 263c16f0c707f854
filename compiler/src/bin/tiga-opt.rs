//! The command `tiga-opt`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tigac::driver::opt::main()
}
