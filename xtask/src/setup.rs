//! `cargo xtask setup`: what a bare Debian 12 with Rust and a linker still lacks, installed after saying so.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What must be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// What compiling a model needs.
    Llvm,
    /// What the tests need, and `cargo xtask sanitize`.
    Everything,
    /// What `cargo xtask fuzz` needs.
    Fuzzing,
    /// What `cargo xtask bench` needs.
    Bench,
    /// What `cargo xtask dist` needs.
    Packages,
    /// What `cargo xtask dist --check` needs.
    Trial,
}

impl Need {
    /// Whether what serves `other` serves this too.
    fn includes(self, other: Need) -> bool {
        match self {
            Need::Llvm => other == Need::Llvm,
            Need::Everything => other == Need::Everything || Need::Llvm.includes(other),
            Need::Fuzzing => other == Need::Fuzzing || Need::Everything.includes(other),
            Need::Bench => other == Need::Bench || Need::Everything.includes(other),
            Need::Packages => other == Need::Packages || Need::Llvm.includes(other),
            Need::Trial => other == Need::Trial || Need::Packages.includes(other),
        }
    }
}

/// A Debian package, the file that shows it is installed, and why it is needed.
struct Part {
    package: &'static str,
    witness: &'static str,
    why: &'static str,
    need: Need,
}

const PARTS: &[Part] = &[
    Part {
        package: "llvm-22-dev",
        witness: "/usr/lib/llvm-22/include/llvm-c/Core.h",
        why: "tigac's code generator",
        need: Need::Llvm,
    },
    Part {
        package: "libstdc++-12-dev",
        witness: "/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++.so",
        why: "links tigac to LLVM, which is C++",
        need: Need::Llvm,
    },
    Part {
        package: "lld-22",
        witness: "/usr/lib/llvm-22/bin/ld.lld",
        why: "links kernels into bundles",
        need: Need::Llvm,
    },
    Part {
        package: "llvm-22-tools",
        witness: "/usr/lib/llvm-22/bin/FileCheck",
        why: "FileCheck, which reads CHECK lines",
        need: Need::Everything,
    },
    Part { package: "g++", witness: "/usr/bin/g++", why: "compiles hosts of the C++ library", need: Need::Everything },
    Part { package: "make", witness: "/usr/bin/make", why: "builds what CMake lays out", need: Need::Everything },
    Part {
        package: "cmake",
        witness: "/usr/bin/cmake",
        why: "builds hosts of an installed Tiga",
        need: Need::Everything,
    },
    Part {
        package: "pkg-config",
        witness: "/usr/bin/pkg-config",
        why: "says where an installed Tiga lies",
        need: Need::Everything,
    },
    Part { package: "gdb", witness: "/usr/bin/gdb", why: "stops at lines of models", need: Need::Everything },
    Part { package: "unzip", witness: "/usr/bin/unzip", why: "an outside judge of bundles", need: Need::Everything },
    Part {
        package: "valgrind",
        witness: "/usr/bin/valgrind",
        why: "callgrind, which counts by lines of models; memcheck and helgrind, which watch hosts of the C library",
        need: Need::Everything,
    },
    Part {
        package: "python3-venv",
        witness: "/usr/lib/python3.11/ensurepip/__init__.py",
        why: "holds the libraries that Tiga is measured beside",
        need: Need::Bench,
    },
    Part {
        package: "dpkg-dev",
        witness: "/usr/bin/dpkg-shlibdeps",
        why: "finds what the Debian package depends on",
        need: Need::Packages,
    },
    Part {
        package: "mmdebstrap",
        witness: "/usr/bin/mmdebstrap",
        why: "makes bare systems to try packages on",
        need: Need::Trial,
    },
];

/// Rust components the tests call, as cargo subcommand and rustup component.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// The suite that carries LLVM 22, and where a source for it is written if none names it.
const SUITE: &str = "bookworm-security";
const SOURCES_FILE: &str = "/etc/apt/sources.list.d/tiga-bookworm-security.sources";

/// Installs what is missing; silent and quick when nothing is.
pub fn run(need: Need) -> Result<()> {
    let missing: Vec<&Part> =
        PARTS.iter().filter(|part| need.includes(part.need) && !Path::new(part.witness).exists()).collect();
    if !missing.is_empty() {
        packages(&missing)?;
    }
    if need.includes(Need::Everything) { components() } else { Ok(()) }
}

