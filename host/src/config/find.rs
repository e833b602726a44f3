//! Which file is the configuration: the first one that is there, and no other.
//!
//! Knows directories and whose they are. Reads no file.

use std::env;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::Error;
use crate::environment::{home, variable};

/// The variable that names the file where no option does.
pub const VARIABLE: &str = "BACKBURNER_CONFIG";

/// What the file is called, wherever it is looked for.
pub(crate) const FILE_NAME: &str = "backburner.toml";

/// What stands for no file, where a person wants none to be looked for.
pub(crate) const NO_FILE: &str = "/dev/null";

/// What the platform's directory for configuration is given for this program.
const PROGRAM: &str = "backburner";

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The file; `None` where there is none.
    pub file: Option<PathBuf>,
    /// What was looked for before, in order, and is not there.
    pub missing: Vec<PathBuf>,
    /// What is there and not used, since it or its directory belongs to somebody else, who could have us run anything.
    pub foreign: Vec<PathBuf>,
    /// What is there under the file's name and is none, such as a directory.
    pub not_files: Vec<PathBuf>,
}

/// Finds the file: the one that the caller names, else the one that the variable [`VARIABLE`] names, else the nearest
/// `backburner.toml` of the current directory and its parents, else the one in the user's directory for configuration.
///
/// The parents end with the first one that has a `.git`, is the home directory, or belongs to another user; what is in
/// that last one is not used. A file that is named has to be there, which is seen when it is read; the name `/dev/null`
/// stands for no file.
///
/// # Errors
/// [`Error::NoWorkingDirectory`].
pub fn find(explicit: Option<&Path>) -> Result<Found, Error> {
    Surroundings::of_this_process().find(explicit)
}

/// What the choice of a file depends on.
struct Surroundings {
    variable: Option<OsString>,
    working: Option<PathBuf>,
    home: Option<PathBuf>,
    config_home: Option<OsString>,
    user: u32,
}

impl Surroundings {
    fn of_this_process() -> Self {
        Self {
            variable: variable(VARIABLE),
            // Where it is gone there is nothing in it.
            working: env::current_dir().ok(),
            home: home(),
            config_home: variable("XDG_CONFIG_HOME"),
            user: rustix::process::geteuid().as_raw(),
        }
    }

    fn find(&self, explicit: Option<&Path>) -> Result<Found, Error> {
        let named = explicit.or(self.variable.as_deref().map(Path::new));
        if let Some(named) = named {
            let file = (named != Path::new(NO_FILE)).then(|| absolute(named));
            return Ok(Found {
                file: file.transpose()?,
                ..Found::default()
            });
        }
        let mut found = Found::default();
        self.look_in_project(&mut found);
        if found.file.is_none()
            && let Some(directory) = self.config_directory()
        {
            self.look_in(&directory, &mut found);
        }
        Ok(found)
    }

    /// Looks in the current directory and above it.
    fn look_in_project(&self, found: &mut Found) {
        for directory in self.working.iter().flat_map(|working| working.ancestors()) {
            let is_ours = fs::metadata(directory).is_ok_and(|it| it.uid() == self.user);
            if !is_ours {
                // Not used, but said: a rule in it that somebody relies on does not hold.
                let file = directory.join(FILE_NAME);
                if fs::symlink_metadata(&file).is_ok() {
                    found.foreign.push(file);
                }
                return;
            }
            self.look_in(directory, found);
            if found.file.is_some() || is_top(directory) || self.is_home(directory) {
                return;
            }
        }
    }

    fn look_in(&self, directory: &Path, found: &mut Found) {
        let file = directory.join(FILE_NAME);
        match self.kind(&file) {
            Kind::Ours => found.file = Some(file),
            Kind::Missing => found.missing.push(file),
            Kind::Foreign => found.foreign.push(file),
            Kind::NotAFile => found.not_files.push(file),
        }
    }

    /// What is there under this name. A link counts as what it leads to; where that is nothing, it is ours to be
    /// complained of.
    fn kind(&self, file: &Path) -> Kind {
        let Ok(entry) = fs::symlink_metadata(file) else {
            return Kind::Missing;
        };
        match fs::metadata(file) {
            Ok(target) if !target.is_file() => Kind::NotAFile,
            Ok(target) if !self.trusts(&target) || !self.trusts(&entry) => Kind::Foreign,
            Err(_) if !self.trusts(&entry) => Kind::Foreign,
            Ok(_) | Err(_) => Kind::Ours,
        }
    }

    /// Who may have us run anything: the user, and who may do so anyway.
    fn trusts(&self, found: &Metadata) -> bool {
        found.uid() == self.user || found.uid() == 0
    }

    fn is_home(&self, directory: &Path) -> bool {
        let identity = |path: &Path| Some(fs::metadata(path).ok()?).map(|it| (it.dev(), it.ino()));
        let home = self.home.as_deref().and_then(identity);
        home.is_some() && home == identity(directory)
    }

    /// The user's directory for the configuration of this program.
    fn config_directory(&self) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            let home = self.home.as_ref()?;
            return Some(home.join("Library/Application Support").join(PROGRAM));
        }
        // The XDG base directory specification: a relative path is to be ignored.
        let config_home = self.config_home.as_ref().map(PathBuf::from);
        match config_home.filter(|path| path.is_absolute()) {
            Some(config_home) => Some(config_home.join(PROGRAM)),
            None => Some(self.home.as_ref()?.join(".config").join(PROGRAM)),
        }
    }
}

enum Kind {
    Missing,
    Ours,
    Foreign,
    NotAFile,
}

/// Whether a directory is the top of a project.
fn is_top(directory: &Path) -> bool {
    fs::symlink_metadata(directory.join(".git")).is_ok()
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    let no_directory = |cause: io::Error| Error::NoWorkingDirectory {
        path: path.to_owned(),
        cause,
    };
    std::path::absolute(path).map_err(no_directory)
}

#[cfg(test)]
mod tests;
