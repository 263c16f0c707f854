//! Plans: the template of a bundle and the document of a run.

use crate::{Memory, Repository, Target, Verdict};
use tiga_plan::Template;
use tiga_plan::bind::bind;
use tiga_plan::document::Document;
use tiga_plan::instantiate::{check_instance, instantiate};

pub(crate) const TARGET: Target = Target {
    name: "plan",
    run,
    seeds,
    words: WORDS,
    longest: 16384,
    memory: Memory { free: 8 << 20, by_byte: 1 << 10 },
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
    let bound = bind(&document, &mut |_| Ok(Some(())));
    bound.as_ref().map_err(ToString::to_string).map_or(Verdict::Refused, |_| Verdict::Accepted)
}
