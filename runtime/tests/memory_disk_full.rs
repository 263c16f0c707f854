//! A disk of one mebibyte that is really full: a small file system in memory, in a namespace of a process's own.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::PathBuf;
use std::process::Command;
use tiga_runtime::{Hierarchy, Instance, IoOperation, MemoryError, Request, Tier, WantedStorage};

/// Where the file system is.
const FOLDER: &str = "TIGA_TEST_FULL_DISK";

/// Mounts and runs what follows.
const MOUNTED: &str = "mount -t tmpfs -o size=1m tmpfs \"$0\" && exec \"$@\"";

#[test]
#[ignore = "needs the small file system: run by the test below"]
fn full() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    for wanted in [WantedStorage::Buffered, WantedStorage::Best] {
        let memory = Hierarchy::options().nvme_directory(&folder).storage(wanted).open().unwrap();
        let make = |tier, bytes| memory.allocate(&Request::new("x", 0, tier, bytes)).unwrap();
        let filled = |bytes: i64| {
            let instance: Instance = make(Tier::Ram, bytes);
            instance.write(0, &vec![7; bytes as usize]).unwrap();
            instance
        };
        // A file of holes fits anywhere; what is written does not.
        for bytes in [(1 << 20) + 4096, 3 << 20] {
            let (hot, cold) = (filled(bytes), make(Tier::Nvme, bytes));
            let error = memory.transfer(&hot, &cold).unwrap().wait().unwrap_err();
            assert!(matches!(error, MemoryError::DiskFull { operation: IoOperation::Write, .. }), "{error}");
            assert!(error.to_string().starts_with("disk full: cannot write "), "{error}");
            let mut byte = [0];
            assert!(matches!(cold.read(0, &mut byte), Err(MemoryError::NotFilled { .. })), "no short file is believed");
            assert!(cold.close().is_err() && hot.close().is_err());
            assert_eq!(memory.live_bytes(Tier::Nvme), 0);
        }
        // There is room again.
        let (hot, cold, back) = (filled(1 << 19), make(Tier::Nvme, 1 << 19), make(Tier::Ram, 1 << 19));
        memory.transfer(&hot, &cold).unwrap();
        memory.transfer(&cold, &back).unwrap().wait().unwrap();
        println!("{}", memory.storage());
        memory.close().unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
}

#[test]
fn memory_hierarchy_5_a_full_disk_is_told_and_no_short_file_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let in_namespace = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", MOUNTED]).arg(folder.path());
        command
    };
    match in_namespace().arg("true").output() {
        Err(error) => return println!("skipped: unshare does not start: {error}"),
        Ok(output) if !output.status.success() => {
            let why = String::from_utf8_lossy(&output.stderr);
            return println!("skipped: this user cannot mount: {}", why.trim());
        }
        Ok(_) => {}
    }
    let mut command = in_namespace();
    command.arg(std::env::current_exe().unwrap()).args(["--exact", "--ignored", "--nocapture", "full"]);
    let output = command.env(FOLDER, folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"));
}
