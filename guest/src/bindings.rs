//! Generated from the WIT package; nothing here is written by hand.

#![expect(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    clippy::all,
    reason = "generated: the WIT carries the documentation"
)]

use crate::Component;

wit_bindgen::generate!({
    path: "../wit",
    world: "server",
});

export!(Component with_types_in self);
