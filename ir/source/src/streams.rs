//! The standard streams: a reader that goes away ends the printing and nothing else, any other failure is an error.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

/// What a command prints. Once the reader has gone (`tiga run … | head -1`) the rest goes nowhere, and the exit code is
/// that of the work done: a missed expectation is not hidden by a closed pipe.
pub struct Output<W: Write = Stdout> {
    inner: Option<BufWriter<W>>,
}

impl Output {
    /// That of this process, buffered: [`Write::flush`] says whether all of it was written.
    pub fn standard() -> Self {
        Self::new(io::stdout())
    }
}

impl<W: Write> Output<W> {
    fn new(inner: W) -> Self {
        Self { inner: Some(BufWriter::new(inner)) }
    }

    /// The result of a write, and whether there is still somebody to write to.
    fn attempt<T>(&mut self, gone: T, write: impl FnOnce(&mut BufWriter<W>) -> io::Result<T>) -> io::Result<T> {
        let Some(inner) = &mut self.inner else { return Ok(gone) };
        let written = write(inner);
        if matches!(&written, Err(error) if error.kind() == ErrorKind::BrokenPipe) {
            self.inner = None;
        }
        printed(written, gone)
    }
}

/// The result of a write to the standard output, or `gone` where its reader has gone.
///
/// # Errors
/// Any other failure, which then says what could not be written to.
pub fn printed<T>(written: io::Result<T>, gone: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(gone),
        Err(error) => Err(io::Error::new(error.kind(), format!("cannot write to the standard output: {error}"))),
        done => done,
    }
}

/// Says something on the standard error stream. Nobody can be told that it is closed, and `eprintln!` would panic; the
/// exit code still says what happened.
pub fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes no byte.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_no_error() {
        let mut out = Output::new(Broken(ErrorKind::BrokenPipe));
        for _ in 0..2 {
            out.write_all(&[b'x'; 100_000]).unwrap();
            writeln!(out, "more").unwrap();
            out.flush().unwrap();
        }
        assert!(out.inner.is_none());
    }

    #[test]
    fn a_full_disk_is_one() {
        let mut out = Output::new(Broken(ErrorKind::StorageFull));
        writeln!(out, "little").unwrap();
        let error = out.flush().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(error.to_string().starts_with("cannot write to the standard output: "), "{error}");
    }
}
