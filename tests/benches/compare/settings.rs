//! How much is measured.

use anyhow::bail;

/// What was asked for on the command line.
pub(crate) struct Settings {
    /// How often each measurement is repeated, both servers by turns.
    pub(crate) rounds: usize,
    /// How many starts of each server a round has.
    pub(crate) starts: usize,
    /// How many `tasks/get` a round has at depth 32; at depth 1 it has a fifth of them.
    pub(crate) gets: usize,
    /// How many tasks a round creates one after the other.
    pub(crate) creates: usize,
    /// How many jobs a round runs at once. 500 is what the budget speaks of.
    pub(crate) jobs: usize,
    parts: Vec<String>,
}

impl Settings {
    /// Reads the arguments. `cargo bench` adds `--bench` of its own accord; without it, as by `cargo test`, it is seen that
    /// everything can be measured, and no figure is worth anything.
    ///
    /// # Errors
    /// On an option that does not exist.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut settings = Self {
            rounds: 7,
            starts: 20,
            gets: 50_000,
            creates: 50,
            jobs: 500,
            parts: Vec::new(),
        };
        let mut is_bench = false;
        let mut unknown = Vec::new();
        for argument in arguments {
            match argument.as_str() {
                "--bench" => is_bench = true,
                "--quick" => settings.shorten(),
                option if option.starts_with('-') => unknown.push(option.to_owned()),
                part => settings.parts.push(part.to_owned()),
            }
        }
        if is_bench && let Some(option) = unknown.first() {
            bail!("there is no option {option}; there is --quick")
        }
        if !is_bench {
            // What is there belongs to tests: their names and options.
            settings.parts.clear();
            settings.rounds = 1;
            settings.starts = 1;
            settings.gets = 50;
            settings.creates = 2;
            settings.jobs = 5;
        }
        Ok(settings)
    }

    /// Whether this part is to be measured: all are where none is named.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|wanted| wanted == part)
    }

    fn shorten(&mut self) {
        self.rounds = 3;
        self.starts = 10;
        self.gets = 5_000;
        self.creates = 10;
        self.jobs = 100;
    }
}
