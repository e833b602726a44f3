//! Which import is called under which method and can go wrong there, and in which ways.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::faults::{Call, Fault, Import};

/// Something that went wrong: what was handled, what that called, and how it failed.
pub(crate) type Case = (&'static str, Import, Fault);

use Import::*;

/// All that calls an import, and what it may call. What begins with `resume` goes on with a ticket of this kind.
const IMPORTS: [(&str, &[Import]); 9] = [
    ("resume call/1", &[Commit, Get, Inspect, Read, Stop]),
    ("resume held/1", &[Commit, Get, Inspect, Read, Start, Stop]),
    ("resume listen/1", &[Commit, Get, Inspect, Read, Stop]),
    ("subscriptions/listen", &[Commit, Get, Inspect, Read, Stop]),
    ("sweep", &[Commit, Forget, Get, Inspect, Read, Scan, Stop]),
    ("tasks/cancel", &[Commit, Get, Inspect, Stop]),
    ("tasks/get", &[Commit, Get, Inspect, Read, Stop]),
    ("tasks/update", &[Answer, Commit, Get, Inspect]),
    ("tools/call", &[Commit, Get, Inspect, Read, Start, Stop]),
];

/// Fails unless these are all cases that there are.
pub(crate) fn assert_all_covered(covered: &BTreeSet<Case>) {
    assert_whole(covered, &all_cases());
}

/// Fails unless each import has failed, and has crashed, under each method, in whatever way; but for these.
pub(crate) fn assert_each_failed_and_crashed(covered: &BTreeSet<Case>, but: &[(&str, Import)]) {
    let wanted = |cases: &BTreeSet<Case>| -> BTreeSet<(&'static str, Import, bool)> {
        let coarse = cases.iter().map(|case| coarse(*case));
        coarse
            .filter(|(method, import, _)| !but.contains(&(method, *import)))
            .collect()
    };
    assert_whole(&wanted(covered), &wanted(&all_cases()));
}

/// A case, and whether it is a crash, of whatever kind.
pub(crate) fn coarse((method, import, fault): Case) -> (&'static str, Import, bool) {
    let is_crash = matches!(fault, Fault::CrashBefore | Fault::CrashAfter);
    (method, import, is_crash)
}

fn assert_whole<T: Debug + Ord>(covered: &BTreeSet<T>, all: &BTreeSet<T>) {
    let missing: Vec<_> = all.difference(covered).collect();
    let unlisted: Vec<_> = covered.difference(all).collect();
    assert!(
        missing.is_empty() && unlisted.is_empty(),
        "not covered: {missing:?}\nnot listed: {unlisted:?}"
    );
}

fn all_cases() -> BTreeSet<Case> {
    let of_method = |(method, imports): (&'static str, &'static [Import])| {
        imports.iter().flat_map(move |import| {
            let faults = import.faults();
            faults.map(move |fault| (method, *import, fault))
        })
    };
    IMPORTS.into_iter().flat_map(of_method).collect()
}

/// The case that this call is where this goes wrong.
pub(crate) fn case(call: &Call, fault: Fault) -> Case {
    let handled = method(&call.handled);
    let known = IMPORTS.iter().find(|(method, _)| *method == handled);
    let (method, _) = known.unwrap_or_else(|| panic!("{handled} calls no import"));
    (method, call.import, fault)
}

/// The name of what is handled: a message, a ticket, or nothing in a sweep.
fn method(handled: &str) -> String {
    let quoted = |text: &str| text.split('"').next().unwrap_or_default().to_owned();
    if let Some((_, rest)) = handled.split_once(r#""method":""#) {
        return quoted(rest);
    }
    match handled.strip_prefix(r#"{""#) {
        Some(ticket) => format!("resume {}", quoted(ticket)),
        None => "sweep".to_owned(),
    }
}
