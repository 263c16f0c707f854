//! Sections 9.1, 9.2 and 9.4 of the format's definition, and the two structure hashes.

use crate::plans::{TRANSFER, bind_any, document, parse, tree};
use crate::tiers::{Physical, TierFault, Tiers};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use tiga_abi::Tier;
use tiga_plan::allocate::{Allocator, allocate};
use tiga_plan::bind::{BindError, Executable, bind};
use tiga_plan::document::{Document, Requirement};
use tiga_plan::reserved::{self, ReservedError};
use tiga_plan::submit::{Launch, Synchronous};

#[test]
fn bundle_plan_hash_1_two_buckets() {
    let mut tree = tree(&["lo: w(y@degree-worklist/0)", "hi: w(y@degree-worklist/1)"]);
    for place in [0, 1] {
        tree["invocations"][place]["task_kind"] = json!("degree-bucket");
        tree["invocations"][place]["arguments"][0]["parameter"] = json!("out");
    }
    let document = parse(&tree).unwrap();
    let bound = bind_any(&document).unwrap();
    assert_eq!(bound.structure_hash(), "bc9fddac16657ee729151914a0becc20f7e84f2d337bc9ca724d6f7f7f96bfea");
}

#[test]
fn bundle_plan_hash_2_transfer() {
    let document = Document::parse(TRANSFER.as_bytes()).unwrap();
    let hash = bind_any(&document).unwrap().structure_hash();
    assert_eq!(hash, "e45b9aa40943ca4ed58858fca90d8d2947c62560e08116868ecaf3c64d37052a");
}

/// Runs reserved symbols on instances; there are no others.
pub(crate) fn reserved_only(launch: Launch<'_, (), Physical>) -> Result<(), ReservedError<TierFault>> {
    reserved::launch(&launch).unwrap()
}

#[test]
fn bundle_plan_9_1_transfer_plan() {
    let document = Document::parse(TRANSFER.as_bytes()).unwrap();
    let bound = bind::<()>(&document, &mut |task| panic!("`{}` is reserved", task.name)).unwrap();
    assert_eq!(bound.execution_order(), ["stage", "drop", "end"]);
    let tiers = Tiers::new(&[]);
    let payload: Vec<u8> = (0..128).collect();
    let [ram, nvme] = [Tier::Ram, Tier::Nvme].map(|tier| tiers.make("w", 4, tier, 128).unwrap());
    ram.write(&payload);
    let instances = BTreeMap::from([("w@ram".to_owned(), ram), ("w@nvme".to_owned(), nvme)]);
    bound.submit(Synchronous(reserved_only), &instances).unwrap().wait().unwrap();
    assert_eq!(instances["w@nvme"].read(), payload);
    assert!(instances["w@ram"].closed());
    assert_eq!((tiers.live(Tier::Ram), tiers.live(Tier::Nvme)), (0, 128));
}

#[test]
fn bundle_plan_9_1_without_its_dependency_is_a_hazard() {
    let unordered = TRANSFER.replace(r#""depends_on":["stage"]"#, r#""depends_on":[]"#);
    let document = Document::parse(unordered.as_bytes()).unwrap();
    match bind_any(&document).unwrap_err() {
        BindError::Hazard { left, right, bindings } => {
            assert_eq!([left, right], ["stage", "drop"]);
            assert_eq!(bindings, ["w@ram"]);
        }
        other => panic!("{other}"),
    }
}

/// Arrays of bytes.
struct Bytes;

impl Allocator for Bytes {
    type Resource = Vec<u8>;
    type Error = Infallible;

    fn allocate(&mut self, requirement: &Requirement) -> Result<Vec<u8>, Infallible> {
        Ok(vec![0; usize::try_from(requirement.capacity_bytes).unwrap()])
    }

    fn release(&mut self, resource: Vec<u8>) {
        drop(resource);
    }
}

#[test]
fn bundle_plan_9_2_two_phase_degree_plan() {
    let lines = [
        "build: r(row_ptr) w(scratch)",
        "b0: r(scratch) w(out@w/0) <- build",
        "b1: r(scratch) w(out@w/1) <- build",
        "done: <- b0 b1",
    ];
    let text = tree(&lines).to_string().replace(r#""snapshot_version":0"#, r#""snapshot_version":5"#);
    let mut tree: Value = serde_json::from_str(&text).unwrap();
    tree["resources"] = json!([{
        "name": "scratch", "memory_space": "device", "layout": "packed", "device": "provider:0",
        "capacity_bytes": 64, "snapshot_version": 5, "external": false,
    }]);
    tree["invocations"][0]["phase"] = json!("materialize");
    tree["invocations"][0]["executable_symbol"] = json!("build_rows");
    tree["invocations"][0]["upper_bounds"] = json!([8, 16]);
    for (place, ordinal) in [(1, 0), (2, 1)] {
        tree["invocations"][place]["executable_symbol"] = json!("compute");
        tree["invocations"][place]["bucket_ordinal"] = json!(ordinal);
    }
    tree["invocations"][3]["executable_symbol"] = json!("__gf_join");
    let document = parse(&tree).unwrap();
    let mut seen = Vec::new();
    let bound = bind(&document, &mut |task| {
        let metadata = Value::Object(task.metadata.clone()).to_string();
        seen.push(format!("{} {metadata}", task.executable_symbol));
        Ok(Some(seen.len()))
    });
    let bound = bound.unwrap();
    assert_eq!((bound.snapshot_version(), bound.executable(3)), (5, &Executable::Join));
    assert_eq!(bound.executable(2), &Executable::Resolved(3));
    let expected =
        [r#"build_rows {"upper_bounds":[8,16]}"#, r#"compute {"bucket_ordinal":0}"#, r#"compute {"bucket_ordinal":1}"#];
    assert_eq!(seen, expected);
    let owned = allocate(&document, &mut Bytes).unwrap();
    assert_eq!(owned, BTreeMap::from([("scratch".to_owned(), vec![0; 64])]));
}

/// What a task does with each element.
type Compute = fn(i64) -> i64;

#[test]
fn bundle_plan_9_4_data_flow_run() {
    let document = document(&["build: r(source) w(temporary)", "consume: r(temporary) w(output) <- build"]);
    let bound = bind(&document, &mut |task| {
        let compute: Compute = if task.name == "build" { |x| 2 * x } else { |x| x + 1 };
        Ok(Some(compute))
    });
    let arrays = ["source", "temporary", "output"].map(|name| (name.to_owned(), RefCell::new(vec![1_i64, 2])));
    let arrays = BTreeMap::from(arrays);
    let mut trace = Vec::new();
    let provider = Synchronous(|launch: Launch<'_, Compute, RefCell<Vec<i64>>>| {
        let Executable::Resolved(compute) = launch.executable else { panic!("nothing is reserved") };
        let (from, to) = (launch.arguments[0].1, launch.arguments[1].1);
        *to.borrow_mut() = from.borrow().iter().map(|x| compute(*x)).collect();
        trace.push(launch.invocation.name.clone());
        Ok::<(), Infallible>(())
    });
    bound.unwrap().submit(provider, &arrays).unwrap().wait().unwrap();
    assert_eq!(*arrays["output"].borrow(), [3, 5]);
    assert_eq!(trace, ["build", "consume"]);
}
