//! The component composed with another one that supplies its store, `tests/composition`. The Python host runs it.

use std::collections::BTreeSet;
use std::fs;

use backburner_tests::component;
use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, plug};
use wit_component::DecodedWasm;

/// The import that the other component takes the place of.
const STORE: &str = "backburner:server/store@0.1.0";

/// A component that is made of the two.
pub(crate) fn composed() -> Vec<u8> {
    let server = fs::read(component()).expect("the build leaves the component there");
    let store = fs::read(concat!(env!("OUT_DIR"), "/memory_store.wasm"))
        .expect("the build script leaves the store there");
    let mut graph = CompositionGraph::new();
    let mut register = |name: &str, bytes: Vec<u8>| {
        let package = Package::from_bytes(name, None, bytes, graph.types_mut());
        let package = package.expect("the build gives components");
        graph
            .register_package(package)
            .expect("the two have names of their own")
    };
    let (server, store) = (register("server", server), register("store", store));
    plug(&mut graph, vec![store], server).expect("the one exports what the other imports");
    graph
        .encode(EncodeOptions::default())
        .expect("the composition is valid")
}

/// What a component imports and exports, by name.
fn world(bytes: &[u8]) -> (BTreeSet<String>, BTreeSet<String>) {
    let decoded = wit_component::decode(bytes).expect("it is a component");
    let DecodedWasm::Component(resolve, world) = decoded else {
        panic!("it is a WIT package and no component")
    };
    let world = &resolve.worlds[world];
    let imports = world.imports.keys().map(|key| resolve.name_world_key(key));
    let exports = world.exports.keys().map(|key| resolve.name_world_key(key));
    (imports.collect(), exports.collect())
}

#[test]
fn a_component_that_exports_a_store_takes_the_place_of_the_hosts() {
    let server = fs::read(component()).expect("the build leaves the component there");
    let (mut imports, exports) = world(&server);
    assert!(imports.remove(STORE), "the component imports a store");
    assert_eq!(world(&composed()), (imports, exports));
}
