//! Rules about who depends on whom.

use std::collections::BTreeSet;
use std::process::Command;

use backburner_tests::workspace;
use serde_json::Value;

/// The names of the dependencies of one kind (`null` is the ordinary one) of a package of the workspace.
fn dependencies(package: &str, kind: &Value) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let output = Command::new(cargo)
        .current_dir(workspace())
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--locked",
            "--offline",
        ])
        .output()
        .expect("cargo can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"]
        .as_array()
        .expect("a workspace has packages");
    let package = packages
        .iter()
        .find(|it| it["name"] == package)
        .expect("the package is there");
    let dependencies = package["dependencies"]
        .as_array()
        .expect("a package has a list of them");
    let of_kind = dependencies.iter().filter(|it| it["kind"] == *kind);
    of_kind
        .filter_map(|it| it["name"].as_str())
        .map(str::to_owned)
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_core_depends_on_seven_crates() {
    assert_eq!(
        dependencies("backburner-core", &Value::Null),
        set(&[
            "base64",
            "boon",
            "hmac",
            "serde",
            "serde_json",
            "sha2",
            "uuid"
        ])
    );
    assert_eq!(
        dependencies("backburner-core", &Value::from("build")),
        set(&[])
    );
}

#[test]
fn the_guest_depends_on_the_core_and_its_bindings() {
    assert_eq!(
        dependencies("backburner-guest", &Value::Null),
        set(&["backburner-core", "getrandom", "wit-bindgen"])
    );
}

#[test]
fn the_host_depends_on_no_crate_of_this_workspace() {
    for kind in [Value::Null, Value::from("build"), Value::from("dev")] {
        let names = dependencies("backburner", &kind);
        let own: Vec<_> = names
            .iter()
            .filter(|name| name.starts_with("backburner"))
            .collect();
        assert!(own.is_empty(), "the host knows the component only: {own:?}");
    }
}
