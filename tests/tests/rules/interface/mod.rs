//! What changes between two versions of a WIT package, and which version that asks for.
//!
//! There are three kinds of users: a host supplies what the worlds import and calls what they export; code in any
//! language is written against bindings that were generated from the package; and a component of one version may be
//! run by a host of another. A change is an addition only if none of them can notice it.

mod compare;
mod describe;
mod release;

use wit_parser::{PackageId, Resolve};

use backburner_tests::{say, workspace};

use super::assert_none;

/// A package and all that it refers to.
pub(crate) struct Package {
    resolve: Resolve,
    id: PackageId,
}

/// Major, minor and patch.
type Version = (u64, u64, u64);

impl Package {
    fn version(&self) -> Version {
        let version = self.resolve.packages[self.id].name.version.as_ref();
        let version = version.expect("a package that is released has a version");
        (version.major, version.minor, version.patch)
    }
}

/// What a change does to the users of the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    /// There is more than before, and nobody has to know.
    Addition,
    /// Somebody has to change something.
    Breaking,
}

/// What is wrong with the version of `new` where `old` was released: the version, and then each change that asks for
/// a greater one. Nothing where all is well.
fn problems(old: &Package, new: &Package) -> Vec<String> {
    let changes = compare::changes(old, new);
    let effect = changes.iter().map(|change| change.effect).max();
    if is_enough(old.version(), new.version(), effect) {
        return Vec::new();
    }
    let asking = changes
        .iter()
        .filter(|change| Some(change.effect) == effect)
        .map(|change| format!("{:?}: {}", change.effect, change.what));
    let version = format!("{:?} does not follow {:?}", new.version(), old.version());
    std::iter::once(version).chain(asking).collect()
}

/// Whether a version may follow another one after such changes. Before 1.0.0 the minor version stands for what the
/// major one is afterwards, as cargo and the component model have it.
fn is_enough(old: Version, new: Version, effect: Option<Effect>) -> bool {
    let is_stable = old.0 > 0;
    match effect {
        None => new >= old,
        Some(Effect::Addition) if is_stable => (new.0, new.1) > (old.0, old.1),
        Some(Effect::Addition) => new > old,
        Some(Effect::Breaking) if is_stable => new.0 > old.0,
        Some(Effect::Breaking) => (new.0, new.1) > (old.0, old.1),
    }
}

#[test]
fn the_version_of_the_wit_says_what_changed_since_the_last_release() {
    let now = release::in_tree(workspace());
    match release::last(workspace()) {
        Ok(Some(last)) => assert_none(
            &format!("the version of wit/ follows that of {}", last.tag),
            &problems(&last.package, &now),
        ),
        Ok(None) => {
            say("NOT RUN: the version of wit/, since no tag of a release is known here");
        }
        Err(reason) => {
            // No failure in CI either: a machine's checkout may be shallow, or no repository at all, through no fault of a change.
            say(&format!("NOT RUN: the version of wit/, since {reason}"));
        }
    }
}

#[test]
fn a_version_follows_another_one_as_the_changes_ask() {
    use Effect::{Addition, Breaking};
    let check = |old, new, effect, expected| {
        assert_eq!(
            is_enough(old, new, effect),
            expected,
            "{old:?} to {new:?} with {effect:?}"
        );
    };
    check((0, 1, 0), (0, 1, 0), None, true);
    check((0, 1, 1), (0, 1, 0), None, false);
    check((0, 1, 0), (0, 1, 0), Some(Addition), false);
    check((0, 1, 0), (0, 1, 1), Some(Addition), true);
    check((0, 1, 0), (0, 1, 1), Some(Breaking), false);
    check((0, 1, 9), (0, 2, 0), Some(Breaking), true);
    check((0, 9, 0), (1, 0, 0), Some(Breaking), true);
    check((1, 2, 3), (1, 2, 4), None, true);
    check((1, 2, 3), (1, 2, 4), Some(Addition), false);
    check((1, 2, 3), (1, 3, 0), Some(Addition), true);
    check((1, 2, 3), (1, 3, 0), Some(Breaking), false);
    check((1, 2, 3), (2, 0, 0), Some(Breaking), true);
}
