//! The WIT package of the last release, which is what its tag in the history says.

use std::fs;
use std::path::Path;
use std::process::Command;

use wit_parser::Resolve;

use super::{Package, Version};

/// A release.
pub(super) struct Release {
    /// Its tag.
    pub(super) tag: String,
    /// Its package.
    pub(super) package: Package,
}

/// The release with the greatest version among those that this history contains; `None` where no tag of a release is
/// known, as before the first one, and in a clone without tags.
///
/// # Errors
/// In words: where nobody can tell. A shallow clone, as machines make one for tests, has no tags.
pub(super) fn last(repository: &Path) -> Result<Option<Release>, String> {
    let tags = git(repository, &["tag", "--list", "v*", "--merged", "HEAD"])?;
    let releases = tags
        .lines()
        .filter_map(|tag| Some((version(tag)?, tag.to_owned())));
    let Some((_, tag)) = releases.max() else {
        if is_shallow(repository)? {
            return Err("this clone is shallow and has no tag of a release".to_owned());
        }
        return Ok(None);
    };
    let package = at(repository, &tag)?;
    Ok(Some(Release { tag, package }))
}

/// The package in the tree as it is.
pub(super) fn in_tree(repository: &Path) -> Package {
    in_directory(&repository.join("wit"))
}

/// A package that is one text.
#[cfg(test)]
pub(super) fn parse(text: &str) -> Package {
    let mut resolve = Resolve::default();
    let id = resolve
        .push_source("test.wit", text)
        .unwrap_or_else(|error| panic!("{error:#} in {text}"));
    Package { resolve, id }
}

fn in_directory(directory: &Path) -> Package {
    let mut resolve = Resolve::default();
    let (id, _) = resolve
        .push_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error:#}", directory.display()));
    Package { resolve, id }
}

/// The package as it was at a tag.
fn at(repository: &Path, tag: &str) -> Result<Package, String> {
    let tree = format!("{tag}:wit");
    let paths = git(repository, &["ls-tree", "-r", "--name-only", &tree])?;
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    for path in paths.lines().filter(|path| path.ends_with(".wit")) {
        let text = git(repository, &["show", &format!("{tree}/{path}")])?;
        let copy = directory.path().join(path);
        let parent = copy.parent().expect("a file is in a directory");
        fs::create_dir_all(parent).expect("directories can be made");
        fs::write(copy, text).expect("files can be written");
    }
    Ok(in_directory(directory.path()))
}

/// The version that a tag such as `v1.2.3` is of. Others are no releases, not even `v1.2.3-rc1`.
fn version(tag: &str) -> Option<Version> {
    let mut numbers = tag.strip_prefix('v')?.split('.').map(str::parse);
    let mut next = || numbers.next()?.ok();
    let version = (next()?, next()?, next()?);
    numbers.next().is_none().then_some(version)
}

fn is_shallow(repository: &Path) -> Result<bool, String> {
    let answer = git(repository, &["rev-parse", "--is-shallow-repository"])?;
    Ok(answer.trim() == "true")
}

