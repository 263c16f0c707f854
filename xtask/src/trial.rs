//! Trial of the packages: each is installed on a bare Debian 12 without Rust, used, and removed without a trace.

use crate::chroot::{Chroot, Surroundings};
use crate::{shell, stage};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[group(skip)]
pub struct Options {
    /// Folder in which the systems are made; about 2 GB are needed at a time
    #[arg(long, default_value = "target/trial", requires = "check")]
    dir: PathBuf,
    #[command(flatten)]
    pub surroundings: Surroundings,
}

/// What someone has who builds hosts in C and C++.
const PACKAGES: &str = "gcc,g++,libc6-dev,cmake,make,pkg-config,ca-certificates";

/// The suite that LLVM comes from has its own source in every Debian.
const LLVM: &str = "apt-get install -y -qq --no-install-recommends libllvm22 lld-22 > /dev/null";

/// Where the commands of this page are run.
const PAGE: &str = "docs/embedding.md";

/// What the examples print.
const HEAT: &str = "11.1 8.2 17.3";

/// Files that package management itself keeps or changes: no package owns them.
const KEPT_BY_APT: &[&str] = &["/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/", "/var/log/", "/etc/ld.so.cache"];

/// A way to install: what must be there, its name, how it is installed, where to, and how it is removed.
struct Way {
    name: &'static str,
    before: &'static str,
    install: String,
    prefix: &'static str,
    remove: &'static str,
}

/// Tries the tarball and the Debian package, each on a system of its own.
pub fn run(tarball: &Path, package: &Path, options: &Options) -> Result<()> {
    let file = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ways = [
        (
            tarball,
            Way {
                name: "tarball",
                before: LLVM,
                install: format!(
                    "mkdir /unpacked && tar -xzf /{} -C /unpacked && /unpacked/*/install.sh",
                    file(tarball)
                ),
                prefix: "/usr/local",
                remove: "sh /usr/local/share/tiga/uninstall.sh && rm -r /unpacked",
            },
        ),
        (
            package,
            Way {
                name: "Debian package",
                before: "true",
                install: format!("apt-get install -y -qq --no-install-recommends /{} > /dev/null", file(package)),
                prefix: "/usr",
                remove: "apt-get purge -y -qq tiga > /dev/null && apt-get autoremove --purge -y -qq > /dev/null",
            },
        ),
    ];
    let dir = shell::root().join(&options.dir);
    for (package, way) in &ways {
        let chroot = Chroot::make(dir.join(way.name.replace(' ', "-")), PACKAGES, &options.surroundings)?;
        chroot.copy(package, &Path::new("/").join(package.file_name().unwrap_or_default()))?;
        try_out(&chroot, way).with_context(|| format!("the {} failed its trial", way.name))?;
    }
    // It stays if a system in it is to be kept.
    let _ = std::fs::remove_dir(dir);
    Ok(())
}

fn try_out(chroot: &Chroot, way: &Way) -> Result<()> {
    let run = |line: &str| shell::run(&mut chroot.step("/", line));
    run("! command -v cargo rustc")?;
    run("apt-get update -qq && apt-get autoremove --purge -y -qq > /dev/null")?;
    run(way.before)?;
    let before = files(chroot)?;
    run(&way.install)?;
    let installed = files(chroot)?.difference(&before).count();
    println!("{}: installed, {installed} files, links and folders more", way.name);
    run(&format!("cp -r {}/share/tiga/examples /trial", way.prefix))?;
    for script in scripts()? {
        let output = shell::output(&mut chroot.step("/trial", &format!("set -eux; P={}\n{script}", way.prefix)))?;
        let printed = output.lines().filter(|line| *line == HEAT).count();
        print!("{output}");
        ensure!(printed > 0, "no `{HEAT}` was printed");
    }
    for command in ["tigac -vV", "tiga --version"] {
        run(&format!("PATH={}/bin:$PATH; {command}", way.prefix))?;
    }
    run("rm -r /trial")?;
    run(way.remove)?;
    let after = files(chroot)?;
    let left: Vec<&String> = after.difference(&before).collect();
    let lost: Vec<&String> = before.difference(&after).collect();
    ensure!(left.is_empty() && lost.is_empty(), "left behind: {left:?}; gone: {lost:?}");
    println!("{}: removed, and all {} files, links and folders of the system are as before", way.name, after.len());
    Ok(())
}

/// The page's scripts, but for the one that needs cargo.
fn scripts() -> Result<Vec<String>> {
    let page = stage::read(&shell::root().join(PAGE))?;
    let scripts = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let scripts: Vec<String> = scripts.filter(|script| !script.contains("cargo")).map(String::from).collect();
    ensure!(scripts.len() >= 2, "{PAGE} has no commands for hosts in C and C++");
    Ok(scripts)
}

/// Everything in the system, but for what package management keeps.
fn files(chroot: &Chroot) -> Result<BTreeSet<String>> {
    let text = shell::output(&mut chroot.step("/", "find / -xdev -not -path '/proc/*' -not -path '/tmp/*'"))?;
    let kept = |path: &&str| KEPT_BY_APT.iter().any(|start| path.starts_with(start));
    Ok(text.lines().filter(|path| !kept(path)).map(String::from).collect())
}
