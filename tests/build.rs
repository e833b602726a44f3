//! Builds the tests' components for wasm32-wasip2. In `OUT_DIR`: `conformance.wasm`, the host conformance kit, and
//! `memory_store.wasm`, the store that is a component. Both are also compiled ahead of time, to `conformance.cwasm` and
//! `memory_store.cwasm`, since nothing else in the tests needs a compiler.

use std::path::PathBuf;

use wasmtime::{Config, Engine, Result};

#[path = "../host/build/guest.rs"]
mod guest;

/// Everything that the components are made of; directories count with all that is below them.
const SOURCES: [&str; 8] = [
    "wit",
    "tests/composition/src",
    "tests/composition/Cargo.toml",
    "tests/conformance/src",
    "tests/conformance/Cargo.toml",
    "Cargo.toml",
    "Cargo.lock",
    "host/build",
];

fn main() -> Result<()> {
    // For the test that runs this on a machine without the target.
    let this = std::env::current_exe()?;
    println!("cargo::rustc-env=BUILD_SCRIPT={}", this.display());
    let workspace = guest::workspace(&SOURCES)?;
    let kit = guest::build(&workspace, "backburner-conformance")?;
    let store = guest::build(&workspace, "backburner-composition")?;
    let engine = Engine::new(Config::new().target(&guest::host_target()?)?)?;
    let out = PathBuf::from(guest::variable("OUT_DIR")?);
    for (name, component) in [("conformance", kit), ("memory_store", store)] {
        let compiled = engine.precompile_component(&component)?;
        std::fs::write(out.join(format!("{name}.cwasm")), compiled)?;
        std::fs::write(out.join(format!("{name}.wasm")), component)?;
    }
    Ok(())
}
