//! What would survive a power failure is on the disk before anybody is told of it: seen by the system calls of the shipped
//! binary and of its supervisors. A kill shows nothing of that, since the system keeps what a dead process has written.
#![cfg(target_os = "linux")]

use std::path::Path;

use backburner_tests::{Call, Seen};

use crate::scene::{Scene, assert_exit_code};
use crate::watching::{seen, watched};

/// What was seen, in its order.
struct Story(Vec<Seen>);

impl Story {
    /// Where something was seen for the first time from `start` on.
    fn find(&self, start: usize, what: &str, is_it: impl Fn(&Seen) -> bool) -> usize {
        let found = self.0[start..].iter().position(is_it);
        found.map_or_else(
            || panic!("{what} is not in {:?}", &self.0[start..]),
            |at| start + at,
        )
    }

    /// Where this was seen for the first time from `start` on.
    fn at(&self, start: usize, wanted: &Seen) -> usize {
        self.find(start, &format!("{wanted:?}"), |seen| seen == wanted)
    }

    /// Where something was seen for the last time.
    fn last(&self, what: &str, is_it: impl Fn(&Seen) -> bool) -> usize {
        let found = self.0.iter().rposition(is_it);
        found.unwrap_or_else(|| panic!("{what} is not in {:?}", self.0))
    }

    /// Sees that what was written to a file by whoever is right for it was synced between two moments, after the last write.
    fn assert_synced(&self, (from, to): (usize, usize), who: fn(Call, &Path) -> Seen, file: &Path) {
        let part = &self.0[from..to];
        let last = |call| part.iter().rposition(|seen| *seen == who(call, file));
        let (written, synced) = (last(Call::Write), last(Call::Sync));
        assert!(
            written.is_some() && synced > written,
            "{} is written and then synced: {part:?}",
            file.display()
        );
    }
}

fn server(call: Call, place: &Path) -> Seen {
    Seen::Server(call, place.to_owned())
}

fn other(call: Call, place: &Path) -> Seen {
    Seen::Other(call, place.to_owned())
}

fn is_reply(seen: &Seen) -> bool {
    *seen == Seen::Reply
}

#[test]
fn a_task_and_its_end_are_on_the_disk_before_they_are_told() {
    let scene = Scene::new();
    let (mut client, watch) = watched(&scene, None);
    client.assert_alive();
    let id = client.run(&scene.line(7));
    scene.wait_for_log(1);
    scene.open_gate();
    // So that the next reply is the one that tells the end.
    scene.wait_for_job_to_end(&id);
    assert_exit_code(&client.task(&id), 7);
    client.close();
    let Some(seen) = seen(&watch) else { return };
    let story = Story(seen);

    // As the system names it.
    let data = scene.dir.data().canonicalize().expect("the server made it");
    let log = data.join("backburner.db-wal");
    let jobs = data.join("jobs");
    let job = jobs.join(&id);
    let alive = story.find(0, "the first reply", is_reply);
    let told = story.find(alive + 1, "the reply to the call", is_reply);
    let ended = story.find(told + 1, "the reply to the look", is_reply);

    // The record, before the start of the job and before the reply.
    let started = story.find(alive, "the supervisor", |it| {
        *it == other(Call::Execute, Path::new(""))
    });
    story.assert_synced((alive, started.min(told)), server, &log);
    // The output that the outcome counts, and the outcome, before it has its name.
    let named = story.at(started, &other(Call::Link, &job));
    story.assert_synced((started, named), other, &job.join("outcome.reserve"));
    // The names of the outcome and of the job, before the end is told.
    let name = story.at(named, &other(Call::Sync, &job));
    let job_name = story.at(named, &other(Call::Sync, &jobs));
    // The end in the record, before it is told.
    assert!(name < ended && job_name < ended, "{:?}", story.0);
    story.assert_synced((named, ended), server, &log);
}

#[test]
fn a_new_data_directory_is_on_the_disk_before_the_first_task_is_told() {
    let scene = Scene::new();
    let (mut client, watch) = watched(&scene, None);
    client.assert_alive();
    client.run("true");
    client.close();
    let Some(seen) = seen(&watch) else { return };
    let story = Story(seen);
    let data = scene.dir.data().canonicalize().expect("the server made it");
    let told = story.last("the reply to the call", is_reply);
    // The names in it: the store's, and that of the directory of the jobs.
    for (made, name) in [
        (
            story.at(0, &server(Call::Write, &data.join("backburner.db"))),
            "the store",
        ),
        (story.at(0, &server(Call::MakeDirectory, &data)), "jobs"),
    ] {
        let synced = story.at(made, &server(Call::Sync, &data));
        assert!(synced < told, "{name}: {:?}", story.0);
    }
}
