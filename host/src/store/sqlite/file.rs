//! The file itself, before SQLite opens it: there, private, and certain to be found again.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::super::OpenError;

/// Readable and writable by the owner alone. SQLite gives its other files the mode of this one.
const MODE: u32 = 0o600;

/// Held while a file is created. Closing any descriptor of a file drops all locks that the process has on
/// it: so nobody in this process may already have the file open when the one that created it is closed.
static CREATING: Mutex<()> = Mutex::new(());

/// Creates the file where there is none, and makes it private whatever the umask is.
pub(super) fn create(path: &Path) -> Result<(), OpenError> {
    let _only_one = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    create_private(path).map_err(|source| OpenError::Create {
        path: path.to_owned(),
        source,
    })
}

fn create_private(path: &Path) -> io::Result<()> {
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(path)
    {
        Ok(file) => {
            drop(file);
            sync_directory(path)?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    // By its name and not by a descriptor, for the reason that `CREATING` gives.
    if fs::metadata(path)?.permissions().mode() & 0o777 != MODE {
        fs::set_permissions(path, Permissions::from_mode(MODE))?;
    }
    Ok(())
}

/// Without this, a power failure can take away the file with all commits that were synchronised to it.
fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}
