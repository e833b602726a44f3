//! Rules about the tree: what the design forbids and promises, checked by looking at the files, the manifests, the
//! WIT package and the built component.

mod code;
mod component;
mod corpus;
mod crates;
mod defaults;
mod files;
mod interface;
mod readme;
mod reproducible;
mod sources;
mod target;
mod wit;

/// Fails with all problems at once, so that one run is enough to mend them.
fn assert_none(rule: &str, problems: &[String]) {
    assert!(
        problems.is_empty(),
        "{rule}:\n  {}\n",
        problems.join("\n  ")
    );
}
