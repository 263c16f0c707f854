//! The memory hierarchy, row by row of its specification: names carry section and row.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::Path;
use tiga_runtime::{Device, Hierarchy, HierarchyOptions, Instance, MemoryError, Request, Tier, WantedStorage};

/// A hierarchy with budgets, and the folder of its files.
fn with_budgets(ram: i64, nvme: i64) -> (Hierarchy, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let options = Hierarchy::options().budget(Tier::Ram, ram).budget(Tier::Nvme, nvme);
    (options.nvme_directory(folder.path()).open().unwrap(), folder)
}

fn make(memory: &Hierarchy, name: &str, version: i64, tier: Tier, bytes: i64) -> Instance {
    memory.allocate(&Request::new(name, version, tier, bytes)).unwrap()
}

fn refusal(memory: &Hierarchy, name: &str, version: i64, tier: Tier, bytes: i64) -> MemoryError {
    memory.allocate(&Request::new(name, version, tier, bytes)).unwrap_err()
}

fn content(instance: &Instance) -> Vec<u8> {
    let mut bytes = vec![0; instance.capacity() as usize];
    instance.read(0, &mut bytes).unwrap();
    bytes
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn memory_hierarchy_1_row_1_and_2_kernels_manage_registers_and_shared_memory() {
    let (memory, _folder) = with_budgets(0, 0);
    for word in ["register", "rmem", "shared", "SMEM"] {
        let tier = word.parse().unwrap();
        let error = refusal(&memory, "x", 0, tier, 1);
        assert_eq!(error, MemoryError::Managed(tier));
        assert!(error.to_string().contains("kernel/transport managed"), "{error}");
    }
}

#[test]
fn memory_hierarchy_1_row_3_and_4_devices_and_pinned_memory_have_no_driver_yet() {
    let memory = Hierarchy::options().open().unwrap();
    for word in ["device", "hbm", "gmem", "host-pinned", "pinned_ram", "HOST_PINNED"] {
        let tier: Tier = word.parse().unwrap();
        let error = refusal(&memory, "x", 0, tier, 8);
        assert_eq!(error, MemoryError::Unsupported { tier, device: Device::CPU });
        assert_eq!(memory.live_bytes(tier), 0, "what was reserved is given back");
    }
}

#[test]
fn memory_hierarchy_1_row_5_and_6_ram_and_files_are_given_whatever_the_device() {
    let memory = Hierarchy::options().open().unwrap();
    for (word, tier) in [("host", Tier::Ram), ("Ram", Tier::Ram), ("ssd", Tier::Nvme), ("nvme", Tier::Nvme)] {
        let request = Request::new("x", 1, word.parse().unwrap(), 5).on("cuda:7".parse().unwrap());
        let instance = memory.allocate(&request.with_layout("tiled")).unwrap();
        assert_eq!((instance.tier(), instance.layout()), (tier, "tiled"));
        assert_eq!(instance.device().to_string(), "cuda:7");
        assert_eq!((instance.path().is_some(), instance.address().is_some()), (tier == Tier::Nvme, tier == Tier::Ram));
    }
}

#[test]
fn memory_hierarchy_1_row_7_transports_manage_remote_memory() {
    let (memory, _folder) = with_budgets(0, 0);
    for word in ["remote", "distributed"] {
        assert_eq!(refusal(&memory, "", -1, word.parse().unwrap(), -1), MemoryError::Managed(Tier::Remote));
    }
}

#[test]
fn memory_hierarchy_1_an_unknown_word_is_no_tier() {
    let error = MemoryError::from("lds".parse::<Tier>().unwrap_err());
    assert!(error.to_string().starts_with("unknown memory tier `lds`"), "{error}");
    assert!(matches!(MemoryError::from("tpu:0".parse::<Device>().unwrap_err()), MemoryError::UnknownDevice(_)));
}

#[test]
fn memory_hierarchy_2_budgets_are_non_negative_and_one_a_tier() {
    let refused = |options: HierarchyOptions| options.open().unwrap_err();
    let negative = refused(Hierarchy::options().budget(Tier::Ram, -1));
    assert_eq!(negative, MemoryError::NegativeBudget { tier: Tier::Ram, bytes: -1 });
    assert!(negative.to_string().contains("non-negative"), "{negative}");
    let twice = Hierarchy::options().budget("ssd".parse().unwrap(), 1).budget(Tier::Nvme, 1);
    assert_eq!(refused(twice), MemoryError::BudgetTwice(Tier::Nvme));
    assert_eq!(refused(Hierarchy::options().io_workers(0)), MemoryError::NoWorkers);
}

#[test]
fn memory_hierarchy_2_a_tier_without_a_budget_is_unlimited() {
    let memory = Hierarchy::options().budget(Tier::Ram, 0).open().unwrap();
    let _whole = make(&memory, "x", 0, Tier::Nvme, 1 << 40);
    assert_eq!(memory.live_bytes(Tier::Nvme), 1 << 40);
    let no_such = refusal(&memory, "x", 0, Tier::Nvme, i64::MAX);
    assert!(matches!(no_such, MemoryError::Io { .. } | MemoryError::OutOfMemory { .. }), "{no_such}");
    assert_eq!(memory.live_bytes(Tier::Nvme), 1 << 40);
}

#[test]
fn memory_hierarchy_2_a_private_directory_goes_and_a_given_one_stays() {
    let parent = tempfile::tempdir().unwrap();
    let memory = Hierarchy::options().private_below(parent.path()).open().unwrap();
    let private = memory.nvme_directory().to_owned();
    assert!(private.file_name().unwrap().to_str().unwrap().starts_with("tiga-spill-"), "{}", private.display());
    let _x = make(&memory, "x", 0, Tier::Nvme, 3);
    drop(memory);
    assert!(!private.exists());
    let given = parent.path().join("a/b");
    let memory = Hierarchy::options().nvme_directory(&given).open().unwrap();
    let x = make(&memory, "x", 0, Tier::Nvme, 3);
    assert_eq!(x.path().unwrap().parent(), Some(given.as_path()));
    memory.close().unwrap();
    assert!(given.exists() && files(&given) == 0);
}

#[test]
fn memory_hierarchy_2_a_directory_that_cannot_be_made_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Hierarchy::options().nvme_directory(file.path().join("x")).open().unwrap_err();
    assert!(error.to_string().starts_with("cannot make directory"), "{error}");
    let error = Hierarchy::options().private_below(file.path()).open().unwrap_err();
    assert!(matches!(error, MemoryError::Io { .. }), "{error}");
}

