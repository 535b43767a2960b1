//! What is said on the standard output and the standard error. A reader that has seen enough, such as `head`, is no
//! failure: the command goes on to its verdict, and ends with it.

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

/// As the standard library's, but for a reader that went away.
macro_rules! eprintln {
    ($($text:tt)*) => { crate::out::tell(format_args!($($text)*)) };
}

/// `1 node`, `2 nodes`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

/// Writes a line to the standard error, if anybody reads it: what cannot be told there can be told nowhere.
pub(crate) fn tell(text: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{text}");
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
