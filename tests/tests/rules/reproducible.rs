//! Rules about how the component is built: the same sources and compiler give the same bytes, wherever they are.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use backburner_tests::{component, workspace};

use super::files::below;

#[path = "../../../host/build/compile.rs"]
pub(crate) mod compile;

use compile::{Tools, cargo_home};

/// The tools that this was built with.
fn tools() -> Tools {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let home = std::env::var_os("CARGO_HOME");
    Tools {
        // The compiler of a toolchain is beside its cargo; the one on the path may be another's.
        rustc: Path::new(&cargo).with_file_name("rustc").into(),
        cargo,
        cargo_home: cargo_home(home.as_deref()).expect("cargo has a directory"),
    }
}

fn built() -> Vec<u8> {
    fs::read(component()).expect("the build leaves the component there")
}

/// The project's files elsewhere.
fn copy_of_the_sources(place: &Path) -> PathBuf {
    let copy = place.join("sources");
    for file in below(".") {
        let path = copy.join(&file.path);
        let parent = path.parent().expect("a file is in a directory");
        fs::create_dir_all(parent).expect("directories can be made");
        fs::write(path, file.text).expect("files can be written");
    }
    copy
}

/// Cargo's directory under another name, so that nothing has to be fetched again.
fn other_name_of(cargo_home: &Path, place: &Path) -> PathBuf {
    let other = place.join("cargo");
    fs::create_dir_all(&other).expect("directories can be made");
    for name in ["registry", "config.toml", "config"] {
        let original = cargo_home.join(name);
        if original.exists() {
            symlink(original, other.join(name)).expect("links can be made");
        }
    }
    other
}

#[test]
fn another_build_elsewhere_gives_the_same_bytes() {
    let place = tempfile::tempdir().expect("there is a directory for temporary files");
    let mut tools = tools();
    tools.cargo_home = other_name_of(&tools.cargo_home, place.path());
    let sources = copy_of_the_sources(place.path());
    let target_dir = place.path().join("target");
    let again = tools
        .component(&sources, "backburner-guest", &target_dir)
        .expect("the component builds from a copy of its sources");
    let built = built();
    let first_difference = built.iter().zip(&again).position(|(one, two)| one != two);
    assert!(
        built == again,
        "{} and {} bytes, which differ first at {first_difference:?}",
        built.len(),
        again.len()
    );
}

#[test]
fn the_component_names_no_directory_of_this_machine() {
    let built = String::from_utf8_lossy(&built()).into_owned();
    let tools = tools();
    let sysroot = tools.rustc(&["--print", "sysroot"]);
    let sysroot = sysroot.expect("a compiler knows where it is");
    let places: [OsString; 3] = [
        workspace().into(),
        tools.cargo_home.clone().into(),
        sysroot.trim().into(),
    ];
    for place in places {
        let place = place.to_string_lossy().into_owned();
        assert!(!built.contains(&place), "{place} is in the component");
    }
    // What the names of this machine were replaced with, without which this test would look for the wrong thing.
    assert!(
        built.contains("/registry/serde_json-"),
        "panics name places"
    );
}