#[test]
fn memory_hierarchy_3_row_2_names_versions_and_capacities_are_checked_before_budgets() {
    let (memory, _folder) = with_budgets(0, 0);
    assert_eq!(refusal(&memory, "", 0, Tier::Ram, 1), MemoryError::EmptyName);
    assert_eq!(refusal(&memory, "x", -1, Tier::Ram, 1), MemoryError::NegativeVersion(-1));
    assert_eq!(refusal(&memory, "x", 0, Tier::Nvme, -1), MemoryError::NegativeCapacity(-1));
    assert_eq!(memory.peak_bytes(Tier::Ram), 0);
}

#[test]
fn memory_hierarchy_3_row_3_a_budget_is_held_before_anything_is_allocated() {
    let (memory, folder) = with_budgets(16, 8);
    let _cold = make(&memory, "x", 0, Tier::Nvme, 8);
    let error = refusal(&memory, "y", 0, Tier::Nvme, 1);
    assert_eq!(error, MemoryError::Budget { tier: Tier::Nvme, wanted: 9, budget: 8 });
    assert_eq!(error.to_string(), "nvme capacity exceeded: 9 > 8 bytes");
    assert_eq!((files(folder.path()), memory.peak_bytes(Tier::Nvme)), (1, 8));
    let _hot = [make(&memory, "x", 0, Tier::Ram, 8), make(&memory, "x", 0, Tier::Ram, 8)];
    assert_eq!(refusal(&memory, "x", 0, Tier::Ram, 1).to_string(), "ram capacity exceeded: 17 > 16 bytes");
    assert_eq!(
        refusal(&memory, "x", 0, Tier::Ram, i64::MAX).to_string(),
        format!("ram capacity exceeded: {} > 16 bytes", (1u64 << 63) + 15)
    );
}

