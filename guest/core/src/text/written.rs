//! A finished job for tests: nothing but what it wrote.

use crate::imports::{Failure, Fragment, JobSpec, JobState, Jobs, StartError, StopReason, Stream};

/// The output of one job, kept as fragments.
pub(crate) struct Written {
    fragments: Vec<Fragment>,
    /// How many bytes the job wrote, kept or not.
    pub(crate) total: u64,
    /// How many bytes one read gives at most, whatever it asks for; at least 1.
    pub(crate) generosity: usize,
    /// Whether every read fails.
    pub(crate) unreadable: bool,
}

impl Written {
    /// A job that has written nothing.
    pub(crate) fn nothing() -> Self {
        Self {
            fragments: Vec::new(),
            total: 0,
            generosity: usize::MAX,
            unreadable: false,
        }
    }

    /// A job that wrote this to its standard output.
    pub(crate) fn text(text: &str) -> Self {
        Self::nothing().then(Stream::Stdout, text.as_bytes())
    }

    /// The job wrote this next.
    pub(crate) fn then(mut self, stream: Stream, bytes: &[u8]) -> Self {
        self.fragments.push(Fragment {
            offset: self.total,
            at: 0,
            stream,
            bytes: bytes.to_vec(),
        });
        self.total += u64::try_from(bytes.len()).expect("a length fits into 64 bits");
        self
    }

    /// The job wrote this many bytes next, which were not kept.
    pub(crate) fn then_dropped(mut self, bytes: u64) -> Self {
        self.total += bytes;
        self
    }

    /// Gives its output in reads of at most this many bytes.
    pub(crate) fn in_reads_of(mut self, bytes: usize) -> Self {
        self.generosity = bytes;
        self
    }
}

impl Jobs for Written {
    fn read(&mut self, _id: &str, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        assert!(
            (1..=262_144).contains(&limit),
            "limit {limit} breaks the contract"
        );
        if self.unreadable {
            return Err(failure());
        }
        let mut room = usize::try_from(limit)
            .expect("32 bits fit into a usize")
            .min(self.generosity);
        let mut found = Vec::new();
        for fragment in &self.fragments {
            let skipped =
                usize::try_from(offset.saturating_sub(fragment.offset)).unwrap_or(usize::MAX);
            let Some(rest) = fragment
                .bytes
                .get(skipped..)
                .filter(|rest| !rest.is_empty())
            else {
                continue;
            };
            let bytes = rest[..rest.len().min(room)].to_vec();
            room -= bytes.len();
            found.push(Fragment {
                offset: fragment.offset.max(offset),
                bytes,
                ..*fragment
            });
            if room == 0 {
                break;
            }
        }
        Ok(found)
    }

    fn start(&mut self, _id: &str, _spec: &JobSpec) -> Result<(), StartError> {
        unreachable!("output is shown without starting anything")
    }

    fn stop(&mut self, _id: &str, _reason: StopReason) -> Result<(), Failure> {
        unreachable!("output is shown without stopping anything")
    }

    fn inspect(&mut self, _id: &str) -> Result<JobState, Failure> {
        unreachable!("who shows output knows the job's state")
    }

    fn answer(&mut self, _id: &str, _key: &str, _answer: &str) -> Result<(), Failure> {
        unreachable!("output is shown without answering anything")
    }

    fn enter(&mut self, _id: &str, _key: &str, _line: Option<&str>) -> Result<(), Failure> {
        unreachable!("output is shown without typing anything")
    }

    fn forget(&mut self, _id: &str) -> Result<(), Failure> {
        unreachable!("output is shown without deleting anything")
    }
}

fn failure() -> Failure {
    Failure {
        detail: "the disk cannot be read".to_owned(),
    }
}
