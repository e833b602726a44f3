//! What the engine does where its own directories fail it, and what it clears away.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use cap_std::ambient_authority;

use super::super::model::End;
use super::*;

fn engine() -> (tempfile::TempDir, SupervisedJobs) {
    let place = tempfile::tempdir().expect("there is room");
    let data = Dir::open_ambient_dir(place.path(), ambient_authority()).expect("it is there");
    let jobs = SupervisedJobs::open(&data, place.path(), "/no/such/program".into());
    (place, jobs.expect("it can be opened"))
}

/// A job that was asked for like this, and has no supervisor.
fn furnished(jobs: &SupervisedJobs, id: Uuid, origin: &Origin) -> JobDirectory {
    let made = jobs.jobs.create_dir(id.to_string());
    made.expect("the name is new");
    let directory = jobs.find(id).expect("it is readable").expect("it is there");
    let record = directory::record(origin, &Spec::of_line("true"));
    let furnished = directory.furnish(&record.expect("it can be written"));
    furnished.expect("there is room");
    directory
}

fn running_ms(jobs: &SupervisedJobs, id: Uuid) -> u64 {
    match jobs.inspect(id) {
        Ok(State::Running(progress)) => progress.running_ms,
        other => panic!("somebody holds what says that it runs: {other:?}"),
    }
}

#[test]
fn a_job_that_is_over_is_not_said_to_run_longer_than_its_outcome_tells() {
    let (_place, jobs) = engine();
    let id = Uuid::from_u128(17);
    let origin = Origin {
        monotonic_ms: 0,
        ..jobs.origin()
    };
    let directory = furnished(&jobs, id, &origin);
    let alive = directory.hold_alive().expect("it is there");
    assert!(running_ms(&jobs, id) > 5);
    let outcome = Outcome {
        started_at: origin.started_at,
        ended_at: origin.started_at + 5,
        duration_ms: 5,
        end: End::Exited { code: 0 },
        stopped: None,
        output_bytes: 0,
        dropped_bytes: 0,
        leftovers: Vec::new(),
    };
    directory.note_end(&outcome).expect("there is room");
    assert_eq!(running_ms(&jobs, id), 5);
    directory.conclude(&outcome).expect("there is room");
    assert_eq!(running_ms(&jobs, id), 5);
    drop(alive);
    let state = jobs.inspect(id).expect("it can be inspected");
    assert_eq!(state, State::Ended(outcome));
}

#[test]
fn how_long_a_job_runs_does_not_depend_on_whose_clock_its_start_was_read_from() {
    let (_place, jobs) = engine();
    let id = Uuid::from_u128(17);
    // A day ahead of this one.
    let origin = Origin {
        started_at: crate::clock::now_ms() - 60_000,
        monotonic_ms: clock::monotonic_ms() + 86_400_000,
        time_namespace: Some(17),
        ..jobs.origin()
    };
    let directory = furnished(&jobs, id, &origin);
    let _alive = directory.hold_alive().expect("it is there");
    let running_ms = running_ms(&jobs, id);
    // Unless the machine was started less than a minute ago.
    let known_ms = clock::monotonic_ms().min(60_000);
    assert!(running_ms >= known_ms - 1, "{running_ms} of {known_ms}");
}

#[test]
fn a_job_without_a_supervisor_that_cannot_be_taken_away_was_not_started() {
    let (place, jobs) = engine();
    let workshop = place.path().join("jobs/.workshop");
    std::fs::remove_dir(&workshop).expect("it is empty");
    // Or it would be made anew.
    std::fs::write(&workshop, "").expect("there is room");
    let id = Uuid::from_u128(17);
    furnished(&jobs, id, &jobs.origin());
    let error = jobs.withdraw(id, ErrorKind::NotFound.into());
    assert!(matches!(error, StartError::Supervisor(_)), "{error:?}");
    let state = jobs.inspect(id).expect("it can be inspected");
    let State::Ended(outcome) = state else {
        panic!("it has ended: {state:?}");
    };
    assert!(matches!(outcome.end, End::NotStarted { .. }), "{outcome:?}");
}

#[test]
fn a_workshop_that_somebody_deleted_is_made_anew() {
    let (place, jobs) = engine();
    let workshop = place.path().join("jobs/.workshop");
    let id = Uuid::from_u128(17);
    std::fs::remove_dir(&workshop).expect("it is empty");
    let record = directory::record(&jobs.origin(), &Spec::of_line("true"));
    let record = record.expect("it can be written");
    let established = jobs.establish(id, |directory| directory.furnish(&record));
    assert!(established.expect("it can be built").is_some());
    std::fs::remove_dir(&workshop).expect("it is empty");
    jobs.remove(id).expect("it can be taken away");
    assert!(jobs.find(id).expect("it is readable").is_none());
}

