//! JSON as others wrote it, where what a reader makes of it is not enough.
//!
//! What is passed on is not to lose the order of its members or the digits of its numbers, and is not to mean one thing
//! here and another to whoever reads it next. Works on text that is known to be JSON; knows nothing of what it is for.

mod number;
mod one_line;
mod repeated;

pub(crate) use number::{are_equal, is_nearly_whole, numbers, with_numbers_as_written};
pub(crate) use one_line::one_line;
pub(crate) use repeated::{repeated, repeated_outside};
