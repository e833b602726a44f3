//! The output of a job on disk: raw bytes in segments, and beside each an index of what belongs to whom.
//!
//! A segment is two files named after the offset of its first byte: `out-<offset>` holds the bytes as they
//! came, `idx-<offset>` entries of 16 bytes, each for a run of bytes of one stream. So the total is the last
//! segment's offset and size, a position is found by binary search, and nothing has to be parsed.
//!
//! Within the limit the first segment, half of it, is the beginning of the output and stays; the others, an
//! eighth each, are its end, and the oldest of them is deleted when a new one is needed. Index entries count
//! as output, so a job that alternates between its streams is bounded too.
//!
//! The supervisor writes bytes before their entry. Bytes without one, after a supervisor was killed in
//! between, count as standard output. Nothing is synced while the job runs: all of it is, before the outcome.

mod index;
mod reader;
mod recorder;
mod segments;

pub(crate) use reader::{Request, Writer, read};
pub(crate) use recorder::{Moment, Recorder};
pub(crate) use segments::{sync, usage};
