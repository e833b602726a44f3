//! Generated from the WIT package; nothing here is written by hand.

#![expect(
    unsafe_code,
    reason = "generated: raw memory is how values cross the boundary"
)]

use crate::Component;

wit_bindgen::generate!({
    path: "../wit",
    world: "server",
});

export!(Component with_types_in self);
