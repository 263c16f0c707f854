//! Lanes: splat, numbering, shuffle, extract.

use crate::function::{Spelled, Speller};
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, VectorValue};
use tiga_ir::InstData;

impl<'c> Speller<'c, '_> {
    pub(crate) fn splat(&self, data: &InstData) -> Spelled<'c> {
        let lanes = lanes_of(data);
        let scalar = self.operand(data, 0)?;
        let one = crate::function::vector_of(scalar.get_type(), 1).get_poison();
        let one = self.builder.build_insert_element(one, scalar, self.lane(0), "")?;
        self.pick(one, (0..lanes).map(|_| 0))
    }

    pub(crate) fn lanes(&self, data: &InstData) -> BasicValueEnum<'c> {
        let numbers: Vec<_> = (0..lanes_of(data)).map(|i| self.i64().const_int(i.into(), false)).collect();
        VectorType::const_vector(&numbers).into()
    }

    pub(crate) fn shuffle(&self, data: &InstData) -> Spelled<'c> {
        let pattern = data.attrs.pattern().expect("checked: a shuffle has a pattern");
        self.pick(self.operand(data, 0)?.into_vector_value(), pattern.iter().map(|i| *i as u64))
    }

    pub(crate) fn extract(&self, data: &InstData) -> Spelled<'c> {
        let lane = *data.attrs.axis().expect("checked: an extract has a lane");
        let vector = self.operand(data, 0)?.into_vector_value();
        Ok(self.builder.build_extract_element(vector, self.lane(lane as u64), "")?)
    }

    fn lane(&self, lane: u64) -> inkwell::values::IntValue<'c> {
        self.context.i32_type().const_int(lane, false)
    }

    /// Chosen lanes of a vector.
    fn pick(&self, vector: VectorValue<'c>, lanes: impl Iterator<Item = u64>) -> Spelled<'c> {
        let mask: Vec<_> = lanes.map(|lane| self.lane(lane)).collect();
        let nothing = vector.get_type().get_poison();
        Ok(self.builder.build_shuffle_vector(vector, nothing, VectorType::const_vector(&mask), "")?.into())
    }
}

/// The attribute `lanes(…)`.
pub(crate) fn lanes_of(data: &InstData) -> u32 {
    let lanes = data.attrs.lanes().expect("checked: the number of lanes is given");
    u32::try_from(*lanes).expect("checked: at most 64 lanes")
}
