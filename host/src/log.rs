//! What the server says to the person who runs it: lines on standard error.

use std::fmt;
use std::io::Write as _;

/// Says that something went wrong that no client can be told.
pub(crate) fn warn(message: fmt::Arguments<'_>) {
    // Nobody is left to be told that standard error is gone.
    let _ = writeln!(std::io::stderr(), "backburner: {message}");
}
