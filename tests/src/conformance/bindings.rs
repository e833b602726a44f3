//! Generated from the WIT package; nothing here is written by hand.

wasmtime::component::bindgen!({
    path: "../wit",
    world: "host-conformance",
});
