//! The changes from one version of a package to another.

use std::collections::BTreeMap;

use super::describe::Item;
use super::{Effect, Package};

/// One change.
#[derive(Debug)]
pub(super) struct Change {
    /// What changed, in words.
    pub(super) what: String,
    /// What it does to the users.
    pub(super) effect: Effect,
}

/// Every change that a user could notice.
///
/// Whatever is gone or different breaks somebody: a field, a case or a parameter more is another type to the other
/// side, and a function that no component imports any more is one that a component of the old version does. What is
/// new breaks only whoever has to supply it.
pub(super) fn changes(old: &Package, new: &Package) -> Vec<Change> {
    let (old_name, new_name) = (name(old), name(new));
    if old_name != new_name {
        return vec![Change {
            what: format!("{old_name} is now {new_name}"),
            effect: Effect::Breaking,
        }];
    }
    let (old, new) = (old.items(), new.items());
    let mut changes = Vec::new();
    for (name, item) in &old {
        let what = match new.get(name) {
            None if is_whole(item, &new) => format!("{name} is gone"),
            Some(now) if now.text != item.text => {
                format!("{name} was `{}` and is `{}`", item.text, now.text)
            }
            _ => continue,
        };
        changes.push(Change {
            what,
            effect: Effect::Breaking,
        });
    }
    let appeared = new
        .iter()
        .filter(|(name, item)| !old.contains_key(*name) && is_whole(item, &old));
    changes.extend(appeared.map(|(name, item)| Change {
        what: format!("{name} is new"),
        effect: item.appearing,
    }));
    changes
}

/// The name of a package without its version.
fn name(package: &Package) -> String {
    let name = &package.resolve.packages[package.id].name;
    format!("{}:{}", name.namespace, name.name)
}

/// Whether an item is not merely part of one that the other version does not have at all.
fn is_whole(item: &Item, others: &BTreeMap<String, Item>) -> bool {
    item.parent
        .as_ref()
        .is_none_or(|parent| others.contains_key(parent))
}

#[cfg(test)]
mod tests {
    use super::super::release::parse;
    use super::*;

    /// A package with an interface that a host supplies, one that it calls, and one of words.
    const BEFORE: &str = "
        package test:server@0.1.0;
        interface words {
            /// A moment.
            type moment = u64;
            record point { x: u32, y: u32 }
            enum colour { red, green }
            variant answer { yes(moment), no }
            flags rights { read, write }
        }
        interface supplied {
            use words.{moment};
            get: func(key: string, at: moment) -> result<option<string>, list<u8>>;
            put: func(key: string);
        }
        interface called {
            use words.{answer};
            ask: func(question: string) -> answer;
        }
        interface unused { type nothing = bool; }
        world imports { import supplied; }
        world server { include imports; export called; }
    ";

    /// What changes where `from` becomes `to` in the package.
    fn changed(from: &str, to: &str) -> Vec<Change> {
        assert_eq!(BEFORE.matches(from).count(), 1, "{from} is there once");
        changes(&parse(BEFORE), &parse(&BEFORE.replace(from, to)))
    }

    fn check(from: &str, to: &str, effect: Effect, what: &str) {
        let changes = changed(from, to);
        assert!(
            changes.iter().any(|it| it.what.contains(what)),
            "`{from}` to `{to}` gave {changes:?}"
        );
        let most = changes.iter().map(|it| it.effect).max();
        assert_eq!(most, Some(effect), "`{from}` to `{to}` gave {changes:?}");
    }

    fn breaks(from: &str, to: &str, what: &str) {
        check(from, to, Effect::Breaking, what);
    }

    fn adds(from: &str, to: &str, what: &str) {
        check(from, to, Effect::Addition, what);
    }

    fn is_nothing(from: &str, to: &str) {
        let changes = changed(from, to);
        assert!(changes.is_empty(), "`{from}` to `{to}` gave {changes:?}");
    }

    #[test]
    fn words_and_order_are_no_change() {
        is_nothing("/// A moment.", "/// A moment in time.");
        is_nothing("server@0.1.0", "server@0.2.0");
        is_nothing(
            "interface unused { type nothing = bool; }",
            "/// Of no use.\n interface unused { type nothing = bool; }",
        );
        is_nothing(
            "put: func(key: string);\n        }",
            "/// Puts.\n put: func(key: string);\n        }",
        );
        is_nothing(
            "type moment = u64;\n            record point { x: u32, y: u32 }",
            "record point { x: u32, y: u32 }\n            type moment = u64;",
        );
    }

    #[test]
    fn a_function_more_breaks_who_supplies_it_and_nobody_who_calls_it() {
        let more = "more: func(); ";
        breaks("put: func", "more: func(); put: func", "supplied.more");
        adds("ask: func", "more: func(); ask: func", "called.more");
        breaks(
            "type nothing",
            &format!("{more} type nothing"),
            "unused.more",
        );
    }

