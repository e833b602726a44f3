//! Generated from the WIT package; nothing here is written by hand.

wasmtime::component::bindgen!({
    inline: "
        package backburner:composition;

        world memory-store {
            export backburner:server/store@0.1.0;
        }
    ",
    path: "../wit",
});
