//! What is wrong with a spec, found before anything of the job exists.

use std::path::{Path, PathBuf};

use rustix::fs::Access;
use rustix::io::Errno;

use super::limits::SPEC_BYTES;
use super::model::{Command, Spec, StartError};

/// Makes a spec the whole truth: the working directory of this process where it names none.
///
/// # Errors
/// [`StartError::BadSpec`] or one of the errors about the directory.
pub(crate) fn complete(spec: &Spec) -> Result<Spec, StartError> {
    check_command(&spec.command)?;
    for (name, value) in &spec.environment {
        check_variable(name, value)?;
    }
    let directory = match &spec.directory {
        Some(path) => absolute(path)?,
        None => std::env::current_dir().map_err(|_gone| {
            StartError::BadSpec("the server's working directory is gone; name a directory".into())
        })?,
    };
    enterable(&directory)?;
    let directory = directory.into_os_string().into_string().map_err(|_other| {
        StartError::BadSpec("the server's working directory is not UTF-8; name a directory".into())
    })?;
    Ok(Spec {
        directory: Some(directory),
        ..spec.clone()
    })
}

/// Refuses a spec whose record is too long to be read again.
///
/// # Errors
/// [`StartError::BadSpec`].
pub(crate) fn check_record(record: &[u8]) -> Result<(), StartError> {
    if record.len() <= SPEC_BYTES {
        return Ok(());
    }
    bad(&format!(
        "the command with its variables and its input takes {} bytes and may take {SPEC_BYTES}; write long input to a file",
        record.len()
    ))
}

fn check_command(command: &Command) -> Result<(), StartError> {
    let words = match command {
        Command::Shell(line) => std::slice::from_ref(line),
        Command::Program(words) => words.as_slice(),
    };
    if words.iter().any(|word| word.contains('\0')) {
        return bad("a command cannot contain a NUL character; remove it");
    }
    if matches!(command, Command::Program(_)) && words.first().is_none_or(String::is_empty) {
        return bad("the name of the program is missing");
    }
    Ok(())
}

fn check_variable(name: &str, value: &str) -> Result<(), StartError> {
    if name.is_empty() || name.contains('=') || name.contains('\0') {
        return bad("the name of an environment variable is empty or contains = or NUL");
    }
    if value.contains('\0') {
        // The value may be a secret: name the variable only.
        return bad(&format!(
            "the value of the environment variable {name} contains NUL"
        ));
    }
    Ok(())
}

fn bad(detail: &str) -> Result<(), StartError> {
    Err(StartError::BadSpec(detail.to_owned()))
}

fn absolute(path: &str) -> Result<PathBuf, StartError> {
    let path = PathBuf::from(path);
    if path.is_absolute() && !path.as_os_str().as_encoded_bytes().contains(&0) {
        return Ok(path);
    }
    Err(StartError::BadSpec(format!(
        "the directory {} is not an absolute path; give it in full",
        path.display()
    )))
}

/// The directory may change until the command starts in it; the supervisor says so then.
pub(crate) fn enterable(path: &Path) -> Result<(), StartError> {
    let known = rustix::fs::stat(path).and_then(|found| {
        let is_directory = rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir();
        if is_directory {
            rustix::fs::access(path, Access::EXEC_OK)
        } else {
            Err(Errno::NOTDIR)
        }
    });
    match known {
        Ok(()) => Ok(()),
        Err(Errno::NOENT) => Err(StartError::NoDirectory(path.to_owned())),
        Err(Errno::NOTDIR) => Err(StartError::NotADirectory(path.to_owned())),
        Err(Errno::ACCESS | Errno::PERM) => Err(StartError::DirectoryDenied(path.to_owned())),
        Err(other) => Err(StartError::DirectoryUnusable(path.to_owned(), other.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(command: Command) -> Spec {
        Spec {
            command,
            directory: Some("/".into()),
            ..Spec::of_line("")
        }
    }

    fn words(words: &[&str]) -> Command {
        Command::Program(words.iter().map(ToString::to_string).collect())
    }

    fn refused(spec: &Spec) -> String {
        complete(spec).expect_err("the spec is bad").to_string()
    }

    #[test]
    fn a_program_needs_a_name() {
        assert!(refused(&spec(words(&[]))).contains("missing"));
        assert!(refused(&spec(words(&[""]))).contains("missing"));
        assert!(complete(&spec(words(&["a", ""]))).is_ok());
    }

    #[test]
    fn nul_is_refused_wherever_it_is_and_no_value_is_shown() {
        assert!(refused(&spec(Command::Shell("a\0b".into()))).contains("NUL"));
        assert!(refused(&spec(words(&["a", "\0"]))).contains("NUL"));
        let mut with = spec(words(&["a"]));
        with.environment = vec![("TOKEN".into(), "secret\0".into())];
        assert!(refused(&with).contains("TOKEN") && !refused(&with).contains("secret"));
    }

    #[test]
    fn a_variable_needs_a_name_without_an_equals_sign() {
        for name in ["", "A=B", "A\0"] {
            let mut with = spec(words(&["a"]));
            with.environment = vec![(name.into(), "x".into())];
            assert!(refused(&with).contains("variable"), "{name:?}");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_used_is_named() {
        let mut with = spec(words(&["a"]));
        for (path, why) in [
            ("relative", "absolute"),
            ("/does/not/exist", "does not exist"),
            ("/etc/passwd", "is not a directory"),
            ("/etc/passwd/below", "is not a directory"),
            (&format!("/{}", "x".repeat(300)), "name too long"),
        ] {
            with.directory = Some(path.into());
            let detail = refused(&with);
            assert!(detail.contains(path) && detail.contains(why), "{detail}");
        }
    }

    #[test]
    fn no_directory_means_that_of_this_process() {
        let mut with = spec(words(&["a"]));
        with.directory = None;
        let here = std::env::current_dir().expect("tests run somewhere");
        assert_eq!(
            complete(&with).expect("it is fine").directory.as_deref(),
            here.to_str()
        );
    }
}
