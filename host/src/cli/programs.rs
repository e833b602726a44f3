//! Which programs of configured tools are not there. Knows of the configuration what names a program, and the files of
//! this machine; starts nothing.
//!
//! A server may find another one, with another `PATH`, or later: what is found here is a note and no error.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::environment::variable;

/// A program that is not there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Absent {
    /// Where the configuration names it, as a JSON pointer.
    pub(super) at: String,
    /// What is missing, in words.
    pub(super) why: String,
}

/// The programs that are not there, of all tools of a configuration that the component takes.
///
/// *Source:* the README of the WIT, The members of `configure`, `tools`.
pub(super) fn absent(config: &Value) -> Vec<Absent> {
    let path = variable("PATH");
    let base = config["baseDirectory"].as_str().map(Path::new);
    let tools = config["tools"].as_array().into_iter().flatten();
    let found = tools.enumerate().filter_map(|(index, tool)| {
        let around = Around {
            // What the tool's own `PATH` will be may depend on its arguments.
            path: path.as_deref().filter(|_| tool["env"]["PATH"].is_null()),
            base,
        };
        let why = around.why_absent(tool["program"][0].as_str()?)?;
        let at = format!("/tools/{index}/program/0");
        Some(Absent { at, why })
    });
    found.collect()
}

/// Where programs are looked for.
struct Around<'a> {
    /// `None` where it is not known.
    path: Option<&'a OsStr>,
    /// Where relative paths begin; `None` where it is not known.
    base: Option<&'a Path>,
}

impl Around<'_> {
    /// Why there is no such program; `None` where there is one, or where that cannot be told.
    fn why_absent(&self, program: &str) -> Option<String> {
        if !program.contains('/') {
            let is_there = env::split_paths(self.path?).any(|it| is_program(&it.join(program)));
            return (!is_there).then(|| {
                format!("there is no program {program:?} on the PATH here; a server may have another PATH")
            });
        }
        let path = match self.base {
            Some(base) => base.join(program),
            None => Some(Path::new(program))
                .filter(|path| path.is_absolute())?
                .to_owned(),
        };
        match path.is_file() {
            true if is_program(&path) => None,
            true => Some(format!(
                "{} cannot be executed: make it executable, for example with `chmod +x`",
                path.display()
            )),
            false => Some(format!("there is no program {}", path.display())),
        }
    }
}

/// Whether somebody may execute this file. Who that is decides the system when it is.
fn is_program(path: &Path) -> bool {
    const EXECUTABLE: u32 = 0o111;
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & EXECUTABLE != 0)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_told_with_its_place() {
        let tools = json!([
            { "program": ["sh", "{a}"] },
            { "program": ["backburner-no-such-program"] },
            { "shell": "backburner-no-such-program" },
            { "program": ["/nonexistent/x"] },
            { "program": ["backburner-no-such-program"], "env": { "PATH": "{dir}" } },
        ]);
        let absent = absent(&json!({ "tools": tools }));
        let places: Vec<&str> = absent.iter().map(|it| it.at.as_str()).collect();
        assert_eq!(places, ["/tools/1/program/0", "/tools/3/program/0"]);
        assert_eq!(absent[1].why, "there is no program /nonexistent/x");
        assert_eq!(super::absent(&json!({})), []);
    }

    #[test]
    fn a_path_begins_where_the_file_is_and_has_to_be_executable() {
        let directory = tempfile::tempdir().expect("there is room");
        let base = directory.path().to_str().expect("it is UTF-8");
        let config = json!({ "baseDirectory": base, "tools": [{ "program": ["./deploy.sh"] }] });
        let why = || absent(&config).pop().map(|it| it.why);
        let file = directory.path().join("deploy.sh");
        assert!(why().is_some_and(|why| why.starts_with("there is no program ")));
        fs::write(&file, "#!/bin/sh\n").expect("there is room");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("it is ours");
        assert!(why().is_some_and(|why| why.contains("cannot be executed")));
        fs::set_permissions(&file, Permissions::from_mode(0o700)).expect("it is ours");
        assert_eq!(why(), None);
    }
}
