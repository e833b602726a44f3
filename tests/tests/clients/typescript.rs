//! The official client in TypeScript with the official Tasks package. Its tests are in `tests/clients/typescript`.

use crate::packages::{command, packages, programs};

#[test]
fn the_typescript_client_passes_its_tests() {
    let Some(bench) = packages() else { return };
    bench.run(command("npm", &programs(bench)).arg("test"));
}