    #[test]
    fn a_function_that_both_sides_have_breaks() {
        let both = BEFORE.replace("export called;", "export called; import called;");
        let more = both.replace("ask: func", "more: func(); ask: func");
        let changes = changes(&parse(&both), &parse(&more));
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!(changes[0].effect, Effect::Breaking);
    }

    #[test]
    fn a_function_less_breaks() {
        breaks("put: func(key: string);", "", "supplied.put is gone");
        let ask = "ask: func(question: string) -> answer;";
        breaks(ask, "", "called.ask is gone");
    }

    #[test]
    fn another_signature_breaks() {
        let put = "put: func(key: string);";
        for other in [
            "put: func(name: string);",
            "put: func(key: u8);",
            "put: func(key: string, value: string);",
            "put: func();",
            "put: func(key: string) -> bool;",
            "put: async func(key: string);",
        ] {
            breaks(put, other, "supplied.put was");
        }
        breaks(
            "result<option<string>, list<u8>>",
            "result<option<string>, list<u16>>",
            "supplied.get was",
        );
        breaks("-> answer", "-> option<answer>", "called.ask was");
    }

    #[test]
    fn another_type_breaks() {
        breaks("moment = u64", "moment = s64", "words.moment was");
        breaks("y: u32", "y: u32, z: u32", "words.point was");
        breaks("x: u32, y: u32", "y: u32, x: u32", "words.point was");
        breaks("x: u32", "a: u32", "words.point was");
        breaks("x: u32", "x: u64", "words.point was");
        breaks("red, green", "red, green, blue", "words.colour was");
        breaks("red, green", "green, red", "words.colour was");
        breaks("yes(moment), no", "yes(moment)", "words.answer was");
        breaks(
            "yes(moment), no",
            "yes(moment), no, maybe",
            "words.answer was",
        );
        breaks("yes(moment)", "yes", "words.answer was");
        breaks("read, write", "read, write, execute", "words.rights was");
        breaks("enum colour { red, green }", "", "words.colour is gone");
        breaks(
            "flags rights { read, write }",
            "enum rights { read, write }",
            "words.rights was",
        );
    }

    #[test]
    fn a_name_of_its_own_for_a_type_of_another_interface_breaks() {
        breaks(
            "use words.{moment};",
            "type moment = u64;",
            "supplied.moment was",
        );
    }

    #[test]
    fn a_type_more_is_an_addition() {
        adds("enum colour", "enum shape { round } enum colour", "shape");
        adds("use words.{moment}", "use words.{moment, point}", "point");
    }

    #[test]
    fn an_interface_or_a_world_more_is_an_addition_and_one_less_breaks() {
        adds(
            "interface unused",
            "interface other { f: func(); } interface unused",
            "interface other is new",
        );
        adds(
            "world imports",
            "world other { import supplied; } world imports",
            "world other is new",
        );
        breaks(
            "interface unused { type nothing = bool; }",
            "",
            "interface unused is gone",
        );
    }

    #[test]
    fn one_change_is_reported_for_a_whole_interface() {
        let changes = changed(
            "interface unused",
            "interface other { f: func(); type t = u8; } interface unused",
        );
        assert_eq!(changes.len(), 1, "{changes:?}");
    }

    #[test]
    fn what_a_world_imports_breaks_and_what_it_exports_is_an_addition() {
        let world = "include imports; export called;";
        breaks(
            world,
            "include imports; export called; import unused;",
            "world server, import unused is new",
        );
        adds(
            world,
            "include imports; export called; export unused;",
            "world server, export unused is new",
        );
        breaks(world, "export called;", "import supplied is gone");
        breaks(world, "include imports;", "export called is gone");
    }

    #[test]
    fn what_stands_in_a_world_itself_is_seen() {
        let world = |inside: &str| {
            let world = format!("include imports; export called; {inside}");
            parse(&BEFORE.replace("include imports; export called;", &world))
        };
        let effects = |old: &str, new: &str| {
            let changes = changes(&world(old), &world(new));
            changes.iter().map(|it| it.effect).collect::<Vec<_>>()
        };
        assert_eq!(effects("", "import f: func();"), [Effect::Breaking]);
        assert_eq!(effects("", "export f: func();"), [Effect::Addition]);
        assert_eq!(
            effects("export f: func();", "export f: func(a: u8);"),
            [Effect::Breaking]
        );
        assert_eq!(effects("", "type t = u8;"), [Effect::Addition]);
        assert_eq!(
            effects(
                "export i: interface { f: func(); }",
                "export i: interface { f: func(a: u8); }"
            ),
            [Effect::Breaking]
        );
    }

    #[test]
    fn another_name_breaks() {
        breaks(
            "test:server@",
            "test:other@",
            "test:server is now test:other",
        );
    }
}
