//! Results as tab-separated text: a line a row, with the identifiers that the graph's file has.

use crate::{Array, GraphFile, Names, WriteError, write_file};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use tiga_abi::Symbol;

/// What the rows of an array are called.
#[derive(Clone, Copy, Debug)]
pub enum RowIds<'a> {
    /// Positions from 0.
    Positions,
    /// A name for each row.
    Names(&'a Names),
    /// The nodes of a graph, as its file numbers or names them.
    Nodes(&'a GraphFile),
    /// The edges of a graph, by their two ends.
    Edges(&'a GraphFile),
    /// The edges of a graph, by the names of their two ends.
    NamedEdges(&'a GraphFile, &'a Names),
}

impl<'a> RowIds<'a> {
    /// By the first graph of which `leading`, what counts the rows, is the edges or else a set of nodes; the graphs come
    /// with the names of their sources, destinations and edges.
    pub fn of_graphs<'g>(
        leading: &Symbol,
        graphs: impl IntoIterator<Item = ([&'g Symbol; 3], &'a GraphFile)>,
    ) -> RowIds<'a> {
        for ([src, dst, edges], file) in graphs {
            if leading == edges {
                return RowIds::Edges(file);
            }
            if leading == src || leading == dst {
                return RowIds::Nodes(file);
            }
        }
        RowIds::Positions
    }

    /// The columns that say which row it is.
    fn columns(self) -> &'static [&'static str] {
        match self {
            RowIds::Positions => &["index"],
            RowIds::Names(_) => &["name"],
            RowIds::Nodes(_) => &["node"],
            RowIds::Edges(_) | RowIds::NamedEdges(..) => &["src", "dst"],
        }
    }

    /// What a row of `rows` is called: one text for each column.
    pub fn of(self, row: usize, rows: usize) -> Vec<Cow<'a, str>> {
        match self {
            RowIds::Positions => vec![Cow::Owned(row.to_string())],
            RowIds::Names(names) => vec![Cow::Borrowed(names.get(row).unwrap_or_default())],
            RowIds::Nodes(file) => vec![file.node_id(row, rows)],
            RowIds::Edges(file) => {
                let [source, destination] = ends(file, row);
                vec![file.node_id(source, file.csr.num_src()), file.node_id(destination, file.csr.num_dst())]
            }
            RowIds::NamedEdges(file, names) => {
                ends(file, row).map(|node| Cow::Borrowed(names.get(node).unwrap_or_default())).into()
            }
        }
    }
}

/// The source and the destination of an edge, by its position.
fn ends(file: &GraphFile, edge: usize) -> [usize; 2] {
    let destination = file.csr.row_ptr().partition_point(|start| *start <= edge as i64) - 1;
    [file.csr.col().get(edge) as usize, destination]
}

/// Writes an array, whole or not at all: a line that names the columns, then a line a row, with all numbers of that row.
/// Numbers have as many digits as tell them apart in their type; in identifiers, `\t \n \r \\` are a tab, the ends of
/// lines and a backslash.
///
/// # Errors
/// [`WriteError`]; a file that stood there is kept.
pub fn save_table(path: &Path, name: &str, array: &Array, ids: RowIds<'_>) -> Result<(), WriteError> {
    write_file(path, |mut out| write(&mut out, name, array, ids))
}

/// Columns that are named in a table without rows.
const COLUMNS_OF_NOTHING: usize = 1 << 16;

