//! Runs the program `heat` on a graph of three nodes; its bundle is a part of this program.

use tiga_runtime::{Context, Csr, Graph, Indices};

mod heat {
    include!(concat!(env!("OUT_DIR"), "/heat.rs"));
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Row i holds the edges into node i.
    let graph = Graph::new(&Csr::from_csr(vec![0, 2, 3, 5], Indices::I32(vec![0, 2, 1, 0, 1]), Some(3))?)?;
    let (t, b, c) = ([1., 2., 3.], [0.1, 0.2, 0.3], [2., 3., 4., 5., 6.]);
    let results = heat::heat(&heat::bundle()?, &Context::new(0)?, &graph, &t, &b, &c)?;
    let [x, y, z] = results.out[..] else { return Err("three numbers".into()) };
    println!("{x:.1} {y:.1} {z:.1}");
    Ok(())
}
