//! Submission, section 7 of the format's definition: order, slots, completions, reserved symbols.

use crate::plans::{TRANSFER, bind_any, document};
use crate::sections::reserved_only;
use crate::tiers::{TierFault, Tiers};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use tiga_abi::Tier;
use tiga_plan::document::Document;
use tiga_plan::reserved::{Instance, ReservedError};
use tiga_plan::submit::{Completion, Launch, Provider, SubmitError, Synchronous};

/// A launch that did not work.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no")]
struct No;

/// Work that is complete when somebody waits for it.
#[derive(Debug)]
struct Later {
    name: String,
    done: Cell<bool>,
    waited: Rc<RefCell<Vec<String>>>,
}

impl Completion for Later {
    type Error = No;

    fn ready(&self) -> bool {
        self.done.get()
    }

    fn wait(&self) -> Result<(), No> {
        self.done.set(true);
        self.waited.borrow_mut().push(self.name.clone());
        if self.name == "bad" { Err(No) } else { Ok(()) }
    }
}

/// Starts everything, and completes it when it is waited for.
#[derive(Default)]
struct Asynchronous {
    started: Vec<String>,
    waited: Rc<RefCell<Vec<String>>>,
}

impl Provider<(), i32> for &mut Asynchronous {
    type Completion = Later;
    type Error = No;

    fn submit(&mut self, launch: Launch<'_, (), i32>, wait_for: &[&Later]) -> Result<Later, No> {
        let earlier: Vec<&str> = wait_for.iter().map(|later| later.name.as_str()).collect();
        let arguments: Vec<String> = launch.arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (name, waited) = (&launch.invocation.name, launch.will_be_waited);
        self.started.push(format!("{name}({}) after [{}] {waited}", arguments.join(","), earlier.join(",")));
        let waited = Rc::clone(&self.waited);
        if name == "refused" { Err(No) } else { Ok(Later { name: name.clone(), done: Cell::new(false), waited }) }
    }
}

fn numbers(names: &[&str]) -> BTreeMap<String, i32> {
    names.iter().zip(1..).map(|(name, number)| ((*name).to_owned(), number)).collect()
}

#[test]
fn bundle_plan_7_launches_in_order_with_what_they_wait_for() {
    let document = document(&["d: r(x) <- c b", "b: r(x) <- a", "c: r(y) <- a", "a: w(x) w(y)"]);
    let bound = bind_any(&document).unwrap();
    let mut provider = Asynchronous::default();
    let submission = bound.submit(&mut provider, &numbers(&["x", "y", "unused"])).unwrap();
    assert!(!submission.ready());
    assert_eq!(submission.terminals().map(|later| later.name.as_str()).collect::<Vec<_>>(), ["d"]);
    assert_eq!(submission.completion("b").unwrap().name, "b");
    assert!(submission.completion("z").is_none());
    submission.wait().unwrap();
    assert!(submission.ready());
    let expected =
        ["a(x=1,y=2) after [] true", "b(x=1) after [a] true", "c(y=2) after [a] true", "d(x=1) after [c,b] false"];
    assert_eq!(provider.started, expected);
    assert_eq!(*provider.waited.borrow(), ["d"]);
}

#[test]
fn bundle_plan_7_waits_for_each_terminal_until_one_fails() {
    let document = document(&["good: r(x)", "bad: r(x)", "last: r(x)"]);
    let bound = bind_any(&document).unwrap();
    let mut provider = Asynchronous::default();
    let submission = bound.submit(&mut provider, &numbers(&["x"])).unwrap();
    assert_eq!(submission.wait(), Err(No));
    assert_eq!(*provider.waited.borrow(), ["good", "bad"]);
}

