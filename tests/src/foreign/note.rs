//! What was installed last, so that it is not installed again.

use std::fs;

use super::workbench::Workbench;

/// Where it is noted, on the workbench.
pub(super) const INSTALLED: &str = "installed";

/// Installs, where the files that decide what is installed are not as they were when it was done last.
///
/// # Panics
/// Where one of these files is not on the workbench.
pub(super) fn install_once(bench: &Workbench, manifests: &[&str], install: impl FnOnce()) {
    let manifest = |name: &&str| {
        fs::read_to_string(bench.path().join(name)).expect("the package has its manifests")
    };
    let wanted: String = manifests.iter().map(manifest).collect();
    let note = bench.path().join(INSTALLED);
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return;
    }
    // An installation that fails half-way is not taken for one: what was there is deleted in the beginning.
    if note.exists() {
        fs::remove_file(&note).expect("our own note can be removed");
    }
    install();
    fs::write(&note, wanted).expect("the workbench can be written");
}
