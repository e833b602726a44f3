//! What is published is what it says it is.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use backburner::component;
use oci_spec::image::{Descriptor, ImageIndex, ImageManifest, MediaType, OciLayout};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

fn run(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backburner-artifact"))
        .args(arguments)
        .output()
        .expect("the program can be started")
}

/// A directory with the files.
fn written() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    let output = run(&[directory.path()]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    directory
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("it is JSON")
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a descriptor of the layout points to, whose size and digest are asserted to be as it says.
fn blob(layout: &Path, descriptor: &Value) -> Vec<u8> {
    let name = descriptor["digest"].as_str().expect("a digest is text");
    let name = name.strip_prefix("sha256:").expect("it is a SHA-256");
    let blob = bytes(&layout.join("blobs/sha256").join(name));
    assert_eq!(sha256(&blob), name, "{descriptor}");
    assert_eq!(descriptor["size"], blob.len(), "{descriptor}");
    blob
}

/// The manifest of a layout, which has to be the only one.
fn manifest(layout: &Path) -> Value {
    let index = json(&bytes(&layout.join("index.json")));
    assert_eq!(index["schemaVersion"], 2);
    let manifests = index["manifests"].as_array().expect("it is a list");
    let [descriptor] = manifests.as_slice() else {
        panic!("there is one manifest: {index}");
    };
    let media_type = "application/vnd.oci.image.manifest.v1+json";
    assert_eq!(descriptor["mediaType"], media_type);
    assert_eq!(
        descriptor["annotations"]["org.opencontainers.image.ref.name"],
        env!("CARGO_PKG_VERSION")
    );
    let manifest = json(&blob(layout, descriptor));
    assert_eq!(manifest["schemaVersion"], 2);
    assert_eq!(manifest["mediaType"], media_type);
    manifest
}

#[test]
fn the_checksum_is_that_of_the_file() {
    let directory = written();
    let component = bytes(&directory.path().join("backburner.wasm"));
    let checksum = bytes(&directory.path().join("backburner.wasm.sha256"));
    assert!(component.starts_with(b"\0asm"), "it is WebAssembly");
    assert_eq!(
        String::from_utf8_lossy(&checksum),
        format!("{}  backburner.wasm\n", sha256(&component))
    );
}

#[test]
fn the_crate_has_the_same_component_and_checksum() {
    let directory = written();
    let component = bytes(&directory.path().join("backburner.wasm"));
    assert!(component == component::BYTES, "they are the same bytes");
    assert_eq!(component::SHA256, sha256(&component));
}

#[test]
fn the_layout_is_a_wasm_artifact() {
    let directory = written();
    let layout = directory.path().join("oci");
    assert_eq!(
        json(&bytes(&layout.join("oci-layout"))),
        json!({ "imageLayoutVersion": "1.0.0" })
    );
    let manifest = manifest(&layout);
    assert_eq!(
        manifest["config"]["mediaType"],
        "application/vnd.wasm.config.v0+json"
    );
    let layers = manifest["layers"].as_array().expect("it is a list");
    let [layer] = layers.as_slice() else {
        panic!("a component is one layer: {manifest}");
    };
    assert_eq!(layer["mediaType"], "application/wasm");
    assert!(
        blob(&layout, layer) == component::BYTES,
        "it is the component"
    );
    let config = json(&blob(&layout, &manifest["config"]));
    assert_eq!(config["architecture"], "wasm");
    assert_eq!(config["os"], "wasip2");
    assert_eq!(config["layerDigests"], json!([layer["digest"]]));
}

#[test]
fn who_knows_the_specification_reads_the_layout() {
    let directory = written();
    let layout = directory.path().join("oci");
    let about = OciLayout::from_file(layout.join("oci-layout")).expect("it is a layout");
    assert_eq!(about.image_layout_version(), "1.0.0");
    let index = ImageIndex::from_file(layout.join("index.json")).expect("it has an index");
    let [manifest] = index.manifests().as_slice() else {
        panic!("there is one manifest: {index:?}");
    };
    assert_eq!(*manifest.media_type(), MediaType::ImageManifest);
    let file = |descriptor: &Descriptor| {
        let digest = descriptor.as_digest_sha256().expect("it is a SHA-256");
        let file = layout.join("blobs/sha256").join(digest);
        let length = fs::metadata(&file).expect("what is named is there").len();
        assert_eq!(descriptor.size(), length, "{descriptor:?}");
        file
    };
    let manifest = ImageManifest::from_file(file(manifest)).expect("it is a manifest");
    let wasm = |kind: &str| MediaType::Other(kind.to_owned());
    let config = manifest.config();
    assert_eq!(
        *config.media_type(),
        wasm("application/vnd.wasm.config.v0+json")
    );
    file(config);
    let [layer] = manifest.layers().as_slice() else {
        panic!("a component is one layer: {manifest:?}");
    };
    assert_eq!(*layer.media_type(), wasm("application/wasm"));
    assert!(
        bytes(&file(layer)) == component::BYTES,
        "it is the component"
    );
}

#[test]
fn the_layout_says_what_the_component_imports_and_exports() {
    let directory = written();
    let layout = directory.path().join("oci");
    let config = json(&blob(&layout, &manifest(&layout)["config"]));
    let names = |list: &str| -> Vec<String> {
        let names = config["component"][list].as_array();
        let names = names.expect("it is a list").iter();
        // The version of the interface is that of the WIT package, and has its own test.
        let names = names.map(|name| name.as_str().expect("a name is text").split('@'));
        names
            .filter_map(|mut parts| parts.next().map(str::to_owned))
            .collect()
    };
    assert_eq!(names("exports"), ["backburner:server/protocol"]);
    for name in ["backburner:server/store", "backburner:server/jobs"] {
        assert!(names("imports").contains(&name.to_owned()), "{config}");
    }
}

#[test]
fn writing_again_gives_the_same_files() {
    let (first, second) = (written(), written());
    let index = |directory: &tempfile::TempDir| bytes(&directory.path().join("oci/index.json"));
    assert_eq!(index(&first), index(&second));
}

#[test]
fn a_wrong_command_line_says_what_to_do() {
    for arguments in [vec![], vec![Path::new("one"), Path::new("two")]] {
        let output = run(&arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("name the directory"), "{message}");
    }
}
