//! Generated from the WIT package; nothing here is written by hand.

#![expect(
    unsafe_code,
    reason = "generated: raw memory is how values cross the boundary"
)]

use crate::Kit;

wit_bindgen::generate!({
    path: "../../wit",
    world: "host-conformance",
    additional_derives: [PartialEq, Eq],
});

export!(Kit with_types_in self);