#[test]
fn memory_hierarchy_3_row_3_of_many_who_ask_at_once_no_more_get_than_the_budget_has() {
    let (memory, _folder) = with_budgets(10, 0);
    let given = std::thread::scope(|scope| {
        let ask = || (0..100).filter(|_| memory.allocate(&Request::new("x", 0, Tier::Ram, 1)).is_ok()).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!((given, memory.live_bytes(Tier::Ram), memory.peak_bytes(Tier::Ram)), (10, 10, 10));
}

#[test]
fn memory_hierarchy_3_row_5_what_fails_gives_back_its_bytes_and_its_peak_stays() {
    let memory = Hierarchy::options().open().unwrap();
    let error = refusal(&memory, "x", 0, Tier::Ram, 1 << 60);
    assert!(matches!(error, MemoryError::OutOfMemory { bytes, .. } if bytes == 1 << 60), "{error}");
    assert_eq!((memory.live_bytes(Tier::Ram), memory.peak_bytes(Tier::Ram)), (0, 1 << 60));
    let (memory, folder) = with_budgets(0, i64::MAX);
    std::fs::remove_dir(folder.path()).unwrap();
    let error = refusal(&memory, "x", 0, Tier::Nvme, 4);
    assert!(matches!(&error, MemoryError::Io { path, .. } if path.starts_with(folder.path())), "{error}");
    assert_eq!((memory.live_bytes(Tier::Nvme), memory.peak_bytes(Tier::Nvme)), (0, 4));
    std::fs::create_dir(folder.path()).unwrap();
}

#[test]
fn memory_hierarchy_3_nothing_is_legal_and_instances_may_share_all_that_names_them() {
    let (memory, _folder) = with_budgets(0, 0);
    for tier in [Tier::Ram, Tier::Nvme] {
        let (a, b) = (make(&memory, "x", 0, tier, 0), make(&memory, "x", 0, tier, 0));
        memory.transfer(&a, &b).unwrap().wait().unwrap();
        assert!(a.ready() && content(&b).is_empty());
    }
}

#[test]
fn memory_hierarchy_3_a_file_has_its_name_and_reads_as_zeros() {
    let (memory, folder) = with_budgets(0, 1 << 30);
    let _other = make(&memory, "x", 0, Tier::Nvme, 1);
    let x = make(&memory, "x", 12, Tier::Nvme, (1 << 20) + 17);
    let name = x.path().unwrap().strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned();
    let parts: Vec<&str> = name.split('.').collect();
    assert!(parts[0].len() == 32 && parts[0].bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    assert_eq!(parts[1..], ["v12", "1", "bin"]);
    assert_eq!(std::fs::metadata(x.path().unwrap()).unwrap().len(), x.capacity());
    assert!(content(&x).iter().all(|byte| *byte == 0));
}

#[test]
fn memory_hierarchy_3_latest_is_the_highest_version_perhaps_of_one_tier() {
    let memory = Hierarchy::options().open().unwrap();
    let none = memory.latest("x", None).unwrap_err();
    assert_eq!(none, MemoryError::NotFound { name: "x".into(), tier: None });
    let made: Vec<_> = [(3, Tier::Ram), (5, Tier::Nvme), (5, Tier::Ram), (4, Tier::Ram)]
        .map(|(v, t)| make(&memory, "x", v, t, 1))
        .into();
    make(&memory, "other", 9, Tier::Ram, 1);
    assert_eq!(memory.latest("x", None).unwrap().tier(), Tier::Nvme, "the oldest of equals");
    assert_eq!(memory.latest("x", Some(Tier::Ram)).unwrap().version(), 5);
    made[2].close().unwrap();
    assert_eq!(memory.latest("x", Some(Tier::Ram)).unwrap().version(), 4);
    made[1].close().unwrap();
    let error = memory.latest("x", Some(Tier::Nvme)).unwrap_err();
    assert_eq!(error.to_string(), "no live instance of `x` in nvme");
}

#[test]
fn memory_hierarchy_4_an_instance_counts_from_allocation_until_close() {
    let memory = Hierarchy::options().open().unwrap();
    let a = make(&memory, "a", 0, Tier::Ram, 10);
    let b = make(&memory, "b", 0, Tier::Ram, 20);
    a.close().unwrap();
    a.close().unwrap();
    make(&memory, "c", 0, Tier::Ram, 5);
    assert_eq!((memory.live_bytes(Tier::Ram), memory.peak_bytes(Tier::Ram)), (25, 30));
    drop(b);
    assert_eq!(memory.live_bytes(Tier::Ram), 25, "a handle that is dropped closes nothing");
    memory.close().unwrap();
    assert_eq!((memory.live_bytes(Tier::Ram), memory.peak_bytes(Tier::Ram)), (0, 30));
}

#[test]
fn memory_hierarchy_7_1_eight_bytes_through_a_file() {
    let (memory, _folder) = with_budgets(16, 8);
    let account = || (memory.live_bytes(Tier::Ram), memory.live_bytes(Tier::Nvme), memory.peak_bytes(Tier::Ram));
    let hot = make(&memory, "state", 7, Tier::Ram, 8);
    hot.write(0, b"tiga1234").unwrap();
    assert_eq!(account(), (8, 0, 8));
    let cold = make(&memory, "state", 7, Tier::Nvme, 8);
    assert_eq!(account(), (8, 8, 8));
    memory.transfer(&hot, &cold).unwrap().wait().unwrap();
    assert_eq!(std::fs::read(cold.path().unwrap()).unwrap(), b"tiga1234");
    hot.close().unwrap();
    assert_eq!((account(), memory.latest("state", None).unwrap().tier()), ((0, 8, 8), Tier::Nvme));
    let back = make(&memory, "state", 7, Tier::Ram, 8);
    assert_eq!(account(), (8, 8, 8));
    memory.transfer(&cold, &back).unwrap().wait().unwrap();
    assert_eq!(content(&back), b"tiga1234");
    memory.close().unwrap();
    assert_eq!(account(), (0, 0, 8));
    for closed in [&cold, &back] {
        assert!(matches!(memory.transfer(closed, closed), Err(MemoryError::Closed(_))));
    }
}

#[test]
fn memory_hierarchy_7_1_variant_two_may_be_live_together_but_no_ninth_byte() {
    let (memory, _folder) = with_budgets(16, 8);
    let _hot = make(&memory, "state", 7, Tier::Ram, 8);
    let _back = make(&memory, "state", 7, Tier::Ram, 8);
    assert_eq!(memory.live_bytes(Tier::Ram), 16);
    let _cold = make(&memory, "state", 7, Tier::Nvme, 8);
    assert!(refusal(&memory, "state", 7, Tier::Nvme, 1).to_string().contains("nvme capacity exceeded: 9 > 8"));
}

#[test]
fn memory_hierarchy_7_2_capacity_version_spill() {
    let (memory, _folder) = with_budgets(32, 64);
    let bytes: Vec<u8> = (0..32).collect();
    let hot = make(&memory, "field", 3, Tier::Ram, 32);
    hot.write(0, &bytes).unwrap();
    assert!(matches!(refusal(&memory, "more", 0, Tier::Ram, 1), MemoryError::Budget { tier: Tier::Ram, .. }));
    let cold = make(&memory, "field", 3, Tier::Nvme, 32);
    memory.transfer(&hot, &cold).unwrap();
    hot.close().unwrap();
    let back = make(&memory, "field", 3, Tier::Ram, 32);
    memory.transfer(&cold, &back).unwrap();
    assert_eq!(content(&back), bytes);
    assert_eq!(memory.latest("field", Some(Tier::Ram)).unwrap().version(), 3);
    assert_eq!(memory.peak_bytes(Tier::Ram), 32);
    let next = make(&memory, "field", 4, Tier::Nvme, 32);
    assert_eq!(memory.live_bytes(Tier::Nvme), 64);
    let error = memory.transfer(&cold, &next).unwrap_err();
    assert!(matches!(error, MemoryError::OtherIdentity { .. }) && error.to_string().contains("preserve"), "{error}");
}

#[test]
fn memory_hierarchy_7_3_four_bytes_while_the_first_is_live() {
    let (memory, _folder) = with_budgets(8, 4);
    let [first, second] = [(); 2].map(|()| make(&memory, "x", 0, Tier::Ram, 4));
    let cold = make(&memory, "x", 0, Tier::Nvme, 4);
    first.write(0, b"tiga").unwrap();
    memory.transfer(&first, &cold).unwrap();
    memory.transfer(&cold, &second).unwrap();
    assert_eq!(content(&second), b"tiga");
}

#[test]
fn memory_hierarchy_7_6_small_memory_is_aligned_and_an_unsupported_device_is_refused() {
    let memory = Hierarchy::options().open().unwrap();
    let x = make(&memory, "x", 0, Tier::Ram, 257);
    let address = x.address().unwrap();
    assert!(!address.is_null() && address.addr().is_multiple_of(64));
    for device in ["hip:0", "cuda:1", "mps"] {
        let device: Device = device.parse().unwrap();
        let error = memory.allocate(&Request::new("x", 0, Tier::Device, 4).on(device)).unwrap_err();
        assert_eq!(error, MemoryError::Unsupported { tier: Tier::Device, device });
        assert!(error.to_string().contains("unsupported"), "{error}");
    }
}

#[test]
fn memory_hierarchy_2_how_files_are_read_is_reported() {
    let memory = Hierarchy::options().storage(WantedStorage::Buffered).open().unwrap();
    assert_eq!(memory.storage().to_string(), "threads, buffered");
    let memory = Hierarchy::options().open().unwrap();
    let text = memory.storage().to_string();
    println!("{text}");
    assert!(text == "io_uring, O_DIRECT" || text.starts_with("threads, buffered (no "), "{text}");
}
