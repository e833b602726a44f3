//! What the test program `system_calls` is told to do, and what it tells.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::binary::binary;
use crate::setup::Setup;

/// The variable that carries a [`Watch`] as JSON.
const VARIABLE: &str = "BACKBURNER_TESTS_WATCH";

/// How a server is watched.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Watch {
    /// The file that gets what is seen.
    pub log: PathBuf,
    /// Where the server is killed; `None` for nowhere.
    pub kill_at: Option<Point>,
}

/// An instant in the life of a server, counted from its first reply: just before it makes a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Point {
    /// The call.
    pub call: Call,
    /// The name of what it is about, without the directory; [`Seen::REPLY`] for a reply.
    pub name: String,
    /// For which time it makes it, from 1.
    pub number: usize,
}

/// A system call that changes what others see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Call {
    /// Waits until a file or a directory would survive a power failure.
    Sync,
    /// Writes.
    Write,
    /// Gives a file a second name.
    Link,
    /// Gives a file another name.
    Rename,
    /// Makes a directory.
    MakeDirectory,
    /// Starts a process, or a thread.
    Start,
    /// Becomes another program.
    Execute,
}

/// What was seen of a server and all that it started, with the file or directory that it was about; the directory in which a
/// name is old where there are two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seen {
    /// The server itself: that it has synced something, or is about to do anything else.
    Server(Call, PathBuf),
    /// Another process: as above.
    Other(Call, PathBuf),
    /// The server is about to write to its client.
    Reply,
    /// The server was killed before this.
    Killed(Box<Seen>),
    /// The system does not allow to watch.
    Refused(String),
}

impl Seen {
    /// What stands for the client's end of the output, where a name is asked for.
    pub const REPLY: &str = "the reply";

    /// The call of the server itself, and the name of what it is about.
    #[must_use]
    pub fn of_server(&self) -> Option<(Call, String)> {
        match self {
            Self::Reply => Some((Call::Write, Self::REPLY.to_owned())),
            Self::Server(call, place) => {
                let name = place.file_name().unwrap_or_default();
                Some((*call, name.to_string_lossy().into_owned()))
            }
            Self::Other(..) | Self::Killed(_) | Self::Refused(_) => None,
        }
    }

    /// Whether it is told when it is done, and not when it begins.
    #[must_use]
    pub fn is_sync(&self) -> bool {
        matches!(
            self,
            Self::Server(Call::Sync, _) | Self::Other(Call::Sync, _)
        )
    }
}

impl Watch {
    /// How a real server is started that is watched. `program` is `system_calls`.
    ///
    /// # Panics
    /// Where a path is not UTF-8, or the real binary does not build.
    #[must_use]
    pub fn setup(&self, program: &Path, flags: &[&str]) -> Setup {
        let text = serde_json::to_string(self).expect("the paths of tests are UTF-8");
        let config = (crate::CONFIG.to_owned(), crate::NO_CONFIG.into());
        Setup {
            program: vec![program.into(), binary().into()],
            environment: vec![(VARIABLE.to_owned(), text.into()), config],
            ..Setup::flags(flags)
        }
    }

    /// What was seen, in its order.
    ///
    /// # Panics
    /// Where there is nothing that can be read.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        let text = fs::read_to_string(&self.log).expect("it was written");
        let lines = text.lines().map(serde_json::from_str);
        let seen = lines.collect::<Result<_, _>>();
        seen.unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The watch in the environment of this process.
    ///
    /// # Errors
    /// Where there is none, or it cannot be read.
    pub fn of_this_process() -> anyhow::Result<Self> {
        let text = std::env::var(VARIABLE)
            .with_context(|| format!("a test starts this program, with {VARIABLE}"))?;
        Ok(serde_json::from_str(&text)?)
    }
}
