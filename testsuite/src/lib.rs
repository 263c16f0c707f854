//! What the tests of the whole project stand on: the tidy rules and the runner of RUN/CHECK files.

pub mod lit;
pub mod tidy;
