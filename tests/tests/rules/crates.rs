//! Rules about who depends on whom.

use std::collections::BTreeSet;
use std::process::Command;

use backburner_tests::workspace;
use serde_json::Value;

/// What cargo says of this workspace.
fn metadata() -> Value {
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
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

/// A package of the workspace of which this is so.
fn package(metadata: &Value, is_it: impl Fn(&Value) -> bool) -> &Value {
    let packages = metadata["packages"].as_array();
    let packages = packages.expect("a workspace has packages");
    packages
        .iter()
        .find(|it| is_it(it))
        .expect("the package is there")
}

/// The names of the dependencies of one kind (`null` is the ordinary one) of a package of the workspace.
fn dependencies(name: &str, kind: &Value) -> BTreeSet<String> {
    let metadata = metadata();
    let package = package(&metadata, |it| it["name"] == name);
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
fn cargo_run_runs_the_program_without_being_told_which() {
    let metadata = metadata();
    let default = metadata["workspace_default_members"].as_array();
    let [only] = default.map_or(&[][..], Vec::as_slice) else {
        panic!("the README's first command names no package: {default:?}");
    };
    let package = package(&metadata, |it| it["id"] == *only);
    let targets = package["targets"].as_array().expect("a package has some");
    let is_program = |it: &&Value| it["kind"] == serde_json::json!(["bin"]);
    let programs: Vec<&Value> = targets
        .iter()
        .filter(is_program)
        .map(|it| &it["name"])
        .collect();
    assert_eq!(programs, ["backburner"]);
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

/// What compiles WebAssembly. `cranelift-entity`, `cranelift-bitset` and `cranelift-bforest` are collections, which the
/// runtime has too.
const COMPILERS: [&str; 8] = [
    "cranelift",
    "cranelift-codegen",
    "cranelift-frontend",
    "cranelift-native",
    "wasmtime-internal-cranelift",
    "wasmtime-internal-winch",
    "winch-codegen",
    "regalloc2",
];

/// The names of all crates that a package of the workspace is linked with, by its default features.
fn linked(package: &str, edges: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let output = Command::new(cargo)
        .current_dir(workspace())
        .args(["tree", "--package", package, "--edges", edges])
        .args([
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--locked",
            "--offline",
        ])
        .output()
        .expect("cargo can be started");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let text = String::from_utf8(output.stdout).expect("the names of crates are ASCII");
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn no_compiler_is_in_the_shipped_binary() {
    let compilers = |edges: &str| {
        let linked = linked("backburner", edges);
        assert!(
            linked.contains("wasmtime"),
            "{edges}: this rule looks at nothing"
        );
        let found = COMPILERS.iter().filter(|name| linked.contains(**name));
        found.copied().collect::<Vec<_>>()
    };
    assert_eq!(
        compilers("normal"),
        [""; 0],
        "the binary needs none to start"
    );
    // That they are called so still: the build script has one.
    assert!(compilers("normal,build").contains(&"cranelift-codegen"));
}
