//! Plans: the template of a bundle and the document of a run, checked, explained and drawn.

use crate::{Memory, Repository, Target, Verdict};
use std::collections::BTreeMap;
use tiga_plan::Template;
use tiga_plan::bind::{Bound, bind};
use tiga_plan::document::Document;
use tiga_plan::instantiate::{check_instance, instantiate};
use tiga_plan::strict::{self, duplicate_keys};

pub(crate) const TARGET: Target = Target {
    name: "plan",
    run,
    seeds,
    words: WORDS,
    longest: 16384,
    // A picture has an element for each task and each place where an edge passes.
    memory: Memory { free: 64 << 20, by_byte: 2 << 10 },
};

pub(crate) const WORDS: &[&str] = &[
    "\"schema\":",
    "\"tiga.plan-template.v1\"",
    "\"tiga.executable-bundle-plan.v1\"",
    "\"program\":",
    "\"symbols\":",
    "\"resources\":",
    "\"root\":",
    "\"bodies\":",
    "\"externals\":",
    "\"tasks\":",
    "\"kind\":",
    "\"is\":",
    "\"kernel\"",
    "\"loop\"",
    "\"branch\"",
    "\"join\"",
    "\"release\"",
    "\"transfer\"",
    "\"copy\"",
    "\"build-transpose\"",
    "\"build-joined\"",
    "\"build-units\"",
    "\"after\":",
    "\"args\":",
    "\"accesses\":",
    "\"phase\":",
    "\"execute\"",
    "\"materialize\"",
    "\"read\"",
    "\"write\"",
    "\"read_write\"",
    "\"owned\"",
    "\"borrowed\"",
    "\"derived\"",
    "\"stored\"",
    "\"capacity\":",
    "\"shape\":",
    "\"units\":",
    "\"are\":",
    "\"rows\"",
    "\"blocks\"",
    "\"leaves\"",
    "\"long-rows\"",
    "\"once\"",
    "\"trip\":",
    "\"count\":",
    "\"const\":",
    "\"while\":",
    "\"at_most\":",
    "\"rotate\":",
    "ceildiv(",
    "max(",
    "min(",
    "\"rows/short\"",
    "\"rows/long\"",
    "\"invocations\":",
    "\"terminals\":",
    "\"depends_on\":",
    "\"snapshot_version\":",
    "\"partitioning\":",
    "\"partition\":",
    "\"metadata\":",
    "\"__gf_transfer\"",
    "\"__gf_release\"",
    "\"__gf_join\"",
    "\"source\"",
    "\"destination\"",
    "\"instance\"",
    "\"peak_bytes\":",
    "\"nvme\"",
    "\"remote\"",
    "18446744073709551615",
    "\"memory_space\":",
    "\"capacity_bytes\":",
    "\"external\":",
    "true",
    "false",
    "null",
];

/// What sizes are in instances of the seeds and of what the fuzzer makes of them.
const SIZE: i64 = 7;

/// The plans of the golden bundles, and their documents for some sizes.
fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for bundle in repository.files("tgb", usize::MAX) {
        let bundle = tiga_bundle::Bundle::from_bytes(bundle).expect("a golden bundle is whole");
        for program in &bundle.manifest().programs {
            let template = bundle.plan(&program.name).expect("a program has a plan");
            seeds.push(template.to_json().into_bytes());
            let instances = instantiate(template, &|_| Some(SIZE)).expect("a golden plan has instances");
            seeds.extend(instances.into_iter().map(|instance| instance.document.to_json().into_bytes()));
        }
    }
    // Plans with transfers between tiers and releases.
    seeds.extend(repository.files("json", TARGET.longest).into_iter().filter(|json| Document::parse(json).is_ok()));
    seeds.retain(|seed| seed.len() <= TARGET.longest);
    seeds
}

fn run(bytes: &[u8]) -> Verdict {
    match Template::from_json(bytes) {
        Ok(template) => {
            template_is_sound(&template);
            Verdict::Accepted
        }
        Err(error) => {
            let _ = error.to_string();
            document(bytes)
        }
    }
}

/// A template is read back as written, and has instances that may run or sizes that it refuses.
pub(crate) fn template_is_sound(template: &Template) {
    let text = template.to_json();
    let again = Template::from_json(text.as_bytes()).expect("a template reads what it wrote");
    assert_eq!(again, *template, "the text says something else");
    let Ok(instances) = instantiate(template, &|_| Some(SIZE)) else { return };
    for instance in instances {
        if let Err(error) = check_instance(&instance.document) {
            panic!("an instance of a verified template may not run: {error}");
        }
    }
}

fn document(bytes: &[u8]) -> Verdict {
    let document = match Document::parse(bytes) {
        Ok(document) => document,
        Err(error) => {
            let _ = error.to_string();
            return Verdict::Refused;
        }
    };
    let again = Document::parse(document.to_json().as_bytes()).expect("a document reads what it wrote");
    assert_eq!(again, document, "the text says something else");
    for finding in duplicate_keys(bytes).expect("a document is JSON").into_iter().chain(strict::check(&document)) {
        assert!(!finding.code().is_empty() && !finding.to_string().is_empty());
    }
    match bind(&document, &mut |_| Ok(Some(()))) {
        Ok(bound) => {
            show(&document, &bound);
            Verdict::Accepted
        }
        Err(error) => {
            let _ = error.to_string();
            Verdict::Refused
        }
    }
}

/// All that is shown of a plan: no byte of it may steer a terminal, or end a text of the picture.
fn show(document: &Document, bound: &Bound<'_, ()>) {
    assert_eq!(bound.explain().len(), bound.explain_lines().iter().map(|line| line.len() + 1).sum::<usize>());
    match tiga::plan::draw("plan", document, bound, &BTreeMap::from([("ram".to_owned(), u64::MAX)])) {
        Ok(picture) => assert!(picture.lines().all(|line| !line.contains(tiga_source::steers)), "a picture steers"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
