//! A cancellation against everything that can end a task at the same moment, a thousand times each: one end, the one that
//! the job's own record tells, and nothing that survives it.
//!
//! One server starts and another one cancels. The cancellation comes later where the last one came first, and earlier
//! where it came last, so that most races are close ones.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use backburner::data_dir::DataDir;
use backburner::jobs::{End, Jobs, Outcome, State, StopCause, SupervisedJobs};
use backburner_tests::{
    Client, PATIENCE, Server, binary, command_lines, supervisor_of_task, task_of_process, until,
};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::questions::asked;
use crate::random::{Random, seed};
use crate::scene::{Scene, cancel};

const RACES: usize = 1000;

/// By how much a cancellation comes earlier or later than the one before.
const STEP: Duration = Duration::from_micros(100);

/// How many tasks expire side by side, at most: that takes a second at least.
const EXPIRING: usize = 100;

/// How long tasks are started that are to expire side by side. They are cancelled one after the other, too: who started
/// them for as long as they live would come too late for each of them.
const STARTING: Duration = Duration::from_millis(300);

/// How long races with the end of a time to live may take. A thousand of them take half a minute on two processors.
const LONGEST: Duration = Duration::from_secs(600);

/// By how much a cancellation comes earlier than the one before where that one found its task gone, and later where it did
/// not.
const EARLIER: Duration = Duration::from_millis(5);

const EXIT_CODE: u8 = 7;

/// Who decided how a task ended.
enum First {
    Cancellation,
    Other,
}

/// What the races of one kind share.
struct Course {
    scene: Scene,
    starter: Server,
    canceller: Server,
    jobs: SupervisedJobs,
    ids: BTreeSet<String>,
    /// After how many steps the next cancellation comes.
    steps: u32,
    /// How many tasks were cancelled.
    cancelled: usize,
}

impl Course {
    fn new() -> Self {
        let scene = Scene::new();
        let (starter, canceller) = (scene.server(), scene.server());
        let data = DataDir::open(&scene.dir.data()).expect("the servers have made it");
        let jobs = SupervisedJobs::open(data.dir(), data.path(), binary().to_owned());
        Self {
            scene,
            starter,
            canceller,
            jobs: jobs.expect("the servers have made the directory of the jobs"),
            ids: BTreeSet::new(),
            steps: 0,
            cancelled: 0,
        }
    }

    fn start(&mut self, arguments: &Value) -> String {
        let id = self.starter.call(arguments);
        self.ids.insert(id.clone());
        id
    }

    /// Cancels a task when it is time to.
    fn cancel(&mut self, id: &str) {
        thread::sleep(STEP * self.steps);
        cancel(&mut self.canceller, id);
    }

    /// Sees that both servers tell the same end of a task, and that it is the one of the job's record. Gives who came
    /// first.
    fn finish(&mut self, id: &str) -> First {
        let task = self.starter.ended_task(id);
        assert_eq!(self.canceller.task(id), task);
        let outcome = self.outcome(id);
        let status = match (outcome.stopped, &outcome.end) {
            (Some(StopCause::Cancelled), _) => "cancelled",
            (None, End::Lost { .. }) => "failed",
            (None, End::Exited { code }) => {
                assert_eq!(*code, EXIT_CODE, "{outcome:?}");
                let told = &task["result"]["structuredContent"]["exitCode"];
                assert_eq!(*told, *code, "{task}");
                "completed"
            }
            (Some(StopCause::TimedOut), _) => {
                let told = &task["result"]["structuredContent"]["timedOut"];
                assert_eq!(*told, true, "{task}");
                "completed"
            }
            _ => panic!("nobody has done this: {outcome:?}"),
        };
        assert_eq!(task["status"], status, "{outcome:?}: {task}");
        if status == "cancelled" {
            self.cancelled += 1;
            First::Cancellation
        } else {
            First::Other
        }
    }

    /// Sees how a task has ended, and has the next cancellation come closer.
    fn finish_and_adjust(&mut self, id: &str) {
        match self.finish(id) {
            First::Cancellation => self.steps += 1,
            First::Other => self.steps = self.steps.saturating_sub(1),
        }
    }

    /// Sees that a task is gone, for good and for everybody.
    fn expire(&mut self, id: &str) {
        let params = json!({ "taskId": id });
        until(PATIENCE, "the task to expire", || {
            let reply = self.canceller.request("tasks/get", &params, Client::Tasks);
            is_unknown(&reply).then_some(()).ok_or(reply.to_string())
        });
        let reply = self.starter.request("tasks/get", &params, Client::Tasks);
        assert!(is_unknown(&reply), "{reply}");
    }

    fn outcome(&self, id: &str) -> Outcome {
        let id = id.parse().expect("the id of a task is a UUID");
        match self.jobs.inspect(id).expect("the job can be looked at") {
            State::Ended(outcome) => outcome,
            other => panic!("its task has ended: {other:?}"),
        }
    }

    /// Sees that both sides have won, and that nothing is left of the jobs.
    fn close(self) {
        let others = RACES - self.cancelled;
        assert!(
            self.cancelled > 0 && others > 0,
            "{} of {RACES} were cancelled: these were no races",
            self.cancelled
        );
        self.assert_nothing_left();
    }

    fn assert_nothing_left(self) {
        self.scene.wait_for_all_to_go();
        let processes = command_lines().into_iter();
        let left: Vec<_> = processes
            .filter(|(pid, _)| task_of_process(*pid).is_some_and(|id| self.ids.contains(&id)))
            .collect();
        assert_eq!(left, []);
    }
}

