//! Conversions of f16 without conversions of f16, against those of [`Scalar::cast`].

use crate::Scalar;
use crate::math::{Evaluator, half_to_single, single_to_half};
use tiga_abi::DType;

fn upper(bits: u16) -> Scalar {
    Scalar::F32(f32::from_bits(u32::from(bits) << 16))
}

/// What a machine without conversions makes of an f32.
fn rounded(x: f32) -> Scalar {
    let bits = single_to_half(&mut Evaluator, Scalar::F32(x)).bits();
    assert_eq!(bits & 0xffff, 0, "{x}");
    Scalar::from_bits(DType::F16, bits >> 16)
}

#[test]
fn every_f16_is_the_same_f32() {
    for bits in 0..=u16::MAX {
        let half = Scalar::from_bits(DType::F16, bits.into());
        assert!(half_to_single(&mut Evaluator, upper(bits)).same(half.cast(DType::F32)), "{bits:#x}");
        assert!(rounded(half.as_f64() as f32).same(half), "{bits:#x}");
    }
}

#[test]
fn a_survey_of_f32_has_the_same_f16() {
    for bits in (0..=u32::MAX).step_by(997) {
        let x = f32::from_bits(bits);
        assert!(rounded(x).same(Scalar::F32(x).cast(DType::F16)), "{bits:#x}");
    }
}

/// Rounding is monotone: it is right everywhere if it is right beside each point between two neighbours.
#[test]
fn every_f32_has_the_same_f16() {
    for bits in 0..0x7c00_u16 {
        let at = |bits: u16| Scalar::from_bits(DType::F16, bits.into()).as_f64();
        // Infinity stands for the number after the greatest.
        let above = if bits == 0x7bff { 65536.0 } else { at(bits + 1) };
        let middle = f64::midpoint(at(bits), above) as f32;
        for x in [middle.next_down(), middle, middle.next_up()].into_iter().flat_map(|x| [x, -x]) {
            assert!(rounded(x).same(Scalar::F32(x).cast(DType::F16)), "{x:e}");
        }
    }
    for x in [f32::MAX, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE, f32::from_bits(1), f32::from_bits(0x7f80_0001)] {
        for x in [x, -x] {
            assert!(rounded(x).same(Scalar::F32(x).cast(DType::F16)), "{x:e}");
        }
    }
}
