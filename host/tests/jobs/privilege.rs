//! What only some users may do, so that a test that needs it may have to be left out. Shared with the tests of the
//! whole.
//!
//! That is said past the captured output, and is no failure, since a CI may run in a container that may not mount
//! anything, also as root. What fails for another reason is one where nothing is to be left out.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The variable that makes what is missing a failure. CI sets it.
const ALL_HOSTS: &str = "BACKBURNER_ALL_HOSTS";

/// What programs say that were not allowed to do something.
const REFUSALS: [&str; 5] = [
    "permission denied",
    "not permitted",
    "superuser",
    "only root",
    "read-only",
];

/// What `unshare` says beside that: the system has no space left for one more namespace where it is set to none, and an
/// old kernel does not know an argument yet, or an old `unshare` not the clocks. Another program that says so was used
/// wrongly.
const NO_NAMESPACE: [&str; 3] = [
    "no space left",
    "invalid argument",
    "unrecognized option '--time",
];

/// Whether a program did what only some users may do. Where it did not, this says what is not run.
///
/// # Panics
/// Where it failed, was not refused, and nothing is to be left out.
pub(crate) fn is_done(what: &str, done: io::Result<Output>) -> bool {
    let Some(lack) = lack(done) else {
        return true;
    };
    let may_be_left_out = lack.is_refusal || std::env::var_os(ALL_HOSTS).is_none_or(|it| it != "1");
    assert!(may_be_left_out, "{what} cannot be tested: {}", lack.words);
    // Nothing can be done where even this cannot be written.
    let _ = writeln!(io::stderr(), "NOT RUN: {what}, since {}", lack.words);
    false
}

/// Why a program did not do what it was to do.
struct Lack {
    words: String,
    /// Whether this user may not have it done.
    is_refusal: bool,
}

fn lack(done: io::Result<Output>) -> Option<Lack> {
    let words = match done {
        Ok(done) if done.status.success() => return None,
        Ok(done) => String::from_utf8_lossy(&done.stderr).trim().to_owned(),
        Err(error) => format!("a program for it cannot be started: {error}"),
    };
    let lower = words.to_lowercase();
    let has = |refusals: &[&str]| refusals.iter().any(|refusal| lower.contains(refusal));
    let is_refusal = has(&REFUSALS) || lower.starts_with("unshare:") && has(&NO_NAMESPACE);
    Some(Lack { words, is_refusal })
}

/// A disk of its own, in memory, which goes with this.
pub(crate) struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    /// Mounts one of this size, as `mount` takes it, on a directory; `None` where this user may not.
    pub(crate) fn mount(path: &Path, size: &str) -> Option<Self> {
        let mounted = Command::new("mount")
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={size},mode=700"),
                "tmpfs",
            ])
            .arg(path)
            // Else its words may be those of another language.
            .env("LC_ALL", "C")
            .output();
        is_done("a full disk", mounted).then(|| Self {
            path: path.to_owned(),
        })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, since a supervisor that is about to go may still be in it. Nothing can be done where it fails.
        let _unmounted = Command::new("umount")
            .arg("--lazy")
            .arg(&self.path)
            .status();
    }
}

#[test]
fn only_what_was_refused_may_be_left_out_everywhere() {
    let told = |line: &str| lack(Command::new("sh").args(["-c", line]).output());
    assert!(told("exit 0").is_none());
    for refusal in [
        "mount: /proc: permission denied.",
        "unshare: unshare failed: Operation not permitted",
        "mount: /mnt: must be superuser to use mount.",
        "mount: only root can do that",
        "mount: /mnt: cannot mount tmpfs read-only.",
        "unshare: cannot open /proc/self/uid_map: Read-only file system",
        "unshare: unshare failed: No space left on device",
        "unshare: unshare failed: Invalid argument",
        "unshare: unrecognized option '--time'",
    ] {
        let lack = told(&format!("echo \"{refusal}\" >&2; exit 32")).expect("it failed");
        assert!(lack.is_refusal && lack.words == refusal, "{}", lack.words);
    }
    for fault in [
        "mount: /mnt: unknown filesystem type",
        "sh: 1: unshare: not found",
        "mount: /mnt: mount point does not exist.",
        "mount: /mnt: invalid argument",
        "unshare: unrecognized option '--tim'",
        "dd: error writing 'x': No space left on device",
    ] {
        let broken = told(&format!("echo \"{fault}\" >&2; exit 32")).expect("it failed");
        assert!(!broken.is_refusal, "{fault}");
    }
    let missing = lack(Command::new("backburner-no-such-program").output());
    assert!(missing.is_some_and(|lack| !lack.is_refusal));
}
