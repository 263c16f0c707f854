//! The picture on the cookbook's page of heat on a mesh is what the model computes. `BLESS=1` draws it anew.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::{Path, PathBuf};
use testsuite::lit::Tools;
use testsuite::picture::Field;
use tiga_abi::DType;
use tiga_formats::{Conversion, Elements, Limits, open_array};

const LIMITS: Limits = Limits { memory: 16 << 20 };

fn numbers(path: &Path) -> Vec<f64> {
    let array = open_array(path.to_str().unwrap(), &LIMITS).unwrap();
    match array.convert(DType::F64, Conversion::Widening).unwrap().into_parts().1 {
        Elements::F64(v) => v,
        other => panic!("{} instead of f64", other.array_type()),
    }
}

#[test]
fn the_disc_is_drawn_as_it_is_computed() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = Tools::new(here, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let folder = tools.scratch("picture").unwrap();
    let inputs = here.join("cookbook/inputs");
    let model = here.join("../examples/mesh_heat.tg").display().to_string();
    tools.succeeds(&folder, "tigac", &[&model, "-o", "mesh_heat.tgb"]);
    let file = |name: &str| inputs.join(name).display().to_string();
    let pairs = [
        ("--graph", format!("g={}", file("disc.mtx"))),
        ("--in", format!("at={}", file("disc_at.npy"))),
        ("--in", format!("start={}", file("disc_start.npy"))),
        ("--in", format!("held={}", file("disc_held.npy"))),
        ("--in", "dt=0.05".into()),
        ("--in", "steps=200".into()),
        ("--out", "temperature=temperature.npy".into()),
    ];
    let pairs: Vec<&str> = pairs.iter().flat_map(|(flag, value)| [*flag, value]).collect();
    tools.succeeds(&folder, "tiga", &[&["run", "mesh_heat.tgb"], &pairs[..]].concat());
    let at: Vec<[f64; 2]> = numbers(&inputs.join("disc_at.npy")).chunks(2).map(|p| [p[0], p[1]]).collect();
    let corners = numbers(&inputs.join("disc_triangles.npy"));
    let triangles: Vec<[usize; 3]> = corners.chunks(3).map(|t| [t[0] as usize, t[1] as usize, t[2] as usize]).collect();
    let values = numbers(&folder.join("temperature.npy"));
    let drawn = Field { at: &at, triangles: &triangles, values: &values }.svg("Temperature on a disc");
    let page: PathBuf = here.join("../docs/cookbook/mesh_heat.svg");
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&page, &drawn).unwrap();
    }
    assert!(
        std::fs::read_to_string(&page).is_ok_and(|kept| kept == drawn),
        "BLESS=1 draws docs/cookbook/mesh_heat.svg"
    );
}
