//! Text for people and models: moments, durations, and what a job wrote, as a terminal would show it.
//!
//! Knows how output is read, cleaned and shortened. Knows no tool, no task and no protocol.

mod decoder;
mod escape;
mod excerpt;
mod foreign;
mod hidden;
#[cfg(test)]
pub(crate) mod lcg;
mod limits;
mod output;
mod path;
mod screen;
mod shorten;
mod stdout;
mod time;
mod uri;
#[cfg(test)]
pub(crate) mod written;

pub(crate) use excerpt::Excerpt;
pub(crate) use foreign::{
    Ends, INSET, echoed, in_one_line, indented, middle_left_out, revealed_lines,
};
pub(crate) use hidden::{is_hidden, revealed, visible, visible_lines};
pub(crate) use output::{last_line, output};
pub(crate) use path::{absolute, is_within, normalised};
pub(crate) use shorten::shorten;
pub(crate) use stdout::{rendered, stdout_bytes, stdout_text};
pub(crate) use time::{duration, iso8601};
pub(crate) use uri::{as_path, is_scheme};
