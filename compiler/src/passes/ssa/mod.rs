//! Passes that know values, uses and effects, but no level.

pub mod canonicalise;
pub mod cse;
pub mod dce;
mod replace;

use tiga_ir::{Body, Level, Module, Region};

/// Changes every body on some levels; those of reducers always.
///
/// # Errors
/// The first error of `change`.
fn each_body<E>(
    module: &Module,
    levels: &[Level],
    mut change: impl FnMut(&mut Body, Region, Option<Level>) -> Result<(), E>,
) -> Result<Module, E> {
    let mut out = module.clone();
    for reducer in out.reducers.values_mut() {
        let regions: Vec<Region> = reducer.regions().map(|(_, region)| region).collect();
        for region in regions {
            change(&mut reducer.body, region, None)?;
        }
    }
    for func in out.funcs.values_mut().filter(|f| levels.contains(&f.level)) {
        change(&mut func.body, func.region, Some(func.level))?;
    }
    Ok(out)
}
