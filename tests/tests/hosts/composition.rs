//! The component composed with another one that supplies its store, `tests/composition`. The Python host runs it.
//!
//! The other one is there to show that this works, but it has to be a store: the kit checks it.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use backburner_tests::component;
use backburner_tests::conformance::{Check, ComponentStore, Subject, checks};
use backburner_tests::fake::Machine;
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

#[test]
fn the_store_that_is_a_component_keeps_every_promise_but_that_it_lasts() {
    let (store, jobs) = (Arc::new(ComponentStore::new()), Machine::new().jobs);
    let subject = Subject {
        open: Box::new(move || (Arc::clone(&store) as _, Arc::clone(&jobs) as _)),
        offers: Vec::new(),
    };
    let of_store = |check: &Check| check.name.starts_with("store/") && subject.can_run(check);
    let runnable: Vec<Check> = checks().into_iter().filter(of_store).collect();
    assert!(runnable.len() >= 17, "{} checks of a store", runnable.len());
    let breaches = subject.breaches(&runnable);
    assert!(breaches.is_empty(), "{breaches:#?}");
}
