//! The JavaScript host.

use std::fs;
use std::path::Path;
use std::process::Command;

use backburner_tests::conformance::kit;
use backburner_tests::{Setup, component, workspace};

use crate::corpus::assert_answers_as_the_native_host;
use crate::tools::{can_test, works};
use crate::workbench::Workbench;

/// What npm and the build leave in the package's directory, and our note of what was installed.
const MADE: [&str; 3] = ["node_modules", "dist", INSTALLED];

/// The files that say what is installed, as they were when it was.
const INSTALLED: &str = "installed";

/// What decides what npm installs.
const MANIFESTS: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

#[test]
fn the_javascript_host_passes_its_tests_and_answers_as_the_transcripts_say() {
    if !can_test("the JavaScript host", missing()) {
        return;
    }
    let bench = Workbench::open("node");
    bench.copy(&workspace().join("host/node"), &MADE);
    install(&bench);
    // Chromium is unpacked there, and one of an unpacking that was interrupted would be taken for a whole one.
    let scratch = bench.path().join("scratch");
    fs::create_dir(&scratch)
        .expect("the workbench can be written, and nothing else is called that");
    // Which builds it first.
    let mut test = Command::new("npm");
    test.arg("test")
        .env("BACKBURNER_COMPONENT", component())
        .env("BACKBURNER_CONFORMANCE", kit())
        .env("TMPDIR", scratch);
    bench.run(&mut test);
    assert_answers_as_the_native_host(&setup(bench.path()));
}

fn missing() -> Option<&'static str> {
    let is_new_enough = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
    if !cfg!(target_os = "linux") {
        Some("Linux, which it needs for its jobs,")
    } else if !works("node", &["-e", is_new_enough]) {
        Some("Node 20 or later")
    } else if !works("npm", &["--version"]) {
        Some("npm")
    } else {
        None
    }
}

/// Installs what the package needs, where that is not what was installed last.
fn install(bench: &Workbench) {
    let manifest = |name: &&str| {
        fs::read_to_string(bench.path().join(name)).expect("the package has its manifests")
    };
    let wanted: String = MANIFESTS.iter().map(manifest).collect();
    let note = bench.path().join(INSTALLED);
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return;
    }
    // An installation that fails half-way is not taken for one: npm begins by deleting what was there.
    if note.exists() {
        fs::remove_file(&note).expect("our own note can be removed");
    }
    bench.run(Command::new("npm").arg("ci"));
    fs::write(&note, wanted).expect("the workbench can be written");
}

/// How its stdio server is started.
fn setup(package: &Path) -> Setup {
    Setup {
        program: vec![
            // The one that the package brings: the machine's own may be too old for the store.
            package.join("node_modules/.bin/node").into(),
            "--disable-warning=ExperimentalWarning".into(),
            package.join("bin/backburner-node.js").into(),
        ],
        ..Setup::default()
    }
}
