//! From a spec to a running command.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Pid;
use uuid::Uuid;

use super::super::model::{self, Spec};
use super::super::native::{self, Leads};
use super::super::spec;
use super::TASK_VARIABLE;
use super::feed::Feed;
use super::streams::Streams;
use super::terminal::Terminal;

/// A command that has been executed, and our ends of its pipes, none of which ever blocks.
pub(super) struct Spawned {
    /// Its process, which is the leader of a group of its own.
    pub(super) pid: Pid,
    /// What it is given to read.
    pub(super) feed: Feed,
    /// What it writes.
    pub(super) streams: Streams,
    /// Its terminal; `None` where it has none.
    pub(super) terminal: Option<Terminal>,
}

/// What connects a command with its supervisor, made before there is a command that runs.
struct Connection {
    feed: Feed,
    streams: Streams,
    terminal: Option<Terminal>,
    /// The command's standard input, output and error.
    ends: [Stdio; 3],
}

/// Executes the command of a job.
///
/// # Errors
/// In words that may be shown to who asked for the job.
pub(super) fn spawn(id: Uuid, mut spec: Spec) -> Result<Spawned, String> {
    let stdin = std::mem::take(&mut spec.stdin);
    let connection = if spec.interactive {
        by_terminal(stdin).map_err(|error| format!("the command can have no terminal: {error}"))?
    } else {
        by_pipes(stdin).map_err(|error| format!("the command's pipes cannot be used: {error}"))?
    };
    let [input, output, errors] = connection.ends;
    let words = words(&spec);
    let directory = spec.directory.as_deref().unwrap_or("/");
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .current_dir(directory)
        .envs(path_to_this_program().map(|path| (PATH, path)));
    if spec.interactive {
        // What it inherits is of the server's terminal, if anything.
        command.env("TERM", PLAIN_TERMINAL).env_remove("GPG_TTY");
    }
    command
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        // Last: a job that named itself otherwise would not be found when its supervisor is lost.
        .env(TASK_VARIABLE, id.to_string())
        .stdin(input)
        .stdout(output)
        .stderr(errors);
    let leads = match &connection.terminal {
        None => Leads::Group,
        Some(_) => Leads::Session,
    };
    native::prepare_child(&mut command, rustix::process::getpid(), leads);
    let child = command
        .spawn()
        .map_err(|error| explain(&error, &words[0], directory))?;
    let raw = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    Ok(Spawned {
        pid: raw.expect("the kernel gives out positive process ids"),
        feed: connection.feed,
        streams: connection.streams,
        terminal: connection.terminal,
    })
}

/// What a terminal is called that the job has not named: one whose programs leave out colours and do not move the
/// cursor, since what they write is read as text.
const PLAIN_TERMINAL: &str = "dumb";

fn by_pipes(stdin: String) -> io::Result<Connection> {
    let (streams, ends) = Streams::open()?;
    let (pipe, input) = feeding(&stdin)?;
    Ok(Connection {
        feed: Feed::new(pipe, stdin),
        streams,
        terminal: None,
        ends: [input, ends.stdout.into(), ends.stderr.into()],
    })
}

fn by_terminal(stdin: String) -> io::Result<Connection> {
    let terminal = Terminal::open()?;
    let end = || terminal.command_end().map(Stdio::from);
    Ok(Connection {
        feed: Feed::typing(terminal.own_end()?, stdin),
        streams: Streams::of_terminal(terminal.own_end()?),
        ends: [end()?, end()?, end()?],
        terminal: Some(terminal),
    })
}

/// The variable with the directories in which programs are looked for.
const PATH: &str = "PATH";

/// The search path that a job inherits, with this program, as what asks or reports calls it by its name; `None` where
/// it already is in the one that there is, and where there is none: a shell has a path of its own then.
fn path_to_this_program() -> Option<OsString> {
    let own = std::env::current_exe().ok()?;
    let (directory, name) = (own.parent()?, own.file_name()?);
    let mut places: Vec<PathBuf> = std::env::split_paths(&std::env::var_os(PATH)?).collect();
    if places.iter().any(|place| place.join(name).is_file()) {
        return None;
    }
    // Last: it hides no other program.
    places.push(directory.to_owned());
    std::env::join_paths(places).ok()
}

/// Our end of a pipe for the job's input, which does not block, and what the job reads. All that may fail is done
/// before there is a command that runs.
fn feeding(stdin: &str) -> io::Result<(Option<OwnedFd>, Stdio)> {
    if stdin.is_empty() {
        return Ok((None, Stdio::null()));
    }
    let (theirs, ours) = io::pipe()?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((Some(ours.into()), theirs.into()))
}

/// The program and its arguments.
fn words(spec: &Spec) -> Vec<OsString> {
    match &spec.command {
        model::Command::Program(words) => words.iter().map(OsString::from).collect(),
        model::Command::Shell(line) => {
            let shell = shell(&search_path(spec), &USUAL_PLACES).into_os_string();
            // The two dashes: a line that begins with one is a line and no option.
            vec![shell, "-c".into(), "--".into(), line.into()]
        }
    }
}

/// Where the job's programs are looked for.
fn search_path(spec: &Spec) -> OsString {
    let own = spec
        .environment
        .iter()
        .rev()
        .find(|(name, _)| name == "PATH");
    own.map(|(_, value)| value.into())
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_default()
}