#[test]
fn what_is_in_the_place_of_the_workshop_is_neither_followed_nor_in_the_way() {
    let (place, jobs) = engine();
    drop(jobs);
    let data = Dir::open_ambient_dir(place.path(), ambient_authority()).expect("it is there");
    let [workshop, theirs] = ["jobs/.workshop", "jobs/theirs"].map(|name| place.path().join(name));
    std::fs::create_dir(&theirs).expect("there is room");
    for is_link in [true, false] {
        std::fs::remove_dir(&workshop).expect("it is empty");
        let put = match is_link {
            true => std::os::unix::fs::symlink("theirs", &workshop),
            false => std::fs::write(&workshop, ""),
        };
        put.expect("there is room");
        let jobs = SupervisedJobs::open(&data, place.path(), "/no/such/program".into());
        jobs.expect("it can be opened");
        let found = std::fs::symlink_metadata(&workshop).expect("it is there");
        assert!(found.is_dir(), "a link: {is_link}");
    }
    assert!(theirs.is_dir());
}

#[test]
fn the_mode_of_its_directories_is_corrected() {
    let (place, jobs) = engine();
    drop(jobs);
    let data = Dir::open_ambient_dir(place.path(), ambient_authority()).expect("it is there");
    let directories = ["jobs/.workshop", "jobs"].map(|name| place.path().join(name));
    for wrong in [0o000, 0o500, 0o755] {
        for directory in &directories {
            let wrong = std::fs::Permissions::from_mode(wrong);
            std::fs::set_permissions(directory, wrong).expect("it is ours");
        }
        let jobs = SupervisedJobs::open(&data, place.path(), "/no/such/program".into());
        jobs.expect("it can be opened");
        for directory in &directories {
            let mode = std::fs::metadata(directory).expect("it is there").mode();
            assert_eq!(mode & 0o777, 0o700, "{wrong:o}");
        }
    }
}

#[test]
fn what_a_link_in_the_place_of_the_jobs_leads_to_keeps_its_mode() {
    let place = tempfile::tempdir().expect("there is room");
    let data = Dir::open_ambient_dir(place.path(), ambient_authority()).expect("it is there");
    data.create_dir("elsewhere").expect("there is room");
    let wrong = cap_std::fs::Permissions::from_mode(0o755);
    data.set_permissions("elsewhere", wrong)
        .expect("it is ours");
    data.symlink("elsewhere", "jobs").expect("there is room");
    // Whether it is used is another question.
    let _ = SupervisedJobs::open(&data, place.path(), "/no/such/program".into());
    let mode = data.metadata("elsewhere").expect("it is there").mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn what_was_moved_aside_is_kept_for_a_week() {
    let (place, jobs) = engine();
    let workshop = place.path().join("jobs/.workshop");
    std::fs::write(workshop.join("damaged-file"), "?").expect("there is room");
    std::os::unix::fs::symlink("/etc", workshop.join("damaged-link")).expect("there is room");
    let left = || std::fs::read_dir(&workshop).expect("it is there").count();
    jobs.tidy(SystemTime::now() + ASIDE - Duration::from_secs(60));
    assert_eq!(left(), 2);
    jobs.tidy(SystemTime::now() + ASIDE + Duration::from_secs(60));
    assert_eq!(left(), 0);
    assert!(std::path::Path::new("/etc/passwd").exists());
}

#[test]
fn what_failed_is_told_and_not_what_could_not_be_cleared_away() {
    let (place, jobs) = engine();
    let workshop = place.path().join("jobs/.workshop");
    let failed = jobs.establish(Uuid::from_u128(18), |_| -> io::Result<()> {
        // Cleared away by somebody, with all that was in it, and now something else is there.
        let built = std::fs::read_dir(&workshop)?
            .next()
            .expect("it is built here")?;
        std::fs::remove_dir(built.path())?;
        std::fs::write(built.path(), "")?;
        Err(ErrorKind::StorageFull.into())
    });
    let error = failed.expect_err("it failed");
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}

/// Whether somebody who waits for the end of a job that was found like this goes on at once.
fn goes_on_at_once(found: io::Result<Option<Liveness>>) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let mut ended = std::pin::pin!(until_ended(found));
        let looked = std::future::poll_fn(|cx| {
            let look = ended.as_mut().poll(cx);
            std::task::Poll::Ready(look.is_ready())
        });
        looked.await
    })
}

#[test]
fn whoever_cannot_be_told_of_an_end_does_not_look_over_and_over() {
    let no_descriptor = rustix::io::Errno::MFILE.into();
    assert!(!goes_on_at_once(Err(no_descriptor)));
    assert!(goes_on_at_once(Ok(Some(Liveness::Dead))));
    assert!(goes_on_at_once(Ok(None)));
}
