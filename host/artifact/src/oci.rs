//! An OCI image layout with one component in it: a directory that tools copy to a registry.
//!
//! Source: OCI Image Format 1.1, Image Layout and Image Manifest; CNCF TAG Runtime, Wasm OCI Artifact layout.

use std::fs;
use std::path::Path;

use anyhow::bail;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use wit_component::DecodedWasm;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const COMPONENT: &str = "application/wasm";

/// The configuration has to say when it was made. A moment that never changes keeps the digests the same.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// Writes a layout with this component, tagged with the version of this package. What was in the directory before
/// stays, unless it has the same name.
///
/// # Errors
/// Where a file cannot be written, or the bytes are no component.
pub(crate) fn write(directory: &Path, component: &[u8]) -> anyhow::Result<()> {
    let blobs = directory.join("blobs").join("sha256");
    fs::create_dir_all(&blobs)?;
    let layer = blob(&blobs, COMPONENT, component)?;
    let config = blob(&blobs, CONFIG, &config(component, &layer)?)?;
    let mut manifest = blob(&blobs, MANIFEST, &manifest(&config, &layer)?)?;
    manifest["annotations"] =
        json!({ "org.opencontainers.image.ref.name": env!("CARGO_PKG_VERSION") });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest],
    });
    fs::write(directory.join("index.json"), serde_json::to_vec(&index)?)?;
    let layout = json!({ "imageLayoutVersion": "1.0.0" });
    fs::write(directory.join("oci-layout"), serde_json::to_vec(&layout)?)?;
    Ok(())
}

/// Writes a blob under its digest, and gives its descriptor.
fn blob(blobs: &Path, media_type: &str, bytes: &[u8]) -> anyhow::Result<Value> {
    let digest = sha256(bytes);
    fs::write(blobs.join(&digest), bytes)?;
    Ok(json!({
        "mediaType": media_type,
        "digest": format!("sha256:{digest}"),
        "size": bytes.len(),
    }))
}

/// What a runtime wants to know before it fetches the component.
fn config(component: &[u8], layer: &Value) -> anyhow::Result<Vec<u8>> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("what is to be published is no component");
    };
    let world = &resolve.worlds[world];
    let imports: Vec<String> = world
        .imports
        .keys()
        .map(|key| resolve.name_world_key(key))
        .collect();
    let exports: Vec<String> = world
        .exports
        .keys()
        .map(|key| resolve.name_world_key(key))
        .collect();
    let config = json!({
        "created": CREATED,
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [layer["digest"]],
        "component": { "imports": imports, "exports": exports },
    });
    Ok(serde_json::to_vec(&config)?)
}

fn manifest(config: &Value, layer: &Value) -> anyhow::Result<Vec<u8>> {
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": [layer],
        "annotations": {
            "org.opencontainers.image.title": "backburner",
            "org.opencontainers.image.description": "An MCP server for durable tasks, as a component",
            "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
            "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
        },
    });
    Ok(serde_json::to_vec(&manifest)?)
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
