//! Bundles that this and earlier versions made are run with the same bits, or refused as of another version.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use testsuite::lit::Tools;
use tiga_bundle::{Bundle, BundleError, Contents};
use tiga_formats::{Limits, open_array};

/// A folder for each version, in it one for each bundle: `bundle.tgb`, `arguments` (those of `tiga run`, one a line),
/// the files that they name, and `NAME.expected.npy` for each result. Beside it lies `VERSION.sha256`, the list of its
/// files as `sha256sum` writes and checks it.
const BUNDLES: &str = "goldens/bundles";

/// Says which versions are released, and which one is not yet: only its bundles may be written again.
const CHANGELOG: &str = "../CHANGELOG.md";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where the inputs come from that `BLESS=1` copies beside a new bundle.
const INPUTS: &str = "cookbook/inputs";

/// What a version leaves behind: an example, what it is run on, and whether its intermediate code is kept, which most
/// of a bundle is.
struct Sample {
    example: &'static str,
    arguments: &'static [&'static str],
    ir: bool,
}

/// `BLESS=1` writes them into the folder of this version.
const SAMPLES: [Sample; 4] = [
    // Every kind of entry that a bundle can have; edge values.
    Sample {
        example: "spmv",
        arguments: &["--graph", "g=system.mtx", "--in", "a=g.values", "--in", "x=cg_b.npy"],
        ir: true,
    },
    // A loop while scalars say so, the transposed graph, two results.
    Sample {
        example: "pagerank",
        arguments: &["--graph", "g=social.mtx", "--in", "damping=0.85", "--in", "tol=1e-6"],
        ir: false,
    },
    // Matrices, features, kernels in variants.
    Sample {
        example: "gcn",
        arguments: &["--graph", "g=social.mtx", "--in", "x=x.npy", "--in", "w0=gcn_w0.npy", "--in", "w1=gcn_w1.npy"],
        ir: false,
    },
    // Integers, gathers.
    Sample { example: "components", arguments: &["--graph", "g=islands.mtx"], ir: false },
];

#[test]
fn bundles_of_all_versions_run_with_the_same_bits_or_are_refused_by_name() {
    let tools = tools();
    let mut seen = BTreeMap::new();
    for version in folders(&tools.root.join(BUNDLES)) {
        let name = version.file_name().unwrap().to_string_lossy().into_owned();
        let samples = folders(&version);
        for sample in &samples {
            check(tools, &name, sample);
        }
        seen.insert(name, samples.len());
    }
    assert_eq!(seen.get(VERSION), Some(&SAMPLES.len()), "this version has left no bundles: BLESS=1 writes them");
}

#[test]
fn bundles_of_this_version_show_every_kind_of_entry() {
    let folder = tools().root.join(BUNDLES).join(VERSION);
    let bundle = Bundle::open(&folder.join("spmv/bundle.tgb")).unwrap();
    let names: Vec<&str> = bundle.entries().map(|(name, _)| name).collect();
    assert_eq!(names, ["ir/x86-64-v3.tir", "kernels/x86-64-v3.so", "manifest.json", "plans/spmv.json", "sha256.txt"]);
    assert!(SAMPLES.iter().all(|sample| folder.join(sample.example).is_dir()), "a folder for each sample");
}

#[test]
fn a_bundle_of_another_format_is_refused_by_name() {
    let tools = tools();
    let mut bytes = fs::read(tools.root.join(BUNDLES).join(VERSION).join("spmv/bundle.tgb")).unwrap();
    let (now, later) = (format!("tiga-bundle {}\n", tiga_bundle::FORMAT), "tiga-bundle 9\n");
    let at = bytes.windows(now.len()).rposition(|window| window == now.as_bytes()).unwrap();
    bytes.splice(at..at + now.len(), later.bytes());
    assert!(matches!(Bundle::from_bytes(bytes.clone()), Err(BundleError::Version { found, .. }) if found == "9"));
    let folder = tools.scratch("golden-bundles-later").unwrap();
    fs::write(folder.join("later.tgb"), bytes).unwrap();
    refused(tools, &folder.join("later.tgb"), &[]);
}

