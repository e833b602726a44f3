//! What the tests of backburner as a whole share.
//!
//! **Knows** how to build and start the real binary, how to talk to it as a client, how to play a transcript
//! against whatever answers messages, and how to fake jobs and time. **Does not know** what is tested: that is in
//! `tests/tests` and `tests/transcripts`.
//!
//! Nothing here sleeps to let something happen: what has to become true is waited for with [`until`] or under a
//! deadline, and a deadline that passes panics with the last state seen.

pub mod conformance;
pub mod fake;
pub mod foreign;
pub mod party;
pub mod transcript;

mod binary;
mod deadline;
mod embedded;
mod message;
mod plan;
mod pool;
mod proc;
mod readme;
mod say;
mod server;
mod setup;
mod streams;
mod task_process;
mod test_dir;
mod watch;

pub use binary::{CONFIG, NO_CONFIG, binary, component, example, limited, program, workspace};
pub use deadline::{PATIENCE, until, until_ended};
pub use embedded::{Answer, Embedded, assert_lists_tools};
pub use message::{
    Client, TASKS_EXTENSION, VERSION, check_message, meta, request, run_call, tool_call,
};
pub use plan::{CURSED, CrashPoint, HUGE, HUGE_BYTES, NOISE, Plan, Side, Step, Trouble};
pub use pool::in_threads;
pub use proc::{
    address_space_kib, children, command_lines, descriptors, limit_address_space,
    limit_descriptors, peak_memory_kib, resident_memory_kib, threads,
};
pub use readme::{RUN, readme_blocks, readme_commands};
pub use say::say;
pub use server::{Exit, Server};
pub use setup::{Data, Setup};
pub use streams::collect;
pub use task_process::{processes_of_task, supervisor_of_task, supervisors, task_of_process};
pub use test_dir::TestDir;
pub use watch::{Call, Point, Seen, Watch};
