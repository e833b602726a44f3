//! How the component is compiled and run. Shared with the build script: code that was compiled ahead of time
//! runs only under the settings it was compiled for.

/// The settings of the engine that differ from wasmtime's defaults.
pub(crate) fn engine() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    // A guest that does not come back is interrupted at the next tick, whatever it does.
    config.epoch_interruption(true);
    config
}