#[test]
fn bundle_plan_7_a_missing_binding_launches_nothing() {
    let document = document(&["a: w(x)", "b: r(y)"]);
    let bound = bind_any(&document).unwrap();
    let mut provider = Asynchronous::default();
    let error = bound.submit(&mut provider, &numbers(&["x"])).unwrap_err();
    assert_eq!(error.to_string(), r#"missing bindings ["y"]"#);
    assert!(provider.started.is_empty());
}

#[test]
fn bundle_plan_7_a_launch_that_fails_is_the_last() {
    let document = document(&["a: w(x)", "refused: rw(x) <- a", "c: r(x) <- refused"]);
    let bound = bind_any(&document).unwrap();
    let mut provider = Asynchronous::default();
    match bound.submit(&mut provider, &numbers(&["x"])).unwrap_err() {
        SubmitError::Launch { invocation, source } => assert_eq!((invocation.as_str(), source), ("refused", No)),
        other => panic!("{other}"),
    }
    assert_eq!(provider.started.len(), 2);
}

#[test]
fn bundle_plan_7_slots_are_those_of_first_use() {
    let document = document(&["a: r(y) w(x)", "b: r(x) w(z) <- a"]);
    let bound = bind_any(&document).unwrap();
    let mut provider = Asynchronous::default();
    let mut prepared = bound.prepare(&mut provider);
    assert_eq!(prepared.slots(), ["y", "x", "z"]);
    for run in [0, 10] {
        prepared.submit_resources(&[run + 1, run + 2, run + 3]).unwrap();
    }
    for count in [2, 4] {
        let error = prepared.submit_resources(&vec![0; count]).unwrap_err();
        assert!(matches!(error, SubmitError::Count { expected: 3, found } if found == count));
        assert!(error.to_string().contains("requires 3 resources"), "{error}");
    }
    let starts: Vec<&str> = provider.started.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(starts, ["a(y=1,x=2)", "b(x=2,z=3)", "a(y=11,x=12)", "b(x=12,z=13)"]);
}

#[test]
fn bundle_plan_7_one_invocation_is_a_plan_like_any() {
    let document = document(&["a: w(x)"]);
    let mut provider = Asynchronous::default();
    let bound = bind_any(&document).unwrap();
    bound.submit(&mut provider, &numbers(&["x"])).unwrap().wait().unwrap();
    assert_eq!(provider.started, ["a(x=1) after [] false"]);
}

fn transfer() -> Document {
    Document::parse(TRANSFER.as_bytes()).unwrap()
}

/// What a transfer of instances made by `make` is refused for.
fn refusal(make: impl Fn(&Tiers) -> [crate::tiers::Physical; 2]) -> TierFault {
    let tiers = Tiers::new(&[]);
    let [ram, nvme] = make(&tiers);
    let instances = BTreeMap::from([("w@ram".to_owned(), ram), ("w@nvme".to_owned(), nvme)]);
    let (document, provider) = (transfer(), Synchronous(reserved_only));
    match bind_any(&document).unwrap().submit(provider, &instances).unwrap_err() {
        SubmitError::Launch { invocation, source: ReservedError::Instance(fault) } => {
            assert_eq!(invocation, "stage");
            fault
        }
        other => panic!("{other}"),
    }
}

#[test]
fn bundle_plan_7_1_a_transfer_keeps_the_rules_of_its_runtime() {
    let pair = |tiers: &Tiers, name: &str, version, capacity| {
        [tiers.make("w", 4, Tier::Ram, 8).unwrap(), tiers.make(name, version, Tier::Nvme, capacity).unwrap()]
    };
    assert_eq!(refusal(|tiers| pair(tiers, "v", 4, 8)), TierFault::Identity);
    assert_eq!(refusal(|tiers| pair(tiers, "w", 3, 8)), TierFault::Identity);
    assert_eq!(refusal(|tiers| pair(tiers, "w", 4, 9)), TierFault::Capacity);
    let foreign = |tiers: &Tiers| {
        [tiers.make("w", 4, Tier::Ram, 8).unwrap(), Tiers::new(&[]).make("w", 4, Tier::Nvme, 8).unwrap()]
    };
    assert!(refusal(foreign).to_string().contains("share a hierarchy runtime"));
    let closed = |tiers: &Tiers| {
        let pair = pair(tiers, "w", 4, 8);
        pair[0].close().unwrap();
        pair
    };
    assert!(refusal(closed).to_string().contains("closed"));
}

#[test]
fn bundle_plan_7_1_a_second_release_is_harmless() {
    let tiers = Tiers::new(&[]);
    let instance = tiers.make("w", 0, Tier::Ram, 8).unwrap();
    instance.close().unwrap();
    instance.close().unwrap();
    assert_eq!(tiers.live(Tier::Ram), 0);
}

#[test]
fn bundle_plan_7_1_wrong_parameters_are_found_at_the_launch() {
    let tiers = Tiers::new(&[]);
    let [ram, nvme] = [Tier::Ram, Tier::Nvme].map(|tier| tiers.make("w", 4, tier, 8).unwrap());
    let instances = BTreeMap::from([("w@ram".to_owned(), ram), ("w@nvme".to_owned(), nvme)]);
    let mut document = transfer();
    document.invocations[0].arguments[0].parameter = "origin".into();
    let bound = bind_any(&document).unwrap();
    match bound.submit(Synchronous(reserved_only), &instances).unwrap_err() {
        SubmitError::Launch { source: ReservedError::Arguments { symbol, expected, found }, .. } => {
            assert_eq!(symbol, "__gf_transfer");
            assert_eq!(
                (expected, found),
                (&["source", "destination"][..], vec!["origin".into(), "destination".into()])
            );
        }
        other => panic!("{other}"),
    }
    let mut document = transfer();
    document.invocations[2].arguments = document.invocations[1].arguments.clone();
    let bound = bind_any(&document).unwrap();
    let error = bound.submit(Synchronous(reserved_only), &instances).unwrap_err();
    assert!(error.to_string().contains("__gf_join takes the arguments []"), "{error}");
}
