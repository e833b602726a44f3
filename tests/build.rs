//! Builds the host conformance kit for wasm32-wasip2 and compiles it ahead of time, since nothing else in the tests
//! needs a compiler: `conformance.wasm` and `conformance.cwasm` in `OUT_DIR`.

use std::path::PathBuf;

use wasmtime::{Config, Engine, Result};

#[path = "../host/build/guest.rs"]
mod guest;

/// Everything that the kit is made of; directories count with all that is below them.
const SOURCES: [&str; 6] = [
    "wit",
    "tests/conformance/src",
    "tests/conformance/Cargo.toml",
    "Cargo.toml",
    "Cargo.lock",
    "host/build",
];

fn main() -> Result<()> {
    let workspace = guest::workspace(&SOURCES)?;
    let bytes = guest::build(&workspace, "backburner-conformance")?;
    let engine = Engine::new(Config::new().target(&guest::host_target()?)?)?;
    let out = PathBuf::from(guest::variable("OUT_DIR")?);
    std::fs::write(
        out.join("conformance.cwasm"),
        engine.precompile_component(&bytes)?,
    )?;
    std::fs::write(out.join("conformance.wasm"), bytes)?;
    Ok(())
}
