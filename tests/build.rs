//! Builds the tests' components for wasm32-wasip2. In `OUT_DIR`: `conformance.wasm`, the host conformance kit, which is
//! also compiled ahead of time to `conformance.cwasm`, since nothing else in the tests needs a compiler; and
//! `memory_store.wasm`, the store that is a component.

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
    let workspace = guest::workspace(&SOURCES)?;
    let kit = guest::build(&workspace, "backburner-conformance")?;
    let store = guest::build(&workspace, "backburner-composition")?;
    let engine = Engine::new(Config::new().target(&guest::host_target()?)?)?;
    let out = PathBuf::from(guest::variable("OUT_DIR")?);
    std::fs::write(
        out.join("conformance.cwasm"),
        engine.precompile_component(&kit)?,
    )?;
    std::fs::write(out.join("conformance.wasm"), kit)?;
    std::fs::write(out.join("memory_store.wasm"), store)?;
    Ok(())
}