/// What git prints for these arguments.
fn git(repository: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(arguments)
        // Set where git itself runs the tests, and then for another repository.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git {arguments:?} says: {}", message.trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::problems;
    use super::*;

    /// A repository with this package at its beginning.
    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new() -> Self {
            let repository =
                Self(tempfile::tempdir().expect("there is a place for temporary files"));
            repository.git(&["init", "--quiet"]);
            repository
        }

        fn path(&self) -> &Path {
            self.0.path()
        }

        fn git(&self, arguments: &[&str]) {
            // Nobody's own settings: neither a name, nor a key to sign with, nor hooks.
            let settings = [
                "user.name=tests",
                "user.email=tests@example.invalid",
                "commit.gpgSign=false",
                "tag.gpgSign=false",
                "core.hooksPath=/dev/null",
            ];
            let settings = settings.iter().flat_map(|it| ["-c", *it]);
            let all: Vec<&str> = settings.chain(arguments.iter().copied()).collect();
            git(self.path(), &all).expect("git does what it is told");
        }

        /// Writes the package, in two files since one would be no test of reading a directory.
        fn write(&self, version: &str, functions: &str) {
            let wit = self.path().join("wit");
            fs::create_dir_all(&wit).expect("directories can be made");
            let head = format!("package test:server@{version};\n");
            let store = format!("{head} interface store {{ {functions} }}");
            let world = format!("{head} world server {{ import store; }}");
            fs::write(wit.join("store.wit"), store).expect("files can be written");
            fs::write(wit.join("world.wit"), world).expect("files can be written");
            fs::write(wit.join("README.md"), "no WIT").expect("files can be written");
        }

        fn release(&self, version: &str, functions: &str) {
            self.write(version, functions);
            self.git(&["add", "--all"]);
            self.git(&["commit", "--quiet", "--message", version]);
            self.git(&["tag", &format!("v{version}")]);
        }
    }

    fn the_last(repository: &Repository) -> Release {
        let last = last(repository.path()).expect("git can tell");
        last.expect("there is a release")
    }

    fn reason(path: &Path) -> String {
        match last(path) {
            Ok(last) => panic!("git can tell: {:?}", last.map(|last| last.tag)),
            Err(reason) => reason,
        }
    }

    #[test]
    fn the_tree_is_compared_with_the_last_release() {
        let repository = Repository::new();
        repository.release("0.1.0", "get: func();");
        let check = |version: &str, functions: &str| {
            repository.write(version, functions);
            let last = the_last(&repository);
            assert_eq!(last.tag, "v0.1.0");
            problems(&last.package, &in_tree(repository.path()))
        };
        let none: [&str; 0] = [];
        assert_eq!(check("0.1.0", "/// Reads.\n get: func();"), none);
        let problems = check("0.1.1", "get: func(); put: func();");
        assert_eq!(
            problems,
            [
                "(0, 1, 1) does not follow (0, 1, 0)",
                "Breaking: store.put is new"
            ]
        );
        assert_eq!(check("0.2.0", "get: func(); put: func();"), none);
        let problems = check("0.1.0", "get: func(); type t = u8;");
        assert_eq!(
            problems,
            [
                "(0, 1, 0) does not follow (0, 1, 0)",
                "Addition: store.t is new"
            ]
        );
        assert_eq!(check("0.1.1", "get: func(); type t = u8;"), none);
    }

    #[test]
    fn the_last_release_is_the_one_with_the_greatest_version() {
        let repository = Repository::new();
        repository.release("0.10.0", "ten: func();");
        repository.release("0.9.1", "nine: func();");
        for tag in ["v0.11.0-rc1", "v0.12", "v1.2.3.4", "vision", "0.13.0"] {
            repository.git(&["tag", tag]);
        }
        let last = the_last(&repository);
        assert_eq!(last.tag, "v0.10.0");
        assert_eq!(last.package.version(), (0, 10, 0));
    }

    #[test]
    fn a_release_that_this_history_does_not_contain_is_none() {
        let repository = Repository::new();
        repository.release("0.1.0", "get: func();");
        repository.git(&["checkout", "--quiet", "-b", "other"]);
        repository.release("0.2.0", "get: func();");
        repository.git(&["checkout", "--quiet", "v0.1.0"]);
        let last = the_last(&repository);
        assert_eq!(last.tag, "v0.1.0");
    }

    #[test]
    fn that_there_was_no_release_is_told_from_that_nobody_knows() {
        let repository = Repository::new();
        repository.write("0.1.0", "get: func();");
        repository.git(&["add", "--all"]);
        repository.git(&["commit", "--quiet", "--message", "first"]);
        let last = last(repository.path()).expect("git can tell");
        assert!(last.is_none());

        let shallow = tempfile::tempdir().expect("there is a place for temporary files");
        repository.git(&["commit", "--quiet", "--allow-empty", "--message", "second"]);
        let from = format!("file://{}", repository.path().display());
        let into = shallow.path().display().to_string();
        repository.git(&["clone", "--quiet", "--depth", "1", &from, &into]);
        assert_eq!(
            reason(shallow.path()),
            "this clone is shallow and has no tag of a release"
        );

        repository.git(&["tag", "v0.1.0"]);
        repository.git(&["rm", "-r", "--quiet", "--force", "wit"]);
        repository.git(&["commit", "--quiet", "--message", "third"]);
        repository.git(&["tag", "v0.2.0"]);
        let without_wit = reason(repository.path());
        assert!(without_wit.contains("v0.2.0:wit"), "{without_wit}");

        let nowhere = tempfile::tempdir().expect("there is a place for temporary files");
        let reason = reason(nowhere.path());
        assert!(reason.contains("not a git repository"), "{reason}");
    }
}
