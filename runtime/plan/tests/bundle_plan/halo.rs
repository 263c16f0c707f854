//! Section 9.3 of the format's definition: a halo exchange on a ring of eight nodes, a thread a rank.

use crate::plans::parse;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use tiga_plan::bind::{Executable, bind};
use tiga_plan::document::Document;
use tiga_plan::strict;
use tiga_plan::submit::{Launch, Synchronous};

/// Nodes of the ring, and of one rank.
const NODES: i64 = 8;
const OWN: i64 = 4;

/// Values by node.
type Values = Mutex<BTreeMap<i64, i64>>;

fn plan() -> Document {
    let slot = |name: &str| {
        json!({"name": name, "memory_space": "remote", "layout": "packed-halo", "device": "mesh",
            "capacity_bytes": 64, "snapshot_version": 0, "external": false})
    };
    let task = |kind: &str, symbol: &str, waits: &[&str], uses: [(&str, &str, &str); 2]| {
        let argument =
            |(parameter, resource, _): &(&str, &str, &str)| json!({"parameter": parameter, "resource": resource});
        let access = |(_, resource, mode): &(&str, &str, &str)| json!({"binding": resource, "mode": mode, "snapshot_version": 0});
        json!({"name": format!("{kind}:0"), "task_kind": kind, "phase": "execute", "executable_symbol": symbol,
            "depends_on": waits, "snapshot_version": 0, "arguments": uses.iter().map(argument).collect::<Vec<Value>>(),
            "accesses": uses.iter().map(access).collect::<Vec<Value>>()})
    };
    let (send, receive) = ("halo-send:0", "halo-receive:0");
    let pack = [("source", "field", "read"), ("send", send, "write")];
    let exchange = [("send", send, "read"), ("receive", receive, "write")];
    let unpack = [("receive", receive, "read"), ("destination", "field", "write")];
    let mut field = slot("field");
    field["external"] = json!(true);
    field["memory_space"] = json!("ram");
    parse(&json!({
        "schema": "tiga.executable-bundle-plan.v1",
        "resources": [field, slot(send), slot(receive)],
        "invocations": [
            task("halo-pack", "__gf_halo_pack", &[], pack),
            task("halo-exchange", "__gf_halo_exchange", &["halo-pack:0"], exchange),
            task("halo-unpack", "__gf_halo_unpack", &["halo-exchange:0"], unpack),
        ],
        "terminals": ["halo-unpack:0"],
    }))
    .unwrap()
}

/// What the transport of one rank does.
#[derive(Clone, Copy)]
enum Step {
    Pack,
    Exchange,
    Unpack,
}

/// Runs the plan of a rank, and gives what its field holds beyond its own nodes.
fn ghosts(rank: i64, to: Sender<BTreeMap<i64, i64>>, from: Receiver<BTreeMap<i64, i64>>) -> BTreeMap<i64, i64> {
    let document = plan();
    let bound = bind(&document, &mut |task| {
        Ok(match task.executable_symbol.as_str() {
            "__gf_halo_pack" => Some(Step::Pack),
            "__gf_halo_exchange" => Some(Step::Exchange),
            "__gf_halo_unpack" => Some(Step::Unpack),
            _ => None,
        })
    });
    let own = rank * OWN..(rank + 1) * OWN;
    // The nodes with a neighbour in the other rank.
    let border = [own.start, own.end - 1];
    let resources: BTreeMap<String, Values> = BTreeMap::from([
        ("field".to_owned(), Mutex::new(own.clone().map(|node| (node, 10 * node)).collect())),
        ("halo-send:0".to_owned(), Values::default()),
        ("halo-receive:0".to_owned(), Values::default()),
    ]);
    let provider = Synchronous(|launch: Launch<'_, Step, Values>| {
        let Executable::Resolved(step) = launch.executable else { panic!("nothing is reserved") };
        let [read, written] = [0, 1].map(|place| launch.arguments[place].1);
        let values = read.lock().unwrap().clone();
        match step {
            Step::Pack => *written.lock().unwrap() = border.iter().map(|node| (*node, values[node])).collect(),
            Step::Exchange => {
                to.send(values).unwrap();
                *written.lock().unwrap() = from.recv().unwrap();
            }
            Step::Unpack => written.lock().unwrap().extend(values),
        }
        Ok::<(), Infallible>(())
    });
    bound.unwrap().submit(provider, &resources).unwrap().wait().unwrap();
    let mut field = resources["field"].lock().unwrap().clone();
    field.retain(|node, _| !own.contains(node));
    field
}

#[test]
fn bundle_plan_9_3_halo_plan_of_a_ring() {
    assert_eq!(OWN * 2, NODES);
    let ([to_first, to_second], [first, second]) = {
        let ((a, b), (c, d)) = (channel(), channel());
        ([a, c], [b, d])
    };
    let other = std::thread::spawn(move || ghosts(1, to_first, second));
    assert_eq!(ghosts(0, to_second, first), BTreeMap::from([(4, 40), (7, 70)]));
    assert_eq!(other.join().unwrap(), BTreeMap::from([(0, 0), (3, 30)]));
}

#[test]
fn bundle_plan_9_3_its_slots_are_the_transports() {
    let document = plan();
    assert_eq!(strict::check(&document), []);
    bind(&document, &mut |_| Ok(Some(()))).unwrap();
}
