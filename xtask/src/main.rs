//! The one door to everything around the compiler: `cargo xtask setup | demo | install | dist | test | plant | soak | spec-coverage | survey | sanitize | fuzz | bench | chroot-check`.

mod bench;
mod chroot;
mod deb;
mod demo;
mod dist;
mod fuzz;
mod install;
mod notices;
mod plant;
mod sanitize;
mod setup;
mod shell;
mod soak;
mod spec_coverage;
mod stage;
mod survey;
mod test;
mod trial;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Set-up, demo, tests and chores of Tiga.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what a bare Debian 12 with Rust still lacks
    ///
    /// Says what is missing and why before installing it. Without root it prints the line to run and exits 1.
    /// Silent when everything is there.
    Setup,
    /// Rank Debian's packages with a compiled PageRank: set-up, compile, run
    Demo,
    /// Install commands, libraries, headers, manual pages, and what pkg-config, CMake and cargo read
    Install(install::Options),
    /// Make a tarball and a Debian package in target/dist
    Dist(dist::Options),
    /// Run every check of the repository: set-up, format, clippy, all tests
    Test,
    /// Apply committed one-line bugs one at a time and fail for each that no test notices
    Plant(plant::Options),
    /// Compare random programs across interpreters and compiled kernels for a long time
    Soak(soak::Options),
    /// Print which rows of the definitions have tests, and fail for one without test and without reason
    SpecCoverage,
    /// Print how far the compiled math functions are from the exact value, over all f32 and 10^9 f64 arguments each
    Survey(survey::Options),
    /// Watch hosts of the C library with valgrind's memcheck and helgrind, and with AddressSanitizer
    Sanitize,
    /// Feed mutated bytes to every reader, guided by the code that they reach
    Fuzz(fuzz::Options),
    /// Measure Tiga beside SciPy, MKL, numba, GraphBLAS and loops in C
    Bench(bench::Options),
    /// Prove set-up on a bare Debian 12: demo and tests in a fresh chroot (needs root and mmdebstrap)
    ChrootCheck(chroot::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Setup => setup::run(setup::Need::Everything),
        Task::Demo => demo::run(),
        Task::Install(options) => install::run(&options),
        Task::Dist(options) => dist::run(&options),
        Task::Test => test::run(),
        Task::Plant(options) => plant::run(&options),
        Task::Soak(options) => soak::run(&options),
        Task::SpecCoverage => spec_coverage::run(),
        Task::Survey(options) => survey::run(&options),
        Task::Sanitize => sanitize::run(),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::ChrootCheck(options) => chroot::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn all_command_lines_are_sound() {
        Cli::command().debug_assert();
    }
}
