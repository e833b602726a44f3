//! `backburner-artifact DIRECTORY`: writes the component there, as files to publish.
//!
//! `backburner.wasm`, `backburner.wasm.sha256` in the form that `sha256sum --check` reads, and `oci/`, an OCI image
//! layout for tools that copy such a directory to a registry. The same component gives the same files: no time and no
//! name of a machine is in them.

mod oci;

use std::env;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use backburner::component;

fn main() -> anyhow::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let (Some(directory), None) = (arguments.next(), arguments.next()) else {
        anyhow::bail!("name the directory to write to, and nothing else");
    };
    let directory = Path::new(&directory);
    write(directory).with_context(|| format!("cannot write to {}", directory.display()))
}

fn write(directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("backburner.wasm"), component::BYTES)?;
    fs::write(
        directory.join("backburner.wasm.sha256"),
        format!("{}  backburner.wasm\n", component::SHA256),
    )?;
    oci::write(&directory.join("oci"), component::BYTES)
}
