//! What the tests of the whole project stand on: the tidy rules, the runner of RUN/CHECK files, the generator of
//! random programs and the comparison of back ends with interpreters.

pub mod accuracy;
pub mod bound;
pub mod differential;
pub mod generator;
pub mod lit;
pub mod models;
pub mod picture;
pub mod road;
pub mod tidy;
