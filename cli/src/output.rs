//! Lines to standard output, whoever reads them: a reader that has seen enough and goes away is no error of ours.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stdout};

/// What a shell reports of a program whose reader went away: 128 + SIGPIPE.
const READER_GONE: i32 = 141;

/// Shadows the standard macro, which panics when nobody reads any more.
macro_rules! println {
    ($($part:tt)*) => { crate::output::write(format_args!("{}\n", format_args!($($part)*))) };
}

/// The same without the line's end.
macro_rules! print {
    ($($part:tt)*) => { crate::output::write(format_args!($($part)*)) };
}

/// Writes to standard output at once; ends the program where that cannot be done.
pub fn write(text: Arguments) {
    let mut output = stdout().lock();
    if let Err(error) = output.write_fmt(text).and_then(|()| output.flush()) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(READER_GONE);
        }
        eprintln!("error: cannot write to standard output: {error}");
        std::process::exit(1);
    }
}
