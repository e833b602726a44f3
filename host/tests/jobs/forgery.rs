//! A job that writes its own end, or listens where its supervisor should. It runs as the same user, so not everything
//! can be kept from it; but what it wrote is not told while its supervisor can say better, and it can always be
//! stopped.

use std::fs;
use std::path::PathBuf;

use backburner::jobs::{End, Jobs, Loss, Outcome, State, StopCause};
use uuid::Uuid;

use crate::damage::{Damage, assert_nothing_runs, lasting, outcome};
use crate::durability::orphaned;
use crate::lab::{Lab, eventually, mkfifo, runs, shell};

fn outcome_file(lab: &Lab, id: Uuid) -> PathBuf {
    lab.directory(id).join("outcome.json")
}

/// A file that says that a job has ended well: what a job might say of itself.
fn a_good_end(lab: &Lab) -> PathBuf {
    let (id, _) = lab.run(&shell("true"));
    outcome_file(lab, id)
}

fn is_lost(outcome: &Outcome) -> bool {
    matches!(outcome.end, End::Lost { .. })
}

/// Waits until the supervisor has written down which file it listens to, which it does when the command runs already.
fn wait_for_record(lab: &Lab, id: Uuid) {
    let record = lab.directory(id).join("spec.jsonl");
    eventually("the supervisor records what it has started", || {
        let text = fs::read_to_string(&record).expect("it is there");
        text.contains("\"control\"").then_some(())
    });
}

#[test]
fn a_job_that_writes_its_own_end_has_ended_as_its_supervisor_says() {
    let lab = Lab::new();
    let (good, gate) = (a_good_end(&lab), lab.fifo("gate"));
    let good = good.display();
    for forgery in [
        format!("cp '{good}' outcome.json"),
        format!("rm outcome.reserve; cp '{good}' outcome.json"),
        format!("cp '{good}' outcome.reserve; ln outcome.reserve outcome.json"),
        "mkdir outcome.json".to_owned(),
    ] {
        let line = "cd \"$BACKBURNER_DIR/jobs/$BACKBURNER_TASK_ID\" || exit; FORGERY; echo up; \
            read -r _ < \"$BACKBURNER_DIR/gate\"; exit 3";
        let id = lab.start(&shell(&line.replace("FORGERY", &forgery)));
        lab.first_line(id);
        // It panics where the job is said to have ended.
        lab.progress(id);
        fs::write(&gate, "go\n").expect("the job reads it");
        assert_eq!(lab.outcome(id).end, End::Exited { code: 3 }, "{forgery}");
    }
}

#[test]
fn what_is_left_of_a_job_is_killed_though_there_is_an_end_already() {
    let lab = Lab::new();
    let good = a_good_end(&lab);
    let (id, left) = orphaned(&lab);
    fs::copy(good, outcome_file(&lab, id)).expect("there is room");
    let told = outcome(&lab, id);
    assert_eq!(told.end, End::Lost { kind: Loss::Files });
    assert!(!runs(&left), "{told:?}");
    assert_eq!(lab.outcome(id), told, "it never changes");
}

#[test]
fn an_end_that_was_written_while_the_supervisor_lives_does_not_keep_it_from_being_stopped() {
    let lab = Lab::new();
    let good = a_good_end(&lab);
    let (id, supervisor) = lasting(&lab);
    fs::copy(good, outcome_file(&lab, id)).expect("there is room");
    for name in ["outcome.reserve", "control"] {
        fs::remove_file(lab.directory(id).join(name)).expect("it is there");
    }
    assert!(matches!(lab.jobs.inspect(id), Ok(State::Running(_))));
    lab.cancel(id);
    let told = outcome(&lab, id);
    assert!(is_lost(&told), "{told:?}");
    assert_eq!(told.stopped, Some(StopCause::Cancelled));
    assert_nothing_runs(id, &supervisor);
}

#[test]
fn a_cancellation_is_not_left_to_whoever_listens_in_the_place_of_the_supervisor() {
    let lab = Lab::new();
    let (id, supervisor) = lasting(&lab);
    wait_for_record(&lab, id);
    let control = lab.directory(id).join("control");
    Damage::Deleted.apply(&control);
    mkfifo(&control).expect("`mkfifo` is there");
    let listener = fs::File::options().read(true).write(true).open(control);
    let listener = listener.expect("a FIFO that is opened for both does not wait");
    lab.cancel(id);
    assert_eq!(outcome(&lab, id).stopped, Some(StopCause::Cancelled));
    assert_nothing_runs(id, &supervisor);
    drop(listener);
}

#[test]
fn a_job_whose_record_and_control_were_replaced_can_be_cancelled() {
    let lab = Lab::new();
    let (id, supervisor) = lasting(&lab);
    Damage::Garbage.apply(&lab.directory(id).join("spec.jsonl"));
    Damage::Fifo.apply(&lab.directory(id).join("control"));
    lab.cancel(id);
    assert_eq!(outcome(&lab, id).stopped, Some(StopCause::Cancelled));
    assert_nothing_runs(id, &supervisor);
}

#[test]
fn an_end_whose_supervisor_was_killed_in_its_last_instant_is_true() {
    let lab = Lab::new();
    let (id, ended) = lab.run(&shell("exit 3"));
    let reserve = lab.directory(id).join("outcome.reserve");
    fs::hard_link(outcome_file(&lab, id), &reserve).expect("it can have two names");
    assert_eq!(lab.outcome(id), ended);
    assert!(!reserve.exists(), "it is settled");
    assert_eq!(lab.outcome(id), ended);
}

#[test]
fn a_supervisor_that_was_taken_for_dead_does_not_change_what_was_said() {
    let lab = Lab::new();
    let gate = lab.fifo("gate");
    let id = lab.start(&shell(
        "echo $PPID; read -r _ < \"$BACKBURNER_DIR/gate\"; exit 7",
    ));
    let supervisor = lab.first_line(id);
    // Somebody who does not see its processes, as in another container, has said that it is lost.
    let (lost, _) = lab.run(&shell("true"));
    fs::remove_file(outcome_file(&lab, lost)).expect("it is there");
    assert!(is_lost(&lab.outcome(lost)));
    Damage::Fifo.apply(&lab.directory(id).join("alive"));
    fs::copy(outcome_file(&lab, lost), outcome_file(&lab, id)).expect("there is room");
    fs::write(gate, "go\n").expect("the job reads it");
    eventually("the supervisor has ended", || {
        (!runs(&supervisor)).then_some(())
    });
    assert_eq!(lab.outcome(id), lab.outcome(lost));
}
