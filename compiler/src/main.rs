//! The command `tigac`.

use std::process::ExitCode;

/// Lowerings and LLVM recurse along chains of instructions, which sources may make long.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(tigac::driver::main) {
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(tigac::driver::INTERNAL)),
        Err(error) => {
            eprintln!("error: cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}
