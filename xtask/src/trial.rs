//! Trial of the packages: each is installed on a bare Debian 12 without Rust, used, and removed without a trace.

use crate::chroot::{Chroot, Surroundings};
use crate::{shell, stage};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
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

/// What each host prints, after everything else that its script does.
const HEAT: &str = "11.1 8.2 17.3\n";

/// How many hosts each of the page's scripts for C and C++ runs.
const HOSTS: [usize; 2] = [1, 2];

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
    let installed = files(chroot)?.keys().filter(|path| !before.contains_key(*path)).count();
    println!("{}: installed, {installed} files, links and folders more", way.name);
    run(&format!("cp -r {}/share/tiga/examples /trial", way.prefix))?;
    for (script, hosts) in scripts()?.iter().zip(HOSTS) {
        let output = shell::output(&mut chroot.step("/trial", &format!("set -eux; P={}\n{script}", way.prefix)))?;
        print!("{output}");
        ensure!(output.ends_with(&HEAT.repeat(hosts)), "not all of {hosts} hosts printed {HEAT}");
    }
    for command in ["tigac -vV", "tiga --version"] {
        run(&format!("PATH={}/bin:$PATH; {command}", way.prefix))?;
    }
    run("rm -r /trial")?;
    run(way.remove)?;
    let after = files(chroot)?;
    let differences = compare(&before, &after);
    ensure!(differences.is_empty(), "the system is not as before:\n{}", differences.join("\n"));
    println!("{}: removed, and all {} files, links and folders of the system are as before", way.name, after.len());
    Ok(())
}

/// The page's scripts, but for the one that needs cargo.
fn scripts() -> Result<Vec<String>> {
    let page = stage::read(&shell::root().join(PAGE))?;
    let scripts = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let scripts: Vec<String> = scripts.filter(|script| !script.contains("cargo")).map(String::from).collect();
    ensure!(scripts.len() == HOSTS.len(), "{PAGE} has {} scripts for hosts in C and C++", scripts.len());
    Ok(scripts)
}

/// Everything in the system, but for what package management keeps.
fn files(chroot: &Chroot) -> Result<Files> {
    let find = |what: &str| {
        let line = format!("find / -xdev -not -path '/proc/*' -not -path '/tmp/*' {what}");
        shell::output(&mut chroot.step("/", &line))
    };
    Ok(read(&find(r"-printf '%p\t%y %m %U:%G %l\n'")?, &find("-type f -exec sha256sum {} +")?))
}

/// By path: kind, mode, owner, where a link leads, and the checksum of what is in a file.
type Files = BTreeMap<String, String>;

/// From a line `path TAB kind` for each, and a line `checksum SPACE SPACE path` for each file.
fn read(kinds: &str, sums: &str) -> Files {
    let kept = |path: &str| KEPT_BY_APT.iter().any(|start| path.starts_with(start));
    let mut files = Files::new();
    for (path, kind) in kinds.lines().filter_map(|line| line.split_once('\t')).filter(|(path, _)| !kept(path)) {
        files.insert(path.to_owned(), kind.to_owned());
    }
    for (sum, path) in sums.lines().filter_map(|line| line.split_once("  ")) {
        if let Some(kind) = files.get_mut(path) {
            *kind += sum;
        }
    }
    files
}

/// A line for each path that is more, is less or is another.
fn compare(before: &Files, after: &Files) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, old) in before {
        match after.get(path) {
            None => lines.push(format!("gone: {path}")),
            Some(new) if new != old => lines.push(format!("changed: {path}: {old} -> {new}")),
            Some(_) => {}
        }
    }
    lines.extend(after.keys().filter(|path| !before.contains_key(*path)).map(|path| format!("left behind: {path}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_less_or_another_is_found_and_what_apt_keeps_is_not() {
        let (kinds, sums) = ("/a\tf 644 0:0 \n/b\tl 777 0:0 a\n/var/log/x\tf 644 0:0 \n", "11  /a\n22  /var/log/x\n");
        let before = read(kinds, sums);
        assert_eq!(compare(&before, &read(kinds, "11  /a\n33  /var/log/x\n")), [""; 0]);
        assert_eq!(compare(&before, &read(kinds, "33  /a\n")), ["changed: /a: f 644 0:0 11 -> f 644 0:0 33"]);
        let mode = kinds.replace("/a\tf 644", "/a\tf 600");
        assert_eq!(compare(&before, &read(&mode, sums)), ["changed: /a: f 644 0:0 11 -> f 600 0:0 11"]);
        let link = kinds.replace("l 777 0:0 a", "l 777 0:0 c");
        assert_eq!(compare(&before, &read(&link, sums)), ["changed: /b: l 777 0:0 a -> l 777 0:0 c"]);
        let other = kinds.replace("/b\t", "/c\t");
        assert_eq!(compare(&before, &read(&other, sums)), ["gone: /b", "left behind: /c"]);
    }
}
