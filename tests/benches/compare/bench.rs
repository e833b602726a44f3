//! The two servers, and where they live while they are measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::peer::Peer;
use crate::settings::Settings;

/// Which of the two.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    /// Ours.
    Backburner,
    /// What we compare with.
    Rmcp,
}

/// Both of them, in the order of their turns.
pub(crate) const SIDES: [Side; 2] = [Side::Backburner, Side::Rmcp];

/// One value for each side.
#[derive(Default)]
pub(crate) struct Both<T> {
    /// Of backburner.
    pub(crate) backburner: T,
    /// Of the rmcp server.
    pub(crate) rmcp: T,
}

impl<T> Both<T> {
    /// The value of one side.
    pub(crate) fn of(&mut self, side: Side) -> &mut T {
        match side {
            Side::Backburner => &mut self.backburner,
            Side::Rmcp => &mut self.rmcp,
        }
    }
}

/// Where everything is, and how much to measure.
pub(crate) struct Bench {
    /// How much to measure.
    pub(crate) settings: Settings,
    room: tempfile::TempDir,
}

impl Bench {
    /// Builds the real binary and makes a directory for data.
    ///
    /// # Errors
    /// Where the directory cannot be made.
    pub(crate) fn new(settings: Settings) -> anyhow::Result<Self> {
        let _built = backburner_tests::binary();
        // Cargo's own directory and not the system's temporary one: that may be memory, where nothing is
        // ever written to a disk and a power-safe commit costs nothing.
        let room = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .context("no directory for the data of the benchmark")?;
        Ok(Self { settings, room })
    }

    /// A directory that goes when the benchmark ends.
    pub(crate) fn room(&self) -> &Path {
        self.room.path()
    }

    /// A new empty data directory.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub(crate) fn fresh_data_dir(&self) -> anyhow::Result<PathBuf> {
        Ok(tempfile::tempdir_in(self.room())?.keep())
    }

    /// Starts one of the servers. The one of rmcp keeps nothing and gets the same directory for nothing.
    ///
    /// # Errors
    /// Where it does not start.
    pub(crate) fn start(&self, side: Side, data_dir: &Path) -> anyhow::Result<Peer> {
        let mut command = match side {
            Side::Backburner => {
                let mut command = backburner_tests::program();
                command
                    .arg("--data-dir")
                    .arg(data_dir)
                    .args(["serve", "--direct-limit", "0"]);
                command
            }
            Side::Rmcp => Command::new(env!("CARGO_BIN_EXE_rmcp_server")),
        };
        Peer::start(&mut command)
    }
}