#[test]
fn what_versions_left_behind_is_as_listed() {
    let tools = tools();
    let bundles = tools.root.join(BUNDLES);
    let mut versions: BTreeSet<String> = released(&changelog(tools)).map(String::from).collect();
    for entry in fs::read_dir(&bundles).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        versions.insert(name.strip_suffix(".sha256").unwrap_or(&name).to_owned());
    }
    for version in versions {
        let listed = fs::read_to_string(list(&bundles, &version));
        let listed = listed.unwrap_or_else(|error| panic!("{version} has no list of what it left: {error}"));
        assert_eq!(listed, sums(&bundles, &version), "{version}: what a version left behind is never changed");
    }
}

#[test]
fn only_what_is_new_or_not_released_is_written() {
    let text =
        "# Changelog\n\n## [Unreleased]: 0.2.0\n\n- [0.3.0]\n\n## [0.1.1]: 2027-01-02\n\n## [0.1.0] - 2026-12-01\n";
    assert_eq!(released(text).collect::<Vec<_>>(), ["0.1.1", "0.1.0"]);
    assert!(may_write(text, "0.2.0", true), "it is not released");
    assert!(may_write(text, "0.3.0", false), "it left nothing yet");
    assert!(!may_write(text, "0.1.0", true) && !may_write(text, "0.1.0", false), "it is released");
    assert!(!may_write(text, "0.3.0", true), "it is there, and not known as unreleased");
    assert!(!may_write("", "0.1.0", true), "nothing says that it is not released");
}

/// The versions with a heading of their own.
fn released(changelog: &str) -> impl Iterator<Item = &str> {
    let headings = changelog.lines().filter_map(|line| line.strip_prefix("## [")?.split(']').next());
    headings.filter(|name| *name != "Unreleased")
}

fn may_write(changelog: &str, version: &str, there: bool) -> bool {
    let open = changelog.lines().find_map(|line| line.strip_prefix("## [Unreleased]: "));
    released(changelog).all(|name| name != version) && (!there || open.map(str::trim) == Some(version))
}

fn changelog(tools: &Tools) -> String {
    fs::read_to_string(tools.root.join(CHANGELOG)).unwrap()
}

fn list(bundles: &Path, version: &str) -> PathBuf {
    bundles.join(format!("{version}.sha256"))
}

/// A line for each file that a version left behind, in order.
fn sums(bundles: &Path, version: &str) -> String {
    let mut lines = Vec::new();
    let mut inside = vec![bundles.join(version)];
    while let Some(folder) = inside.pop() {
        for path in fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                inside.push(path);
                continue;
            }
            let digest = Sha256::digest(fs::read(&path).unwrap());
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            lines.push((path.strip_prefix(bundles).unwrap().display().to_string(), digest));
        }
    }
    lines.sort();
    lines.iter().map(|(path, digest)| format!("{digest}  {path}\n")).collect()
}

/// The commands; with `BLESS=1` the samples are written before any test reads them.
fn tools() -> &'static Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let tools = Tools::new(here, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
        if tools.bless {
            bless(&tools);
        }
        tools
    })
}

/// Runs a bundle and compares all bits of all results.
fn check(tools: &Tools, version: &str, sample: &Path) {
    let shown = format!("{version}/{}", sample.file_name().unwrap().display());
    let file = sample.join("bundle.tgb");
    let arguments = fs::read_to_string(sample.join("arguments")).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    let bundle = match Bundle::open(&file) {
        Ok(bundle) => bundle,
        Err(error @ BundleError::Version { .. }) if version != VERSION => {
            println!("{shown}: {error}");
            return refused(tools, &file, &arguments);
        }
        Err(error) => panic!("{shown}: {error}"),
    };
    if let Err(error) = tiga_runtime::Bundle::open(&file) {
        assert!(!has_v3(), "{shown}: {error}");
        println!("{shown}: skipped, {error}");
        return;
    }
    for (name, got) in run(tools, &bundle, sample, &arguments) {
        let expected = array(&sample.join(format!("{name}.expected.npy")));
        let same = got.array_type() == expected.array_type() && got.as_bytes() == expected.as_bytes();
        assert!(same, "{shown}: the bits of `{name}` are others than version {version} computed");
    }
}

