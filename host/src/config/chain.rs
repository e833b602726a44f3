//! Which directories decide what a path leads to: where an entry of theirs changes, or one of them is moved, the path
//! may lead to something else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// How many links a path may lead through, as on Linux: more are a circle.
const LINKS_MAX: usize = 40;

/// Directories, without links in their names, and which of their entries matter. Of one without entries only its own
/// place matters.
pub(super) type Chain = BTreeMap<PathBuf, BTreeSet<OsString>>;

/// The chain of an absolute path. Where something on the way is missing, it ends with the directory that it is missing
/// in.
pub(super) fn chain(path: &Path) -> Chain {
    let mut walk = Walk {
        chain: Chain::new(),
        place: PathBuf::from("/"),
        links: 0,
    };
    let mut rest: VecDeque<OsString> = names(path).collect();
    while let Some(name) = rest.pop_front() {
        let Some(target) = walk.step(&name, rest.is_empty()) else {
            break;
        };
        for name in names(&target).collect::<Vec<_>>().into_iter().rev() {
            rest.push_front(name);
        }
    }
    walk.chain
}

struct Walk {
    chain: Chain,
    /// Where it got to: a directory, without links in its name.
    place: PathBuf,
    links: usize,
}

impl Walk {
    /// Goes to an entry of this place. Gives what a link leads to, which is empty for a directory; `None` at the end of
    /// the way.
    fn step(&mut self, name: &OsStr, is_last: bool) -> Option<PathBuf> {
        if name == ".." {
            self.place.pop();
            return Some(PathBuf::new());
        }
        let entry = self.place.join(name);
        let kind = fs::symlink_metadata(&entry).ok().map(|it| it.file_type());
        let is_directory = kind.is_some_and(|kind| kind.is_dir());
        if is_directory && !is_last {
            self.chain.entry(entry.clone()).or_default();
            self.place = entry;
            return Some(PathBuf::new());
        }
        let entries = self.chain.entry(self.place.clone()).or_default();
        entries.insert(name.to_owned());
        self.links += 1;
        if !kind.is_some_and(|kind| kind.is_symlink()) || self.links > LINKS_MAX {
            return None;
        }
        let target = fs::read_link(&entry).ok()?;
        if target.is_absolute() {
            self.place = PathBuf::from("/");
        }
        Some(target)
    }
}

/// The names that a path leads through.
fn names(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn root() -> (TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("there is room");
        let path = directory.path().canonicalize().expect("it is there");
        (directory, path)
    }

    /// The chain below `root`, with names from there.
    fn below(root: &Path, path: &str) -> Vec<(String, Vec<String>)> {
        let chain = chain(&root.join(path));
        let below = chain.into_iter().filter_map(|(directory, names)| {
            let directory = directory.strip_prefix(root).ok()?;
            let names = names
                .into_iter()
                .map(|name| name.to_string_lossy().into_owned());
            Some((directory.to_string_lossy().into_owned(), names.collect()))
        });
        below.collect()
    }

    fn expected(chain: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let chain = chain.iter();
        chain
            .map(|(directory, names)| ((*directory).to_owned(), owned(names)))
            .collect()
    }

    #[test]
    fn a_plain_file_depends_on_its_entry_and_on_the_places_of_its_directories() {
        let (_directory, root) = root();
        fs::create_dir_all(root.join("a/b")).expect("there is room");
        for is_there in [false, true] {
            if is_there {
                fs::write(root.join("a/b/file"), "").expect("there is room");
            }
            let expected = expected(&[("", &[]), ("a", &[]), ("a/b", &["file"])]);
            assert_eq!(below(&root, "a/b/file"), expected);
        }
        let up = below(&root, "a/../a/b/./file");
        assert_eq!(up, below(&root, "a/b/file"));
    }

    #[test]
    fn what_is_missing_is_waited_for_where_it_is_missing() {
        let (_directory, root) = root();
        fs::create_dir_all(root.join("a")).expect("there is room");
        let expected = expected(&[("", &[]), ("a", &["b"])]);
        assert_eq!(below(&root, "a/b/c/file"), expected);
    }

    #[test]
    fn a_file_of_kubernetes_depends_on_the_link_that_is_swapped() {
        let (_directory, root) = root();
        fs::create_dir_all(root.join("etc/..1")).expect("there is room");
        fs::write(root.join("etc/..1/file"), "").expect("there is room");
        symlink("..1", root.join("etc/..data")).expect("there is room");
        symlink("..data/file", root.join("etc/file")).expect("there is room");
        let expected = expected(&[
            ("", &[]),
            ("etc", &["..data", "file"]),
            ("etc/..1", &["file"]),
        ]);
        assert_eq!(below(&root, "etc/file"), expected);
    }

    #[test]
    fn an_absolute_link_and_one_that_leads_up_are_followed() {
        let (_directory, root) = root();
        fs::create_dir_all(root.join("a/b")).expect("there is room");
        fs::write(root.join("true"), "").expect("there is room");
        symlink("../../true", root.join("a/b/up")).expect("there is room");
        symlink(root.join("a/b/up"), root.join("link")).expect("there is room");
        let expected = expected(&[("", &["link", "true"]), ("a", &[]), ("a/b", &["up"])]);
        assert_eq!(below(&root, "link"), expected);
    }

    #[test]
    fn a_circle_of_links_has_an_end() {
        let (_directory, root) = root();
        symlink("b", root.join("a")).expect("there is room");
        symlink("a", root.join("b")).expect("there is room");
        assert_eq!(below(&root, "a"), expected(&[("", &["a", "b"])]));
    }
}
