//! Rules about the built component: what it can reach, and what it offers.

use std::collections::BTreeSet;

use backburner_tests::component;
use wit_component::DecodedWasm;
use wit_parser::{Resolve, WorldItem, WorldKey};

/// All that the component may import: our own, randomness, and what std links in for its error paths. The host answers a
/// call of the latter, and has nothing to give: the environment and the arguments are empty, the input is at its end, and
/// only standard error is somewhere, for the message of a panic (tests beside `State` of the host's engine). The seed is
/// that of the hash tables of the library that checks JSON Schemas; nothing that the component says depends on it.
const IMPORTS: [&str; 18] = [
    "backburner:server/jobs@0.1.0",
    "backburner:server/store@0.1.0",
    "backburner:server/types@0.1.0",
    "wasi:cli/environment@0.2",
    "wasi:cli/exit@0.2",
    "wasi:cli/stderr@0.2",
    "wasi:cli/stdin@0.2",
    "wasi:cli/stdout@0.2",
    "wasi:cli/terminal-input@0.2",
    "wasi:cli/terminal-output@0.2",
    "wasi:cli/terminal-stderr@0.2",
    "wasi:cli/terminal-stdin@0.2",
    "wasi:cli/terminal-stdout@0.2",
    "wasi:io/error@0.2",
    "wasi:io/poll@0.2",
    "wasi:io/streams@0.2",
    "wasi:random/insecure-seed@0.2",
    "wasi:random/random@0.2",
];

const EXPORTS: [&str; 1] = ["backburner:server/protocol@0.1.0"];

fn world() -> (Vec<String>, Vec<String>) {
    let bytes = std::fs::read(component()).expect("the build leaves the component there");
    let decoded = wit_component::decode(&bytes).expect("it is a component");
    let DecodedWasm::Component(resolve, world) = decoded else {
        panic!("it is a WIT package and no component")
    };
    let world = &resolve.worlds[world];
    let names = |items: &mut dyn Iterator<Item = (&WorldKey, &WorldItem)>| {
        items.map(|(key, _)| name(&resolve, key)).collect()
    };
    (
        names(&mut world.imports.iter()),
        names(&mut world.exports.iter()),
    )
}

/// The name, of WASI without the patch version: that follows the toolchain.
fn name(resolve: &Resolve, key: &WorldKey) -> String {
    let name = resolve.name_world_key(key);
    match name.split_once("@0.2.") {
        Some((interface, _)) if name.starts_with("wasi:") => format!("{interface}@0.2"),
        _ => name,
    }
}

#[test]
fn the_component_imports_what_is_allowed_and_nothing_else() {
    let (imports, _) = world();
    let imports: BTreeSet<&str> = imports.iter().map(String::as_str).collect();
    assert_eq!(imports, BTreeSet::from(IMPORTS));
}

#[test]
fn the_component_exports_the_protocol_and_nothing_else() {
    let (_, exports) = world();
    assert_eq!(exports, EXPORTS);
}
