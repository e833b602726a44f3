//! Builds the guest for wasm32-wasip2 and compiles it ahead of time, so that the shipped binary needs no
//! compiler: `component.wasm` and `component.cwasm` in `OUT_DIR`.

use std::path::PathBuf;

use wasmtime::Result;

#[path = "src/engine/config.rs"]
mod config;
#[path = "build/guest.rs"]
mod guest;

/// Everything that the component is made of; directories count with all that is below them.
const SOURCES: [&str; 9] = [
    "wit",
    "guest/src",
    "guest/Cargo.toml",
    "guest/core/src",
    "guest/core/Cargo.toml",
    "Cargo.toml",
    "Cargo.lock",
    "host/build",
    "host/src/engine/config.rs",
];

fn main() -> Result<()> {
    let workspace = guest::workspace(&SOURCES)?;
    let bytes = guest::build(&workspace, "backburner-guest")?;
    let engine = wasmtime::Engine::new(config::engine().target(&guest::host_target()?)?)?;
    let out = PathBuf::from(guest::variable("OUT_DIR")?);
    std::fs::write(
        out.join("component.cwasm"),
        engine.precompile_component(&bytes)?,
    )?;
    #[cfg(feature = "component")]
    println!("cargo::rustc-env=COMPONENT_SHA256={}", sha256(&bytes));
    std::fs::write(out.join("component.wasm"), bytes)?;
    Ok(())
}

#[cfg(feature = "component")]
fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;

    let digest = sha2::Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
