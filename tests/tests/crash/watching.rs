//! A real server whose system calls are watched, where the system allows that.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use backburner_tests::{PATIENCE, Point, Seen, Server, Watch, until};

use crate::scene::Scene;

/// Starts a server that is watched before it is told anything, and killed at a point if there is one; with the watch. It
/// answers every call with a task.
pub(crate) fn watched(scene: &Scene, kill_at: Option<Point>) -> (Server, Watch) {
    let watch = Watch {
        log: scene.path("seen"),
        kill_at,
    };
    // That of an earlier server says nothing of this one. Mostly there is none.
    let _ = fs::remove_file(&watch.log);
    let program = Path::new(env!("CARGO_BIN_EXE_system_calls"));
    let setup = watch.setup(program, &["--direct-limit", "0"]);
    let server = Server::start_with(&scene.dir, &setup);
    until(PATIENCE, "the server to be watched", || {
        let is_known = watch.has_begun();
        is_known.then_some(()).ok_or_else(|| server.stderr())
    });
    (server, watch)
}

/// What was seen of a server that has ended; `None` where the system does not allow to watch, which is said past the
/// captured output.
pub(crate) fn seen(watch: &Watch) -> Option<Vec<Seen>> {
    let seen = watch.seen();
    let refusal = seen.iter().find_map(|seen| match seen {
        Seen::Refused(why) => Some(why),
        _ => None,
    });
    let Some(why) = refusal else {
        return Some(seen);
    };
    // Nothing can be done where even this cannot be written.
    let _ = writeln!(
        std::io::stderr(),
        "NOT RUN: a server whose system calls are watched, since that is refused: {why}"
    );
    None
}