/// The results of the one program, by name.
fn run(tools: &Tools, bundle: &Bundle, sample: &Path, arguments: &[&str]) -> BTreeMap<String, tiga_formats::Array> {
    let [program] = bundle.manifest().programs.as_slice() else { panic!("a sample has one program") };
    let out = tools.scratch(&format!("golden-bundles-{}", program.name)).unwrap();
    let files = program.results.iter().map(|result| (result.name.clone(), out.join(format!("{}.npy", result.name))));
    let files: Vec<(String, PathBuf)> = files.collect();
    let outs: Vec<String> = files.iter().map(|(name, file)| format!("--out={name}={}", file.display())).collect();
    let mut all = vec!["run", "bundle.tgb"];
    all.extend(arguments.iter().copied().chain(outs.iter().map(String::as_str)));
    tools.succeeds(sample, "tiga", &all);
    files.into_iter().map(|(name, file)| (name, array(&file))).collect()
}

/// The command says which format it found, which one it reads, and exits with 1.
fn refused(tools: &Tools, file: &Path, arguments: &[&str]) {
    let output = tools.command("tiga").arg("run").arg(file).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("the bundle has format "), "{said}");
}

/// Writes the samples of this version, unless it is released, and their list; those of others are never touched.
fn bless(tools: &Tools) {
    let bundles = tools.root.join(BUNDLES);
    let there = bundles.join(VERSION).exists() || list(&bundles, VERSION).exists();
    assert!(may_write(&changelog(tools), VERSION, there), "{VERSION} is released: its bundles are not written again");
    // A sample that is no more must not stay.
    let _ = fs::remove_dir_all(bundles.join(VERSION));
    for sample in &SAMPLES {
        let folder = bundles.join(VERSION).join(sample.example);
        fs::create_dir_all(&folder).unwrap();
        for argument in sample.arguments {
            let file = argument.split('=').nth(1).unwrap_or_default();
            if file.ends_with(".mtx") || file.ends_with(".npy") {
                fs::copy(tools.root.join(INPUTS).join(file), folder.join(file)).unwrap();
            }
        }
        fs::write(folder.join("arguments"), sample.arguments.join("\n") + "\n").unwrap();
        let file = folder.join("bundle.tgb");
        let model = format!("../examples/{}.tg", sample.example);
        tools.succeeds(&tools.root, "tigac", &[&model, "--target=x86-64-v3", "-o", file.to_str().unwrap()]);
        let mut bundle = Bundle::open(&file).unwrap();
        if !sample.ir {
            fs::write(&file, without_ir(&bundle)).unwrap();
            bundle = Bundle::open(&file).unwrap();
        }
        for (name, array) in run(tools, &bundle, &folder, sample.arguments) {
            tiga_formats::save_array(&folder.join(format!("{name}.expected.npy")), &array).unwrap();
        }
    }
    fs::write(list(&bundles, VERSION), sums(&bundles, VERSION)).unwrap();
}

fn without_ir(bundle: &Bundle) -> Vec<u8> {
    let manifest = bundle.manifest().clone();
    let kernels = manifest.targets.iter().map(|t| (t.name.clone(), bundle.kernels(&t.name).unwrap().to_vec()));
    let plans = manifest.programs.iter().map(|program| bundle.plan(&program.name).unwrap().clone()).collect();
    tiga_bundle::write(&Contents { kernels: kernels.collect(), plans, ir: BTreeMap::new(), manifest }).unwrap()
}

/// Whether this CPU has what the kernels need: then nothing may be skipped.
fn has_v3() -> bool {
    std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("fma")
        && std::is_x86_feature_detected!("f16c")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("lzcnt")
        && std::is_x86_feature_detected!("movbe")
}

fn array(file: &Path) -> tiga_formats::Array {
    open_array(file.to_str().unwrap(), &Limits { memory: 1 << 30 }).unwrap()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}
