//! Compiles the model into a module with a typed function.

fn main() -> Result<(), tiga_build::BuildError> {
    tiga_build::Model::new("../../heat.tg").compile()
}
