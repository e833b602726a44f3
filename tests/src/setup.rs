//! How the real binary is started.

use std::process::Command;

use crate::test_dir::TestDir;

/// How a server is started, where it is not as usual.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Flags of `backburner serve`.
    pub flags: Vec<String>,
    /// Variables beside those of the test.
    pub environment: Vec<(String, String)>,
}

impl Setup {
    /// Starts with these flags of `backburner serve`.
    #[must_use]
    pub fn flags(flags: &[&str]) -> Self {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Self {
            flags,
            ..Self::default()
        }
    }

    /// The process, with the data directory of `dir`, before its streams are set.
    #[must_use]
    pub fn command(&self, dir: &TestDir) -> Command {
        let mut command = Command::new(crate::binary());
        command
            .arg("--data-dir")
            .arg(dir.data())
            .arg("serve")
            .args(&self.flags)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(dir.path());
        command
    }
}
