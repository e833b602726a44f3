//! A real server whose system calls are watched, where the system allows that.
#![cfg(target_os = "linux")]

use std::path::Path;

use backburner_tests::{Point, Seen, Server, Watch, say};

use crate::scene::Scene;

/// Starts a server that is watched from its first instant on, and killed at a point if there is one; with the watch. It
/// answers every call with a task.
pub(crate) fn watched(scene: &Scene, kill_at: Option<Point>) -> (Server, Watch) {
    let watch = Watch {
        log: scene.path("seen"),
        kill_at,
    };
    let program = Path::new(env!("CARGO_BIN_EXE_system_calls"));
    let setup = watch.setup(program, &["--direct-limit", "0"]);
    (Server::start_with(&scene.dir, &setup), watch)
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
    say(&format!(
        "NOT RUN: a server whose system calls are watched, since that is refused: {why}"
    ));
    None
}
