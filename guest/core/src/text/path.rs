//! Paths as text: nothing here looks at a disk, so links are not followed and nothing has to exist.

/// `path`, made absolute by `base`, without what says nothing: `.`, and slashes that are more than one. `None` where it
/// is relative and there is no base. A `..` stays: behind a link it leads elsewhere than to what stands before it.
pub(crate) fn absolute(base: Option<&str>, path: &str) -> Option<String> {
    let base = if path.starts_with('/') { "" } else { base? };
    let components = base.split('/').chain(path.split('/'));
    Some(joined(components.filter(|it| !matches!(*it, "" | "."))))
}

/// An absolute path without `.` and `..`, as [`is_within`] takes it.
pub(crate) fn normalised(path: &str) -> String {
    joined(resolved(path).into_iter())
}

fn joined<'a>(components: impl Iterator<Item = &'a str>) -> String {
    let components: Vec<&str> = components.collect();
    format!("/{}", components.join("/"))
}

/// Whether an absolute path is this directory or something below it, component by component, after `.` and `..` are
/// taken out of both. A link in it may lead elsewhere: this keeps a model from a mistake, and nobody from a plan.
pub(crate) fn is_within(path: &str, directory: &str) -> bool {
    resolved(path).starts_with(&resolved(directory))
}

/// The components of an absolute path without `.` and `..`; above the root is the root.
fn resolved(path: &str) -> Vec<&str> {
    let mut components = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                components.pop();
            }
            name => components.push(name),
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::{absolute, is_within, normalised};

    #[test]
    fn a_relative_path_begins_at_the_base() {
        assert_eq!(absolute(None, "/a").as_deref(), Some("/a"));
        assert_eq!(absolute(Some("/b"), "/a").as_deref(), Some("/a"));
        assert_eq!(absolute(Some("/b/"), "../a").as_deref(), Some("/b/../a"));
        assert_eq!(absolute(Some("/"), "a").as_deref(), Some("/a"));
        assert_eq!(absolute(None, "a"), None);
    }

    #[test]
    fn what_says_nothing_is_left_out_of_a_path() {
        for (path, expect) in [
            (".", "/b"),
            ("./", "/b"),
            ("./a/./c", "/b/a/c"),
            ("/a//./c/.", "/a/c"),
            ("/", "/"),
            ("/.", "/"),
            ("a/..", "/b/a/.."),
            (".a/..b", "/b/.a/..b"),
        ] {
            assert_eq!(
                absolute(Some("/b/."), path).as_deref(),
                Some(expect),
                "{path}"
            );
        }
        assert_eq!(absolute(Some("/"), ".").as_deref(), Some("/"));
    }

    #[test]
    fn a_normalised_path_leads_nowhere_and_back() {
        for (path, expect) in [("/a/../b/.", "/b"), ("/..", "/"), ("/a/b/../..", "/")] {
            assert_eq!(normalised(path), expect, "{path}");
        }
    }

    #[test]
    fn a_directory_holds_itself_and_what_is_below_it() {
        for inside in [
            "/a/b",
            "/a/b/",
            "/a//b/c",
            "/a/b/./c/..",
            "/x/../a/b/c",
            "/../a/b",
        ] {
            assert!(is_within(inside, "/a/b"), "{inside}");
        }
        for outside in ["/a", "/a/bc", "/a/b/..", "/a/b/../c", "/b", "/"] {
            assert!(!is_within(outside, "/a/b"), "{outside}");
        }
        assert!(is_within("/anything", "/"));
    }
}
