//! Allocation, section 8 of the format's definition: what the plan owns, all of it or none.

use crate::tiers::{TierFault, Tiers};
use tiga_abi::Tier;
use tiga_plan::allocate::{AllocateError, allocate_in_tiers};
use tiga_plan::document::{Document, Requirement};

fn requirement(name: &str, space: &str, external: bool) -> Requirement {
    Requirement {
        name: name.into(),
        memory_space: space.into(),
        layout: "contiguous".into(),
        device: "host:0".into(),
        capacity_bytes: 8,
        snapshot_version: 0,
        external,
    }
}

fn document(resources: &[Requirement]) -> Document {
    Document { resources: resources.to_vec(), ..Document::default() }
}

#[test]
fn bundle_plan_8_external_resources_stay_unbound() {
    let plan = document(&[requirement("x", "ram", true), requirement("t", "ram", false)]);
    let made = allocate_in_tiers(&plan, &mut Tiers::new(&[])).unwrap();
    assert_eq!(made.keys().collect::<Vec<_>>(), ["t"]);
}

#[test]
fn bundle_plan_8_spaces_are_read_in_any_spelling() {
    let spaces = [
        ("device", Tier::Device),
        ("HBM", Tier::Device),
        ("gmem", Tier::Device),
        ("host-pinned", Tier::HostPinned),
        ("host_pinned", Tier::HostPinned),
        ("pinned_ram", Tier::HostPinned),
        ("ram", Tier::Ram),
        ("Host", Tier::Ram),
        ("nvme", Tier::Nvme),
        ("ssd", Tier::Nvme),
    ];
    for (space, tier) in spaces {
        let mut tiers = Tiers::new(&[]);
        let made = allocate_in_tiers(&document(&[requirement("t", space, false)]), &mut tiers).unwrap();
        assert_eq!((made.len(), tiers.live(tier)), (1, 8), "{space}");
    }
}

#[test]
fn bundle_plan_8_managed_and_unknown_spaces_are_refused() {
    for space in ["register", "rmem", "shared", "smem", "remote", "distributed"] {
        let error = allocate_in_tiers(&document(&[requirement("t", space, false)]), &mut Tiers::new(&[])).map(drop);
        assert!(error.unwrap_err().to_string().contains("kernel/transport managed"), "{space}");
        allocate_in_tiers(&document(&[requirement("t", space, true)]), &mut Tiers::new(&[])).unwrap();
    }
    for space in ["local", "lds", "ub", "peer_hbm"] {
        let error = allocate_in_tiers(&document(&[requirement("t", space, false)]), &mut Tiers::new(&[])).map(drop);
        assert!(error.unwrap_err().to_string().contains("unknown memory tier"), "{space}");
    }
}

#[test]
fn bundle_plan_8_what_was_allocated_before_a_refusal_is_released() {
    let mut tiers = Tiers::new(&[(Tier::Ram, 23)]);
    let all = ["a", "b", "c"].map(|name| requirement(name, "ram", false));
    let error = allocate_in_tiers(&document(&all), &mut tiers).map(drop).unwrap_err();
    match error {
        AllocateError::Refused { resource, source: TierFault::Budget { need, budget, .. } } => {
            assert_eq!((resource.as_str(), need, budget), ("c", 24, 23));
        }
        other => panic!("{other}"),
    }
    assert_eq!(tiers.live(Tier::Ram), 0);
    let late = [requirement("a", "ram", false), requirement("b", "lds", false)];
    allocate_in_tiers(&document(&late), &mut tiers).map(drop).unwrap_err();
    assert_eq!(tiers.live(Tier::Ram), 0);
}

#[test]
fn bundle_plan_8_the_logical_name_stands_before_the_place() {
    let both = [requirement("u@ram:host:0", "ram", false), requirement("u@nvme:host:0", "nvme", false)];
    let made = allocate_in_tiers(&document(&both), &mut Tiers::new(&[])).unwrap();
    assert!(made.values().all(|instance| instance.logical_name() == "u"));
    let [nvme, ram] = [&made["u@nvme:host:0"], &made["u@ram:host:0"]];
    ram.write(b"12345678");
    tiga_plan::reserved::Instance::transfer_to(ram, nvme).unwrap();
    assert_eq!(nvme.read(), b"12345678");
}
