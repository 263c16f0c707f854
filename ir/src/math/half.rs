//! Conversions of `f16` for machines that have none: bit work on the f32 that has the f16 as its upper half.

use super::arith::Arith;
use super::term::Float;

/// The f32 equal to the f16 in the upper half of `x`.
#[inline(always)]
pub(super) fn to_single<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    let sign = x.bits() & lane.sign_bit();
    // Exponent and fraction in the places of f32's; the product makes up for the other bias, of denormals too.
    let rest = (x.bits() & lane.int(0x7fff_0000)) >> lane.int(3);
    let scaled = (rest.float() * lane.power_of_two(112)).bits();
    let finite = rest.signed_less(lane.int(0x0f80_0000));
    let value = finite.int(scaled, rest | lane.int(0x7f80_0000));
    (value | sign).float()
}

/// The f16 nearest to `x`, ties to even, as the upper half of a value whose other bits are 0.
#[inline(always)]
pub(super) fn from_single<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    let sign = x.bits() & lane.sign_bit();
    let bits = x.abs().bits();
    // The last place of 1/2 is that of a denormal f16: the sum is rounded there.
    let denormal = (x.abs() + lane.float(0.5)).bits() - lane.int(0x3f00_0000);
    // 13 bits of the fraction go. What is carried beyond the greatest f16 makes the bits of infinity.
    let odd = (bits >> lane.int(13)) & lane.int(1);
    let normal = (bits + lane.int(0xfff - (112 << 23)) + odd) >> lane.int(13);
    let special = lane.int(0x7f80_0000).signed_less(bits).int(lane.int(0x7e00), lane.int(0x7c00));
    let value = bits.signed_less(lane.int(0x4780_0000)).int(normal, special);
    let value = bits.signed_less(lane.int(0x3880_0000)).int(denormal, value);
    ((value << lane.int(16)) | sign).float()
}