/// Where bash is looked for where the search path has none.
const USUAL_PLACES: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// bash where there is one, since that is what people and models write, else the system's own shell.
fn shell(search_path: &OsString, usual_places: &[&str]) -> PathBuf {
    let named = std::env::split_paths(search_path).filter(|place| place.is_absolute());
    let usual = usual_places.iter().map(PathBuf::from);
    let mut places = named.chain(usual).map(|place| place.join("bash"));
    places
        .find(|file| is_executable(file))
        .unwrap_or_else(|| "/bin/sh".into())
}

fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Why a command could not be executed, and what to do.
fn explain(error: &io::Error, program: &OsString, directory: &str) -> String {
    let name = program.to_string_lossy();
    let directory = Path::new(directory);
    // It could be entered when the job was asked for, and the error does not say which of the two it is about.
    if let Err(changed) = spec::enterable(directory) {
        return changed.to_string();
    }
    // One that is looked up on the PATH is none of these files.
    let file = name.contains('/').then(|| directory.join(program));
    match error.kind() {
        ErrorKind::NotFound if file.as_ref().is_some_and(|file| file.exists()) => {
            format!("the interpreter that {name} names in its first line does not exist")
        }
        ErrorKind::NotFound if name.contains(char::is_whitespace) => format!(
            "there is no program `{name}`; a shell line is given alone, without a list of arguments"
        ),
        ErrorKind::NotFound if file.is_some() => format!("there is no file {name}"),
        ErrorKind::PermissionDenied if file.as_ref().is_some_and(|file| file.is_dir()) => {
            format!("{name} is a directory; name a program")
        }
        ErrorKind::NotFound => {
            format!("there is no program {name} on the PATH; install it or give its full path")
        }
        ErrorKind::PermissionDenied => {
            format!("{name} may not be executed; make it executable or name another program")
        }
        ErrorKind::ArgumentListTooLong => {
            format!("the arguments and variables of {name} are too long; pass them on stdin")
        }
        _ => format!("{name} cannot be executed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A directory with a file of this name and mode, which goes with the test.
    fn place_with(name: &str, mode: u32) -> tempfile::TempDir {
        let place = tempfile::tempdir().expect("there is room");
        let file = place.path().join(name);
        std::fs::write(&file, "").expect("there is room");
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&file, mode).expect("it is ours");
        place
    }

    /// A search path of these directories.
    fn path_of(places: &[&tempfile::TempDir]) -> OsString {
        let places = places.iter().map(|place| place.path());
        std::env::join_paths(places).expect("no name has a colon")
    }

    #[test]
    fn the_first_bash_of_the_path_is_the_shell() {
        let without = place_with("sh", 0o755);
        let [first, second] = [0o755, 0o755].map(|mode| place_with("bash", mode));
        let path = path_of(&[&without, &first, &second]);
        assert_eq!(shell(&path, &[]), first.path().join("bash"));
    }

    #[test]
    fn a_bash_that_may_not_be_executed_or_is_a_directory_is_none() {
        let not_executable = place_with("bash", 0o644);
        let directory = tempfile::tempdir().expect("there is room");
        std::fs::create_dir(directory.path().join("bash")).expect("there is room");
        let path = path_of(&[&not_executable, &directory]);
        assert_eq!(shell(&path, &[]), Path::new("/bin/sh"));
    }

    #[test]
    fn a_bash_that_the_path_does_not_have_is_found_in_a_usual_place() {
        let usual = place_with("bash", 0o755);
        let place = usual.path().to_str().expect("temporary names are UTF-8");
        for path in ["", "relative:also/relative", "/does/not/exist"] {
            let found = shell(&path.into(), &["/does/not/exist", place]);
            assert_eq!(found, usual.path().join("bash"), "{path:?}");
        }
    }

    #[test]
    fn where_there_is_no_bash_the_shell_is_that_of_the_system() {
        for path in ["", "relative:also/relative", "/does/not/exist"] {
            assert_eq!(shell(&path.into(), &[]), Path::new("/bin/sh"), "{path:?}");
        }
        assert!(is_executable(Path::new("/bin/sh")), "every system has it");
    }

    #[test]
    fn what_cannot_be_executed_is_named() {
        let cases = [
            (
                ErrorKind::NotFound,
                "no-such-program",
                "/",
                "no program no-such-program",
            ),
            (
                ErrorKind::NotFound,
                "/no/such/file",
                "/",
                "no file /no/such/file",
            ),
            (ErrorKind::NotFound, "/etc/passwd", "/", "interpreter"),
            (
                ErrorKind::NotFound,
                "echo hi",
                "/",
                "a shell line is given alone",
            ),
            (ErrorKind::PermissionDenied, "/", "/", "/ is a directory"),
            (
                ErrorKind::PermissionDenied,
                "/etc/passwd",
                "/",
                "/etc/passwd may not",
            ),
            (
                ErrorKind::NotFound,
                "ls",
                "/no/such/place",
                "directory /no/such/place",
            ),
            (ErrorKind::NotFound, "./passwd", "/etc", "interpreter"),
            (ErrorKind::NotFound, "src/lib.rs", "/", "no file src/lib.rs"),
            (
                ErrorKind::PermissionDenied,
                "usr/bin",
                "/",
                "usr/bin is a directory",
            ),
            (
                ErrorKind::PermissionDenied,
                "src",
                "/",
                "src may not be executed",
            ),
            (
                ErrorKind::PermissionDenied,
                "ls",
                "/proc/self/mem",
                "/proc/self/mem is not a directory",
            ),
        ];
        for (kind, program, directory, wanted) in cases {
            let words = explain(&kind.into(), &program.into(), directory);
            assert!(words.contains(wanted), "{words}");
        }
    }
}