/// Installs Debian packages, or says which line would.
fn packages(missing: &[&Part]) -> Result<()> {
    eprintln!("Missing on this machine:");
    for part in missing {
        eprintln!("  {:<16} {}", part.package, part.why);
    }
    let names: Vec<&str> = missing.iter().map(|part| part.package).collect();
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    if !release.lines().any(|line| line == "VERSION_CODENAME=bookworm") {
        bail!("set-up knows Debian 12 (bookworm) only: install LLVM 22 (under /usr/lib/llvm-22) and the rest by hand");
    }
    let script = script(&names, &configured_sources()?)?;
    if !is_root()? {
        bail!("installing needs root; run this line, then try again:\n\n  sudo sh -c {}\n", single_quoted(&script));
    }
    let size = if names.iter().any(|name| name.starts_with("llvm-")) { " (about 1 GB)" } else { "" };
    eprintln!("Installing them{size}:\n  {script}");
    let status = Command::new("sh")
        .args(["-ec", &script])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .status()
        .context("sh did not start")?;
    if !status.success() {
        bail!("installing failed ({status}): `{script}`");
    }
    for part in missing {
        if !Path::new(part.witness).exists() {
            bail!("{} is installed but {} is not there", part.package, part.witness);
        }
    }
    Ok(())
}

/// The shell line that installs `names`, given the text of all configured apt sources.
fn script(names: &[&str], sources: &str) -> Result<String> {
    let mut line = String::new();
    if !sources.contains(SUITE) {
        let uri = security_uri(sources)?;
        eprintln!("No apt source names {SUITE}, which carries LLVM 22: {SOURCES_FILE} will.");
        let stanza = format!(
            "Types: deb\\nURIs: {uri}\\nSuites: {SUITE}\\nComponents: main\\nSigned-By: {}\\n",
            "/usr/share/keyrings/debian-archive-keyring.gpg"
        );
        line.push_str(&format!("printf \"{stanza}\" > {SOURCES_FILE} && "));
    }
    line.push_str("apt-get update -qq && apt-get install -y -qq --no-install-recommends ");
    line.push_str(&names.join(" "));
    Ok(line)
}

/// The security archive beside the archive this machine already uses.
fn security_uri(sources: &str) -> Result<String> {
    let archive = sources
        .split_whitespace()
        .map(|word| word.trim_end_matches('/'))
        .find(|word| word.contains("://") && word.ends_with("/debian"));
    match archive {
        Some(uri) => Ok(format!("{uri}-security")),
        None => bail!("no apt source ends in /debian, so the one of {SUITE} cannot be derived: add it by hand"),
    }
}

/// The text of all apt source files, comments removed.
fn configured_sources() -> Result<String> {
    let mut text = String::new();
    let mut files = vec!["/etc/apt/sources.list".into()];
    if let Ok(folder) = fs::read_dir("/etc/apt/sources.list.d") {
        for entry in folder {
            files.push(entry.context("cannot list the apt sources")?.path());
        }
    }
    for file in files.iter().filter(|file| file.exists()) {
        let content = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        for line in content.lines().filter(|line| !line.trim_start().starts_with('#')) {
            text.push_str(line);
            text.push('\n');
        }
    }
    Ok(text)
}

fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output().context("`id -u` did not start")?;
    Ok(output.stdout.trim_ascii() == b"0")
}

/// Adds rustfmt and clippy through rustup where the toolchain came without them.
fn components() -> Result<()> {
    let has = |sub: &str| {
        let probe = shell::cargo([sub, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    };
    let missing: Vec<&str> = COMPONENTS.iter().filter(|(sub, _)| !has(sub)).map(|(_, component)| *component).collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("Missing in this Rust toolchain: {} (the tests call them)", missing.join(", "));
    shell::run(shell::command("rustup").args(["component", "add"]).args(&missing))
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "deb http://mirror.example/debian bookworm main\n";

    #[test]
    fn a_source_for_the_suite_is_added_only_where_none_names_it() {
        let bare = script(&["lld-22"], BARE).unwrap();
        assert!(bare.contains("URIs: http://mirror.example/debian-security\\nSuites: bookworm-security\\n"), "{bare}");
        assert!(bare.ends_with("install -y -qq --no-install-recommends lld-22"), "{bare}");
        let full = format!("{BARE}deb http://mirror.example/debian-security bookworm-security main\n");
        assert!(script(&["lld-22"], &full).unwrap().starts_with("apt-get update"));
    }

    #[test]
    fn an_unknown_archive_is_refused() {
        let error = security_uri("deb http://mirror.example/elsewhere bookworm main").unwrap_err();
        assert!(error.to_string().contains("add it by hand"), "{error}");
    }
}
