//! The data directory: where it is, and that it is ours and private.
//!
//! Knows nothing of what is kept in it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::OFlags;

use crate::environment::{home, variable};
use crate::file;
use crate::store::can_be_store;

/// The variable that names the data directory where no option does.
pub const VARIABLE: &str = "BACKBURNER_DIR";

/// What the platform's directory for state is given for this program.
const NAME: &str = "backburner";

/// Open to the owner alone.
const MODE: u32 = 0o700;

/// A directory that belongs to this user and is closed to all others, open for use.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    dir: Dir,
}

/// Why there is no data directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither an option nor a variable names it, and the user has no home directory.
    #[error(
        "no home directory is known to keep data in: name a directory with --data-dir or {VARIABLE}"
    )]
    NoHome,
    /// It was given relative to the working directory, and that one is gone.
    #[error("cannot tell where {path} is: give an absolute path", path = path.display())]
    NoWorkingDirectory {
        /// What was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It could not be created.
    #[error(
        "cannot create {path}: create it yourself, or choose another data directory with --data-dir",
        path = path.display()
    )]
    Create {
        /// The first directory that could not be created.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It, or what it is said to be in, is a file or something else.
    #[error(
        "{path} is not a directory: choose another data directory with --data-dir or {VARIABLE}",
        path = path.display()
    )]
    NotADirectory {
        /// What is no directory.
        path: PathBuf,
    },
    /// It could not be opened or made private.
    #[error(
        "cannot use {path}: choose another data directory with --data-dir or {VARIABLE}",
        path = path.display()
    )]
    Open {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is open to others and has something else in it: closing it could break what it is for.
    #[error(
        "{path} is in use for something else: choose a new or an empty data directory with --data-dir or \
         {VARIABLE}",
        path = path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// It belongs to another user, who could read and change everything in it.
    #[error(
        "{path} belongs to user {owner} and not to you ({user}): choose another data directory with \
         --data-dir or {VARIABLE}",
        path = path.display()
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The user id of its owner.
        owner: u32,
        /// The user id of this process.
        user: u32,
    },
}

impl DataDir {
    /// Says where the data directory is, as an absolute path: where the caller says, else where the
    /// variable [`VARIABLE`] says, else in the platform's directory for state. Touches no file.
    ///
    /// On macOS that is `~/Library/Application Support/backburner`, elsewhere `$XDG_STATE_HOME/backburner`,
    /// or `~/.local/state/backburner` where the variable is unset or not absolute. The home directory is
    /// `HOME`, or what the system's user database says where that is unset; a relative one is none.
    ///
    /// # Errors
    /// [`Error::NoHome`] and [`Error::NoWorkingDirectory`].
    pub fn resolve(explicit: Option<PathBuf>) -> Result<PathBuf, Error> {
        let chosen = match explicit.or_else(|| variable(VARIABLE).map(PathBuf::from)) {
            Some(chosen) => chosen,
            None => Surroundings::of_this_process().state_directory()?,
        };
        std::path::absolute(&chosen).map_err(|source| Error::NoWorkingDirectory {
            path: chosen,
            source,
        })
    }

    /// Opens the directory, and creates it and its parents where they are missing.
    ///
    /// What is created has mode 0700 whatever the umask is; a directory that was there gets it.
    ///
    /// To be called before this process opens a store in the directory. Where somebody changed the directory's mode
    /// meanwhile, a look at the store's file would take the locks from whoever has it open here: closing any descriptor
    /// of a file does (POSIX, `close`). Any number of other processes may have it open.
    ///
    /// # Errors
    /// [`Error::Create`], [`Error::NotADirectory`], [`Error::Open`], [`Error::InUse`] and [`Error::Foreign`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        create(path)?;
        let unusable = |source| Error::Open {
            path: path.to_owned(),
            source,
        };
        // A link is followed here, once, and not again when the directory is opened.
        let path = fs::canonicalize(path).map_err(unusable)?;
        let before = fs::metadata(&path).map_err(unusable)?;
        check_owner(&path, &before)?;
        if before.permissions().mode() & 0o777 != MODE {
            check_use(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(MODE)).map_err(unusable)?;
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let directory = file::open(&path, flags).map_err(unusable)?;
        // Again, of what is really open: the name could have been given to another one meanwhile.
        check_owner(&path, &directory.metadata().map_err(unusable)?)?;
        Ok(Self {
            path,
            dir: Dir::from_std_file(directory),
        })
    }

    /// The directory's path: absolute, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory itself: no name given to it leads out of it.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }
}

/// What the choice of a directory depends on.
struct Surroundings {
    state_home: Option<OsString>,
    home: Option<PathBuf>,
}

