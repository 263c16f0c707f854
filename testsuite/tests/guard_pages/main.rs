//! Kernels touch nothing outside of their arrays: each array, borrowed or the runtime's own, ends or begins where memory
//! does. The allocator of this test fences off all memory of the process while it is on, so other tests stay elsewhere.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(unsafe_code, reason = "a death that must be seen")]

mod fence;

use fastrand::Rng;
use fence::{Fence, Side};
use std::os::unix::process::ExitStatusExt;
use testsuite::models::{DENSE, TURNED, WALK, WIDE, compiled, graph, random, specialised, wide_values};
use testsuite::road::{Road, difference};
use tiga_abi::{DType, FpMode};
use tiga_ir::interp::{Tensor, Value};
use tiga_runtime::{Context, UnitOrder};

#[global_allocator]
static FENCE: Fence = Fence::new();

#[test]
fn kernels_stay_inside_their_arrays() {
    let context = Context::new(2).unwrap().with_order(UnitOrder::Shuffled(9));
    let roads =
        [false, true].map(|tiny| [WIDE, WALK, TURNED].map(|text| compiled(text, FpMode::Default, tiny).unwrap()));
    let mut rng = Rng::with_seed(2);
    let fenced = |road: &Road, program: &str, values: &[Value], dims: &[(&str, i64)]| {
        let expected = road.interpret(program, values, dims).unwrap();
        for side in [Side::End, Side::Begin] {
            let on = FENCE.on(side);
            let got = [
                road.run(program, values, dims, &context),
                road.run_prepared((program, 0), values, dims, &context),
                road.run_prepared((program, 3), values, dims, &context),
            ];
            drop(on);
            for got in got {
                for (got, expected) in got.unwrap().iter().zip(&expected) {
                    assert_eq!(difference(got, expected), None, "{program} {dims:?}");
                }
            }
        }
    };
    // Extents that leave most of a register's lanes on, some of them, and one.
    let extents = [11, 19, 33];
    let [wide, dense] = [WIDE, DENSE].map(|text| specialised(text, FpMode::Default, false, &extents).unwrap());
    for features in extents.into_iter().chain([0, 7, 70]) {
        let features = features as usize;
        fenced(&wide, "wide", &wide_values(&mut rng, 7, 5, features), &[("F", features as i64)]);
        for rows in [7, 30] {
            let shapes = [[rows, 3], [3, features]];
            let values = shapes.map(|shape| random(&mut rng, DType::F32, &shape));
            fenced(&dense, "dense", &values, &[]);
        }
    }
    for [wide, walk, turned] in &roads {
        // Odd numbers of rows and features put arrays at addresses that are multiples of their elements only.
        for features in 0..20 {
            let values = wide_values(&mut rng, 7, 5, features);
            fenced(wide, "wide", &values, &[("F", features as i64)]);
            let (g, w) = (graph(&mut rng, 5, 5), random(&mut rng, DType::F32, &[features]));
            fenced(turned, "turned", &[g.into(), random(&mut rng, DType::F32, &[5, 3 * features]), w], &[]);
        }
        for nodes in 0..12 {
            let g = graph(&mut rng, nodes, nodes);
            let steps = Tensor::of(&[], &[3i64]).unwrap();
            fenced(walk, "walk", &[g.into(), random(&mut rng, DType::F64, &[nodes]), steps.into()], &[]);
        }
    }
}

/// Not a test of its own: what the next test starts as another process.
#[test]
fn trespass() {
    let Ok(side) = std::env::var("TIGA_TRESPASS") else { return };
    let on = FENCE.on(if side == "end" { Side::End } else { Side::Begin });
    let array = Vec::from([1u32; 5]);
    drop(on);
    let begin = array.as_ptr();
    let outside = if side == "end" { begin.wrapping_add(5) } else { begin.wrapping_sub(1) };
    // SAFETY: there is none: the fence must end this process here.
    std::process::exit(unsafe { outside.read_volatile() } as i32 & 1);
}

#[test]
fn the_fence_holds() {
    for side in ["end", "begin"] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let status = command.args(["--exact", "trespass"]).env("TIGA_TRESPASS", side).output().unwrap().status;
        assert_eq!(status.signal(), Some(libc::SIGSEGV), "{side}: {status}");
    }
}
