//! How the component is compiled and run. Shared with the build script: code that was compiled ahead of time
//! runs only under the settings it was compiled for.

/// The settings of the engine that differ from wasmtime's defaults.
pub(crate) fn engine() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    // A guest that does not come back is interrupted at the next tick, whatever it does.
    config.epoch_interruption(true);
    // A trap is reported with the guest's own words on standard error, and never with a place in its code, which is
    // stripped of names anyway: without the maps for it the code is a sixth smaller.
    config.generate_address_map(false);
    config.native_unwind_info(false);
    config
}