impl Surroundings {
    fn of_this_process() -> Self {
        Self {
            state_home: variable("XDG_STATE_HOME"),
            home: home(),
        }
    }

    fn state_directory(self) -> Result<PathBuf, Error> {
        if cfg!(target_os = "macos") {
            let home = self.home.ok_or(Error::NoHome)?;
            return Ok(home.join("Library/Application Support").join(NAME));
        }
        // The XDG base directory specification: a relative path is to be ignored.
        let state_home = self
            .state_home
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        match state_home {
            Some(state_home) => Ok(state_home.join(NAME)),
            None => Ok(self
                .home
                .ok_or(Error::NoHome)?
                .join(".local/state")
                .join(NAME)),
        }
    }
}

/// Creates a directory and its missing parents.
fn create(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create(parent)?;
    }
    let failed = |source| Error::Create {
        path: path.to_owned(),
        source,
    };
    match DirBuilder::new().mode(MODE).create(path) {
        Ok(()) => make_lasting(path).map_err(failed),
        // Another process created it at the same time, and is responsible for it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(_) if is_something_else(path) => Err(Error::NotADirectory {
            path: path.to_owned(),
        }),
        Err(error) => Err(failed(error)),
    }
}

/// Whether there is something that is no directory; a link that leads nowhere is nothing here.
fn is_something_else(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_dir())
}

/// Gives a new directory the mode that a umask may have reduced, and makes sure that a power failure does not
/// take it away together with everything that will be synchronised in it.
fn make_lasting(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(MODE))?;
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

fn check_owner(path: &Path, metadata: &fs::Metadata) -> Result<(), Error> {
    let user = rustix::process::geteuid().as_raw();
    let owner = metadata.uid();
    if owner == user {
        return Ok(());
    }
    Err(Error::Foreign {
        path: path.to_owned(),
        owner,
        user,
    })
}

