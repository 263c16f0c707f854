//! A process that dies in the middle of transfers, however it dies: the next hierarchy cleans up and says so.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tiga_runtime::{Cleaned, Hierarchy, Request, Tier, WantedStorage};

/// Where the dying process has its files.
const PARENT: &str = "TIGA_TEST_DEATH_PARENT";

/// Whether it uses threads.
const BUFFERED: &str = "TIGA_TEST_DEATH_BUFFERED";

/// How many deaths are tried.
const DEATHS: u64 = 50;

const BYTES: usize = 3 * (1 << 20) + 17;

/// Transfers to files and back for good; a line once they run.
#[test]
#[ignore = "runs until it is killed: started by the test below"]
fn endless() {
    let wanted = if std::env::var_os(BUFFERED).is_some() { WantedStorage::Buffered } else { WantedStorage::Best };
    let parent = PathBuf::from(std::env::var_os(PARENT).unwrap());
    let memory = Hierarchy::options().private_below(parent).storage(wanted).open().unwrap();
    let make = |tier| memory.allocate(&Request::new("x", 0, tier, BYTES as i64)).unwrap();
    println!("running in {}", memory.nvme_directory().display());
    loop {
        let (a, b, c, d) = (make(Tier::Ram), make(Tier::Nvme), make(Tier::Nvme), make(Tier::Ram));
        a.write(0, &vec![7; BYTES]).unwrap();
        for (from, to) in [(&a, &b), (&b, &c), (&c, &d)] {
            memory.transfer(from, to).unwrap();
        }
        [a, b, c, d].iter().for_each(|instance| instance.close().unwrap());
    }
}

fn start(parent: &Path, buffered: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "--nocapture", "--test-threads=1", "endless"]).env(PARENT, parent);
    if buffered {
        command.env(BUFFERED, "1");
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("running in")));
    child
}

fn left(parent: &Path) -> usize {
    std::fs::read_dir(parent).unwrap().count()
}

#[test]
fn memory_hierarchy_6_a_killed_process_is_cleaned_up_after_by_the_next() {
    let parent = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(50);
    let mut bytes = 0;
    for death in 0..DEATHS {
        let mut child = start(parent.path(), death % 2 == 0);
        std::thread::sleep(Duration::from_micros(rng.u64(..20_000)));
        // It lives: its directory is left alone.
        let beside = Hierarchy::options().private_below(parent.path()).open().unwrap();
        assert_eq!((beside.cleaned(), left(parent.path())), (Cleaned::default(), 2), "death {death}");
        beside.close().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(left(parent.path()), 1, "death {death}");
        let next = Hierarchy::options().private_below(parent.path()).open().unwrap();
        assert_eq!((next.cleaned().directories, left(parent.path())), (1, 1), "death {death}");
        bytes += next.cleaned().bytes;
        next.close().unwrap();
        assert_eq!(left(parent.path()), 0, "death {death}");
    }
    assert!(bytes > BYTES as u64, "some died with files: {bytes} bytes");
    println!("{DEATHS} deaths, {bytes} bytes cleaned");
}
