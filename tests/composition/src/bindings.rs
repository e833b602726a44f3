//! Generated from the WIT package; nothing here is written by hand.

#![expect(
    unsafe_code,
    reason = "generated: raw memory is how values cross the boundary"
)]

use crate::MemoryStore;

wit_bindgen::generate!({
    inline: "
        package backburner:composition;

        world memory-store {
            export backburner:server/store@0.1.0;
        }
    ",
    path: "../../wit",
});

export!(MemoryStore with_types_in self);