/// Refuses to close a directory to others that is somebody's project or home.
fn check_use(path: &Path) -> Result<(), Error> {
    let unusable = |source| Error::Open {
        path: path.to_owned(),
        source,
    };
    // This process has no store open in it, as `DataDir::open` demands.
    let is_ours = can_be_store(&path.join(crate::serve::STORE_FILE)).map_err(unusable)?;
    // A person may write the configuration file before there is anything else: on macOS that is its directory too.
    let is_other = |entry: io::Result<fs::DirEntry>| {
        entry.map_or(true, |entry| entry.file_name() != crate::config::FILE_NAME)
    };
    let is_in_use = fs::read_dir(path).map_err(unusable)?.any(is_other);
    if is_ours || !is_in_use {
        return Ok(());
    }
    Err(Error::InUse {
        path: path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn surroundings(state_home: Option<&str>, home: Option<&str>) -> Surroundings {
        Surroundings {
            state_home: state_home.map(Into::into),
            home: home.map(Into::into),
        }
    }

    fn temporary() -> TempDir {
        TempDir::new().expect("there is a directory for temporary files")
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    }

    fn open(path: &Path) -> DataDir {
        DataDir::open(path).unwrap_or_else(|error| panic!("{error}: {error:?}"))
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn state_is_kept_where_xdg_says() {
        let directory = |state_home, home| {
            surroundings(state_home, home)
                .state_directory()
                .expect("there is a home")
        };
        let of_home = Path::new("/home/a/.local/state/backburner");
        assert_eq!(
            directory(Some("/state"), None),
            Path::new("/state/backburner")
        );
        assert_eq!(directory(Some("state"), Some("/home/a")), of_home);
        assert_eq!(directory(None, Some("/home/a")), of_home);
    }

    #[cfg(target_os = "macos")]
    #[test]
    fn state_is_kept_where_macos_says() {
        let found = surroundings(Some("/state"), Some("/Users/a")).state_directory();
        let expected = Path::new("/Users/a/Library/Application Support/backburner");
        assert_eq!(found.expect("there is a home"), expected);
    }

    #[test]
    fn without_a_home_the_error_says_what_to_set() {
        let error = surroundings(None, None)
            .state_directory()
            .expect_err("there is no home");
        let text = error.to_string();
        assert!(
            text.contains("--data-dir") && text.contains("BACKBURNER_DIR"),
            "{text}"
        );
    }

    #[test]
    fn a_relative_path_is_made_absolute() {
        let working = env::current_dir().expect("a test has a working directory");
        let resolved = DataDir::resolve(Some(PathBuf::from("some/where")));
        assert_eq!(
            resolved.expect("it can be resolved"),
            working.join("some/where")
        );
    }

    #[test]
    fn missing_directories_are_created_private() {
        let temporary = temporary();
        let path = temporary.path().join("a/b/c");
        let data_dir = open(&path);
        for name in ["a", "a/b", "a/b/c"] {
            assert_eq!(mode(&temporary.path().join(name)), 0o700, "{name}");
        }
        data_dir
            .dir()
            .write("file", "text")
            .expect("it can be written to");
        assert_eq!(fs::read(path.join("file")).expect("it is there"), b"text");
    }

    #[test]
    fn the_mode_of_an_existing_directory_is_corrected() {
        let temporary = temporary();
        for wrong in [0o777, 0o755, 0o000] {
            fs::set_permissions(temporary.path(), Permissions::from_mode(wrong))
                .expect("it is ours");
            open(temporary.path());
            assert_eq!(mode(temporary.path()), 0o700, "{wrong:o}");
        }
    }

    #[test]
    fn a_link_is_followed_to_the_true_path() {
        let temporary = temporary();
        let link = temporary.path().join("link");
        fs::create_dir(temporary.path().join("true")).expect("it can be created");
        symlink("true", &link).expect("it can be created");
        let true_path = fs::canonicalize(temporary.path())
            .expect("it is there")
            .join("true");
        assert_eq!(open(&link).path(), true_path);
    }

    #[test]
    fn nothing_leads_out_of_the_directory() {
        let temporary = temporary();
        fs::write(temporary.path().join("outside"), "").expect("it can be written");
        let data_dir = open(&temporary.path().join("data"));
        data_dir
            .dir()
            .open("../outside")
            .expect_err("the directory is left");
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let temporary = temporary();
        let file = temporary.path().join("file");
        fs::write(&file, "").expect("it can be written");
        for path in [file.clone(), file.join("below"), file.join("far/below")] {
            let error = DataDir::open(&path).expect_err("a file is in the way");
            let text = error.to_string();
            assert!(text.contains("/file is not a directory"), "{text}");
        }
    }

    #[test]
    fn the_directory_of_another_user_is_refused() {
        // A metadata of somebody else's: root's, or, where the tests run as root, one given away.
        let temporary = temporary();
        let path = if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(temporary.path(), Some(12345), None)
                .expect("root may do this");
            temporary.path()
        } else {
            Path::new("/")
        };
        let error = DataDir::open(path).expect_err("it is not ours");
        assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
    }

    #[test]
    fn a_directory_of_somebodys_is_not_closed_to_others() {
        for name in ["index.html", crate::serve::STORE_FILE] {
            let place = tempfile::tempdir().expect("there is room");
            fs::write(place.path().join(name), "no database").expect("there is room");
            let open = Permissions::from_mode(0o755);
            fs::set_permissions(place.path(), open).expect("it is ours");
            let refused = DataDir::open(place.path()).expect_err("it is in use");
            assert!(matches!(refused, Error::InUse { .. }), "{name}: {refused}");
            assert_eq!(mode(place.path()), 0o755, "{name}");
        }
    }

    #[test]
    fn a_directory_with_a_configuration_file_alone_becomes_a_data_directory() {
        let place = temporary();
        let file = place.path().join(crate::config::FILE_NAME);
        fs::write(file, "").expect("there is room");
        let wrong = Permissions::from_mode(0o755);
        fs::set_permissions(place.path(), wrong).expect("it is ours");
        open(place.path());
        assert_eq!(mode(place.path()), 0o700);
    }

    #[test]
    fn what_is_no_file_is_no_store_of_ours() {
        type Make = fn(&Path);
        let kinds: [(&str, Make); 3] = [
            ("fifo", |path| {
                let mode = rustix::fs::Mode::RUSR;
                rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).expect("it is ours");
            }),
            ("directory", |path| {
                fs::create_dir(path).expect("it is ours");
            }),
            ("link", |path| {
                symlink("/dev/null", path).expect("it is ours");
            }),
        ];
        for (kind, make) in kinds {
            let place = temporary();
            make(&place.path().join(crate::serve::STORE_FILE));
            let wrong = Permissions::from_mode(0o755);
            fs::set_permissions(place.path(), wrong).expect("it is ours");
            let refused = DataDir::open(place.path()).expect_err("it is in use");
            assert!(matches!(refused, Error::InUse { .. }), "{kind}: {refused}");
        }
    }

    #[test]
    fn a_data_directory_that_was_opened_to_others_is_closed_again() {
        for begin in ["", "SQLite format 3\0 and more"] {
            let place = tempfile::tempdir().expect("there is room");
            fs::write(place.path().join(crate::serve::STORE_FILE), begin).expect("there is room");
            let wrong = Permissions::from_mode(0o755);
            fs::set_permissions(place.path(), wrong).expect("it is ours");
            open(place.path());
            assert_eq!(mode(place.path()), 0o700, "{begin:?}");
        }
    }
}