/// Cancels jobs that end in another way by themselves, at about the same time.
fn races_by_themselves(arguments: &Value) {
    let mut course = Course::new();
    for _race in 0..RACES {
        let id = course.start(arguments);
        course.cancel(&id);
        course.finish_and_adjust(&id);
    }
    course.close();
}

#[test]
fn a_cancellation_races_with_the_exit_of_the_command() {
    races_by_themselves(&json!({ "command": format!("exit {EXIT_CODE}") }));
}

#[test]
fn a_cancellation_races_with_the_timeout() {
    races_by_themselves(&json!({ "command": "exec sleep 60", "timeoutSeconds": 0.01 }));
}

#[test]
fn a_cancellation_races_with_the_death_of_the_supervisor() {
    let mut course = Course::new();
    for _race in 0..RACES {
        let id = course.start(&json!({ "command": "exec sleep 60" }));
        let supervisor = until(PATIENCE, "the supervisor to be what it is", || {
            supervisor_of_task(&id).ok_or_else(|| "no process supervises it".to_owned())
        });
        let params = json!({ "taskId": id });
        let request = course
            .canceller
            .post("tasks/cancel", &params, Client::Tasks);
        // Here it is the other side that waits, while the request is on its way.
        thread::sleep(STEP * course.steps);
        kill_if_there(supervisor);
        course.canceller.reply(&json!(request));
        match course.finish(&id) {
            First::Cancellation => course.steps = course.steps.saturating_sub(1),
            First::Other => course.steps += 1,
        }
    }
    course.close();
}

#[test]
fn a_cancellation_races_with_the_answer_that_ends_the_command() {
    let mut course = Course::new();
    let command = format!(
        "'{}' ask Sure? --text && exit {EXIT_CODE}",
        binary().display()
    );
    for _race in 0..RACES {
        let id = course.start(&json!({ "command": command }));
        let requests = asked(&mut course.starter, &id);
        let keys = requests.as_object().expect("requests have keys").keys();
        let answer = json!({ "action": "accept", "content": { "answer": "yes" } });
        let answers: serde_json::Map<_, _> =
            keys.map(|key| (key.clone(), answer.clone())).collect();
        let update = json!({ "taskId": id, "inputResponses": answers });
        let request = course.starter.post("tasks/update", &update, Client::Asking);
        course.cancel(&id);
        course.starter.reply(&json!(request));
        course.finish_and_adjust(&id);
    }
    course.close();
}

/// Races with the end of a time to live.
struct Expiry {
    course: Course,
    random: Random,
    /// How much earlier the next cancellation comes: more on a machine on which everything takes a while.
    earlier: Duration,
    /// How many cancellations found their task.
    in_time: usize,
    /// How many found it gone.
    too_late: usize,
}

impl Expiry {
    fn new() -> Self {
        Self {
            course: Course::new(),
            random: Random::new(seed()),
            earlier: Duration::ZERO,
            in_time: 0,
            too_late: 0,
        }
    }

    /// Some races side by side.
    fn race(&mut self) {
        let started = self.start();
        for (id, at) in &started {
            self.cancel(id, *at);
        }
        for (id, _) in &started {
            self.course.expire(id);
        }
    }

    /// Starts tasks that live for a second, and gives when each was known.
    fn start(&mut self) -> Vec<(String, Instant)> {
        let call = json!({ "command": "exec sleep 60", "ttlSeconds": 1 });
        let begun = Instant::now();
        let mut started = Vec::new();
        while started.len() < EXPIRING && (started.is_empty() || begun.elapsed() < STARTING) {
            started.push((self.course.start(&call), Instant::now()));
        }
        started
    }

    /// Cancels a task at about the end of its life.
    fn cancel(&mut self, id: &str, started: Instant) {
        // Up to 10 ms before the end, and as long after it.
        let age = Duration::from_micros(990_000 + self.random.below(20_000));
        let due = started + age.saturating_sub(self.earlier);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let params = json!({ "taskId": id });
        let canceller = &mut self.course.canceller;
        let reply = canceller.request("tasks/cancel", &params, Client::Tasks);
        if is_unknown(&reply) {
            self.too_late += 1;
            self.earlier += EARLIER;
        } else {
            assert!(reply.get("result").is_some(), "{reply}");
            self.in_time += 1;
            self.earlier = self.earlier.saturating_sub(EARLIER);
        }
    }

    /// Whether both sides have won, and there were enough races.
    fn is_over(&self) -> bool {
        self.in_time + self.too_late >= RACES && self.in_time > 0 && self.too_late > 0
    }
}

#[test]
fn a_cancellation_races_with_the_end_of_the_tasks_time_to_live() {
    let mut expiry = Expiry::new();
    let begun = Instant::now();
    while !expiry.is_over() {
        let (in_time, too_late) = (expiry.in_time, expiry.too_late);
        let is_hopeful = in_time + too_late < 2 * RACES && begun.elapsed() < LONGEST;
        assert!(
            is_hopeful,
            "{in_time} came in time and {too_late} too late: these were no races"
        );
        expiry.race();
    }
    expiry.course.assert_nothing_left();
}

/// Kills a process of ours, unless it was quicker.
pub(crate) fn kill_if_there(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let killed = kill_process(pid.expect("a process id"), Signal::KILL);
    assert!(matches!(killed, Ok(()) | Err(Errno::SRCH)), "{killed:?}");
}

fn is_unknown(reply: &Value) -> bool {
    reply["error"]["code"] == -32602
}