fn write(out: &mut impl Write, name: &str, array: &Array, ids: RowIds<'_>) -> io::Result<()> {
    let [rows, inner @ ..] = array.shape() else {
        return writeln!(out, "{name}\n{}", array.get(0));
    };
    let width: usize = inner.iter().product();
    let mut separator = "";
    for name in ids.columns() {
        write!(out, "{separator}{name}")?;
        separator = "\t";
    }
    // Without rows there may be any number of columns.
    for position in 0..if *rows == 0 { width.min(COLUMNS_OF_NOTHING) } else { width } {
        write!(out, "{separator}{}", column(name, inner, position))?;
        separator = "\t";
    }
    writeln!(out)?;
    for row in 0..*rows {
        let ids = ids.of(row, *rows);
        write!(out, "{}", ids.iter().map(|id| escaped(id)).collect::<Vec<_>>().join("\t"))?;
        for position in row * width..(row + 1) * width {
            write!(out, "\t{}", array.get(position))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// `y`, or `y[1,0]` for the element at a position of a row.
fn column(name: &str, shape: &[usize], mut position: usize) -> String {
    if shape.is_empty() {
        return name.to_owned();
    }
    let mut index: Vec<String> = Vec::new();
    for extent in shape.iter().rev() {
        index.push((position % extent).to_string());
        position /= extent;
    }
    index.reverse();
    format!("{name}[{}]", index.join(","))
}

fn escaped(id: &str) -> Cow<'_, str> {
    if !id.contains(['\t', '\n', '\r', '\\']) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Elements, Limits, edge_list, edge_list::EdgeListOptions};

    #[test]
    fn columns_of_no_rows_are_not_all_named() {
        let wide = Array::new(vec![0, 1 << 40], Elements::F32(Vec::new())).unwrap();
        let header = table(&wide, RowIds::Positions);
        assert_eq!(header.split('\t').count(), 1 + COLUMNS_OF_NOTHING);
        assert_eq!(header.lines().count(), 1);
    }

    fn table(array: &Array, ids: RowIds<'_>) -> String {
        let mut out = Vec::new();
        write(&mut out, "y", array, ids).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn graph(text: &str, named: bool) -> GraphFile {
        let options = EdgeListOptions { named, ..EdgeListOptions::default() };
        edge_list::read(text.as_bytes(), text.len() as u64, &options, &Limits { memory: 1 << 20 }).unwrap()
    }

    #[test]
    fn rows_have_the_identifiers_of_the_file() {
        let y = Array::vector(Elements::F32(vec![0.1, f32::NAN, -0.0]));
        let file = graph("new york,a\\b\na\\b,c\n", true);
        assert_eq!(table(&y, RowIds::Nodes(&file)), "node\ty\nnew york\t0.1\na\\\\b\tNaN\nc\t-0.0\n");
        assert_eq!(table(&y, RowIds::Positions), "index\ty\n0\t0.1\n1\tNaN\n2\t-0.0\n");
        let names = Names::from_lines("a\tb\nc\nd\n".into()).unwrap();
        assert_eq!(table(&y, RowIds::Names(&names)), "name\ty\na\\tb\t0.1\nc\tNaN\nd\t-0.0\n");
        // Node 1 has no edge into it, and two edges go into node 2.
        let file = graph("0 2\n1 0\n1 2\n", false);
        assert_eq!(table(&y, RowIds::Edges(&file)), "src\tdst\ty\n1\t0\t0.1\n0\t2\tNaN\n1\t2\t-0.0\n");
        let named = table(&y, RowIds::NamedEdges(&file, &names));
        assert_eq!(named, "src\tdst\ty\nc\ta\\tb\t0.1\na\\tb\td\tNaN\nc\td\t-0.0\n");
    }

    #[test]
    fn each_number_of_a_row_has_a_column() {
        let array = |shape: &[usize], n: i32| Array::new(shape.to_vec(), Elements::I32((0..n).collect())).unwrap();
        assert_eq!(table(&array(&[2, 2], 4), RowIds::Positions), "index\ty[0]\ty[1]\n0\t0\t1\n1\t2\t3\n");
        let deep = table(&array(&[1, 2, 2], 4), RowIds::Positions);
        assert_eq!(deep, "index\ty[0,0]\ty[0,1]\ty[1,0]\ty[1,1]\n0\t0\t1\t2\t3\n");
        assert_eq!(table(&array(&[], 1), RowIds::Positions), "y\n0\n");
        assert_eq!(table(&array(&[0, 2], 0), RowIds::Positions), "index\ty[0]\ty[1]\n");
        assert_eq!(table(&array(&[2, 0], 0), RowIds::Positions), "index\n0\n1\n");
    }
}
