//! Taking up a configuration file's changes while a server runs.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use super::watch::Watch;
use super::{Loaded, Source};
use crate::engine::{Pool, PoolError};
use crate::limits::CONFIG_SETTLED;
use crate::log;

/// Starts a thread that configures the pool anew whenever the file has changed, for as long as the process lives. Does
/// nothing where there is no file.
///
/// What cannot be used is told on standard error, and what was read before goes on to hold.
///
/// # Errors
/// Where the system refuses the thread.
pub(crate) fn follow(pool: Arc<Pool>, loaded: Loaded) -> io::Result<()> {
    let Some(file) = loaded.source.file.clone() else {
        return Ok(());
    };
    let mut follower = Follower::new(loaded);
    let thread = thread::Builder::new().name("configuration".into());
    let started = thread.spawn(move || {
        loop {
            // First the watch and then the look: what changes after the look is noticed.
            let mut watch = Watch::start(&file);
            if let Some(complaint) = follower.complaint(&file, &watch) {
                log::warn(format_args!("{complaint}"));
            }
            if let Some(news) = follower.look(&file, |json| pool.configure(json)) {
                log::warn(format_args!("{}", news.words(&file)));
            }
            watch.changed();
        }
    });
    started.map(|_detached| ())
}

/// What is known of a file that is followed.
struct Follower {
    source: Source,
    /// What there was at the last look.
    seen: Sight,
    /// Whether it has been said that the system does not tell of changes. Once is enough: that lasts, and there is a
    /// watch for each change.
    has_complained: bool,
}

/// What a look finds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sight {
    /// The file's text.
    Text(String),
    /// Why there is none.
    Nothing(String),
}

/// What there is to be said after a look.
#[derive(Debug, PartialEq, Eq)]
enum News {
    /// The file holds as it is now.
    Holds,
    /// It does not, for this reason; what held before goes on to hold.
    Unusable(String),
}

impl Follower {
    fn new(loaded: Loaded) -> Self {
        Self {
            source: loaded.source,
            seen: Sight::Text(loaded.text),
            has_complained: false,
        }
    }

    /// What is to be said of a watch; `None` where it is as it should be, or that has been said.
    fn complaint(&mut self, file: &Path, watch: &Watch) -> Option<String> {
        let refusal = watch.refusal().filter(|_| !self.has_complained)?;
        self.has_complained = true;
        Some(format!(
            "{}: is looked at once a second, since the system does not tell of its changes: {refusal}",
            file.display()
        ))
    }

    /// Looks at the file, and configures with what is new in it. The same thing twice is told of once.
    fn look(
        &mut self,
        file: &Path,
        configure: impl FnOnce(&str) -> Result<(), PoolError>,
    ) -> Option<News> {
        self.seen = self.something_new(file)?;
        Some(match self.take_up(file, configure) {
            Ok(()) => News::Holds,
            Err(reason) => News::Unusable(reason),
        })
    }

    /// What there is now, where it is not what was seen last, and is the same a moment later: what is just being
    /// written may look like a shorter file that is right.
    fn something_new(&self, file: &Path) -> Option<Sight> {
        let mut before = Sight::of(file);
        while before != self.seen {
            thread::sleep(CONFIG_SETTLED);
            let now = Sight::of(file);
            if now == before {
                return Some(now);
            }
            before = now;
        }
        None
    }

    /// Configures with what was seen.
    fn take_up(
        &self,
        file: &Path,
        configure: impl FnOnce(&str) -> Result<(), PoolError>,
    ) -> Result<(), String> {
        let text = match &self.seen {
            Sight::Text(text) => text,
            Sight::Nothing(reason) => return Err(reason.clone()),
        };
        if text.trim().is_empty() {
            return Err(format!("{}: {EMPTY}", file.display()));
        }
        let json = self.source.json(text).map_err(|error| error.to_string())?;
        configure(&json).map_err(|error| match error {
            PoolError::Config(refused) => self.source.explain(text, refused).to_string(),
            other => other.to_string(),
        })
    }
}

/// Why an empty file does not count: it is likely one that is about to be written, or was cut off by a full disk.
const EMPTY: &str =
    "is empty, which counts as a mistake: write a comment if nothing is to be configured";

impl Sight {
    fn of(file: &Path) -> Self {
        match super::file::read(file) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Nothing(error.to_string()),
        }
    }
}

impl News {
    /// For the person who runs this.
    fn words(&self, file: &Path) -> String {
        match self {
            Self::Holds => format!("{}: was read anew, and holds from now on", file.display()),
            Self::Unusable(reason) => format!("{reason}; what held before goes on to hold"),
        }
    }
}

#[cfg(test)]
mod tests;
