//! `tigac eval`: runs a program in the interpreter of the domain level, which defines what it means.

use super::Outcome;
use super::front::{Front, SemaArgs};
use super::inputs::{self, Bound, InputArgs, row_ids};
use super::output::{check_distinct, is_standard, print};
use super::report::ReportArgs;
use crate::sema::ProgramInfo;
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tiga_formats::{Array, INPUTS_HELP, check_result_target, is_table, save_array, save_table};
use tiga_ir::interp::{Options, Tensor, Value, run_domain_with};

/// Elements of a result that are shown.
const SHOWN: usize = 8;

/// What the options alone do not say, as the help of `tiga run` says it.
const DETAILS: &str = "\
Results: without --out, each result is printed to the standard output: its type, its shape
and its first 8 elements. --out writes an array to a .npy file; to a .tsv file, a line a row, which
begins with the node or the two ends of the edge as the graph's file calls them.

Exit codes: 0 done, 1 error, 2 usage, 101 internal error, 130 interrupted.";

/// The arguments of `tigac eval`.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{INPUTS_HELP}\n\n{DETAILS}"), override_usage = "tigac eval [OPTIONS] <FILE> [PROGRAM]")]
pub(super) struct Args {
    /// The model.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The program; may be left out if the model has only one.
    program: Option<String>,
    #[command(flatten)]
    inputs: InputArgs,
    /// Writes a result to a file, .npy or .tsv; the name may be left out if there is only one.
    #[arg(long = "out", value_name = "[RESULT=]FILE")]
    outputs: Vec<String>,
    #[command(flatten)]
    sema: SemaArgs,
    #[command(flatten)]
    report: ReportArgs,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    evaluate(args).or_else(|error| args.report.refusal(error))
}

fn evaluate(args: &Args) -> Result<Outcome> {
    let front = Front::read(&args.file, &args.sema.options())?;
    let outcome = args.report.show(&front.sources, &front.diagnostics);
    if outcome != Outcome::Done {
        return Ok(outcome);
    }
    let program = program(&front.analysis.programs, args.program.as_deref())?;
    let outputs: Vec<(usize, PathBuf)> = args.outputs.iter().map(|o| output(program, o)).collect::<Result<_>>()?;
    check_outputs(args, &outputs)?;
    let options = Options { sizes: args.inputs.dims(program)?, ..Options::default() };
    let Bound { values, graphs } = args.inputs.values(program)?;
    let results = run_domain_with(&front.analysis.ir, &program.name, &values, &options);
    let results = results.map_err(inputs::explain)?;
    let arrays: Vec<Array> = results.iter().map(array).collect::<Result<_>>()?;
    for (index, path) in &outputs {
        let (result, array) = (&program.results[*index], &arrays[*index]);
        match is_table(path) {
            true => save_table(path, &result.name, array, row_ids(program, &graphs, &result.ty))?,
            false => save_array(path, array)?,
        }
    }
    if outputs.is_empty() {
        let mut text = String::new();
        for (info, array) in program.results.iter().zip(&arrays) {
            writeln!(text, "{}: {}", info.name, show(array))?;
        }
        print(text.as_bytes())?;
    }
    Ok(Outcome::Done)
}

/// Refuses results that would overwrite each other, or what is read.
fn check_outputs(args: &Args, outputs: &[(usize, PathBuf)]) -> Result<()> {
    let outputs: Vec<&Path> = outputs.iter().map(|(_, path)| path.as_path()).collect();
    if outputs.iter().any(|path| is_standard(path)) {
        bail!("a result is no text, and does not go to the standard output: name a file with --out");
    }
    let mut inputs = args.inputs.files();
    inputs.push(&args.file);
    check_distinct(&inputs, &outputs)?;
    for path in outputs {
        check_result_target(path)?;
    }
    Ok(())
}

fn program<'a>(programs: &'a [ProgramInfo], name: Option<&str>) -> Result<&'a ProgramInfo> {
    let names = || programs.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, programs) {
        (Some(name), _) => match programs.iter().find(|p| p.name == name) {
            Some(program) => Ok(program),
            None => bail!("the model has no program `{name}`; it has {}", names()),
        },
        (None, [only]) => Ok(only),
        (None, []) => bail!("the model has no program"),
        (None, _) => bail!("the model has several programs, name one: {}", names()),
    }
}

/// `[RESULT=]FILE` with the number of the result it means.
fn output(program: &ProgramInfo, text: &str) -> Result<(usize, PathBuf)> {
    let names = || program.results.iter().map(|r| &*r.name).collect::<Vec<_>>().join(", ");
    if let Some((name, file)) = text.split_once('=') {
        return match program.results.iter().position(|r| &*r.name == name) {
            Some(index) => Ok((index, file.into())),
            None => bail!("`{}` has no result `{name}`; it has {}", program.name, names()),
        };
    }
    match program.results.len() {
        1 => Ok((0, text.into())),
        _ => bail!("`{text}`: the program has several results, say which: {}", names()),
    }
}

fn array(value: &Value) -> Result<Array> {
    let tensor: &Tensor = value.as_tensor().context("a result is no tensor")?;
    let array = Array::zeroed(tensor.dtype(), tensor.shape().to_vec());
    let mut array = array.context("a result does not fit in memory")?;
    array.as_bytes_mut().copy_from_slice(&tensor.to_bytes());
    Ok(array)
}

/// `f64[4] = 0.3, 0.2, …`
fn show(array: &Array) -> String {
    let mut values: Vec<String> = (0..array.len().min(SHOWN)).map(|i| array.get(i).to_string()).collect();
    if array.len() > SHOWN {
        values.push("…".into());
    }
    let shape: Vec<String> = array.shape().iter().map(usize::to_string).collect();
    let shape = if shape.is_empty() { String::new() } else { format!("[{}]", shape.join(", ")) };
    format!("{}{shape} = {}", array.array_type(), values.join(", "))
}
