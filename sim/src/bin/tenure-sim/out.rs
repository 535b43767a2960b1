//! What is said on the standard output. A reader that has seen enough, such as `head`, is no failure: the command goes
//! on to its verdict, and ends with it.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::process::exit;

/// As the standard library's, but for a reader that went away.
macro_rules! print {
    ($($text:tt)*) => { crate::out::say(format_args!($($text)*)) };
}

/// As the standard library's, but for a reader that went away.
macro_rules! println {
    () => { crate::out::say(format_args!("\n")) };
    ($($text:tt)*) => {{
        crate::out::say(format_args!($($text)*));
        crate::out::say(format_args!("\n"));
    }};
}

/// Writes a text. Where it cannot be written, though somebody would read it, the command ends as after bad input.
pub(crate) fn say(text: Arguments<'_>) {
    match std::io::stdout().write_fmt(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!(
                "tenure-sim: standard output: {error}; make room where it is written to (unwritable)"
            );
            exit(2);
        }
        _ => {}
    }
}
