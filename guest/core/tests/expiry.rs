//! Time to live, and the sweep.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use backburner_core::imports::{JobState, StopReason};
use serde_json::json;

use support::faults::Fault;
use support::messages::{Client, about, run};
use support::world::EPOCH;
use support::{FakeWorld, Host};

const DAY: u64 = 24 * 60 * 60 * 1000;

fn sweep(host: &Host, world: &mut FakeWorld) -> Option<u64> {
    host.server.sweep(world, world.clock)
}

/// A world, its host, and a task that runs this command and lives for a minute.
fn minute(command: &str) -> (FakeWorld, Host, String) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(
        &mut world,
        &json!({ "command": command, "ttlSeconds": 60, "idempotencyKey": "k" }),
    );
    (world, host, id)
}

#[test]
fn a_task_has_expired_for_its_owner_whether_swept_or_not() {
    let (mut world, mut host, id) = minute("sleep 1");
    world.clock = EPOCH + 59_999;
    assert_eq!(host.get(&mut world, &id)["result"]["status"], "completed");
    world.clock = EPOCH + 60_000;
    let unswept = host.get(&mut world, &id);
    assert_eq!(unswept["error"]["code"], -32602);
    assert!(unswept.to_string().contains("expired"));
    assert!(unswept.to_string().contains("stopped if it still runs"));
    sweep(&host, &mut world);
    assert_eq!(host.get(&mut world, &id), unswept);
    for method in ["tasks/cancel", "tasks/get"] {
        assert_eq!(host.ask(&mut world, &about(2, method, &id)), unswept);
    }
}

#[test]
fn an_expired_task_is_unknown_to_others_and_later_to_all() {
    let (mut world, mut host, id) = minute("sleep 1");
    let mut other = Host::new("{}", "other");
    let unknown = other.get(&mut world, &id);
    world.clock = EPOCH + 60_000;
    assert_eq!(other.get(&mut world, &id), unknown);
    sweep(&host, &mut world);
    assert_eq!(other.get(&mut world, &id), unknown);
    world.clock += 7 * DAY;
    assert_eq!(host.get(&mut world, &id), unknown);
    assert_eq!(sweep(&host, &mut world), None);
    assert_eq!(world.store.keys(""), Vec::<&str>::new());
    assert_eq!(host.get(&mut world, &id), unknown);
}

#[test]
fn when_a_task_is_forgotten_does_not_depend_on_when_a_sweep_came() {
    // In time, late, after the task is forgotten, and never.
    let forgotten = EPOCH + 60_000 + 7 * DAY;
    for swept_at in [EPOCH + 60_000, EPOCH + 3 * DAY, forgotten + DAY, u64::MAX] {
        let (mut world, mut host, id) = minute("sleep 1");
        let mut told = |world: &mut FakeWorld, now: u64| {
            world.clock = now;
            host.get(world, &id)["error"]["message"].to_string()
        };
        let remembered = told(&mut world, EPOCH + 60_000);
        assert!(remembered.contains("expired"), "{remembered}");
        for now in [
            forgotten - 1,
            forgotten,
            forgotten + DAY,
            forgotten + 2 * DAY,
        ] {
            if swept_at <= now {
                Host::new("{}", "user").server.sweep(&mut world, swept_at);
            }
            let is_remembered = told(&mut world, now) == remembered;
            assert_eq!(is_remembered, now < forgotten, "{swept_at} {now}");
        }
    }
}

#[test]
fn a_sweep_stops_what_runs_and_comes_back_for_the_rest() {
    let (mut world, host, id) = minute("trap; sleep 600");
    assert_eq!(sweep(&host, &mut world), Some(EPOCH + 60_000));
    world.clock = EPOCH + 60_000;
    assert_eq!(sweep(&host, &mut world), Some(EPOCH + 61_000));
    assert_eq!(world.jobs.running(world.clock), [id.as_str()]);
    assert_eq!(world.store.keys("key/").len(), 1);
    world.clock = EPOCH + 64_000;
    assert_eq!(sweep(&host, &mut world), Some(EPOCH + 60_000 + 7 * DAY));
    let left = [
        format!("expiry/{:020}/{id}", EPOCH + 60_000 + 7 * DAY),
        format!("task/{id}"),
    ];
    assert_eq!(world.store.keys(""), left);
    assert_eq!(
        world
            .store
            .value(&left[1])
            .map(|value| value.contains("sleep")),
        Some(false)
    );
}

#[test]
fn a_job_that_its_supervisor_stopped_for_its_age_is_an_expired_task() {
    let (mut world, mut host, id) = minute("sleep 600");
    // This server's clock is behind the supervisor's.
    host.skew_ms = -30_000;
    world.clock = EPOCH + 60_100;
    let reply = host.get(&mut world, &id);
    assert!(reply.to_string().contains("expired"), "{reply}");
}

#[test]
fn a_job_that_cannot_be_deleted_is_tried_again_and_does_not_make_the_sweep_spin() {
    let (mut world, host, id) = minute("sleep 1");
    world.clock = EPOCH + 60_000;
    // scan, scan, record, inspect, inspect, key, commit, forget
    world.faults.plan(7, Fault::NoSpace);
    assert_eq!(sweep(&host, &mut world), Some(EPOCH + 120_000));
    world.clock = EPOCH + 120_000;
    assert_eq!(sweep(&host, &mut world), Some(EPOCH + 60_000 + 7 * DAY));
    assert_eq!(world.store.keys("task/"), [format!("task/{id}")]);
}

#[test]
fn an_expired_job_is_deleted_a_minute_later_whatever_interrupted_the_sweep() {
    let faults = [
        Fault::NoSpace,
        Fault::Unclear,
        Fault::CrashBefore,
        Fault::CrashAfter,
    ];
    // One sweep makes fewer calls than this: the last ones interrupt nothing.
    for (call, fault) in (0..20).flat_map(|call| faults.map(|fault| (call, fault))) {
        let (mut world, host, id) = minute("sleep 1");
        world.clock = EPOCH + 60_000;
        world.faults.plan(call, fault);
        sweep(&host, &mut world);
        world.faults.clear();
        world.clock += 60_000;
        sweep(&host, &mut world);
        let job = world.jobs.inspect(world.clock, &id);
        assert_eq!(job, JobState::Unknown, "{fault:?} of call {call}");
        assert_eq!(world.store.keys("task/"), [format!("task/{id}")]);
        world.clock += 7 * DAY;
        assert_eq!(sweep(&host, &mut world), None, "{fault:?} of call {call}");
        assert_eq!(world.store.keys(""), Vec::<&str>::new());
    }
}

#[test]
fn a_sweep_never_asks_to_be_called_at_once_after_a_failure() {
    for call in 0..12 {
        let (mut world, host, _) = minute("sleep 1");
        world.clock = EPOCH + 60_000;
        world.faults.plan(call, Fault::Unclear);
        let next = sweep(&host, &mut world).expect("there is a tombstone at least");
        assert!(
            next >= world.clock + 60_000,
            "call {call}: {}",
            next - world.clock
        );
        world.faults.clear();
        world.clock += 60_000;
        sweep(&host, &mut world);
        assert_eq!(world.store.keys("live/").len(), 0, "call {call}");
        assert_eq!(world.store.keys("expiry/").len(), 1, "call {call}");
    }
}

#[test]
fn a_sweep_writes_down_what_ended_and_what_never_began() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let ended = host.task(&mut world, &json!({ "command": "sleep 1; exit 2" }));
    let running = host.task(&mut world, &json!({ "command": "sleep 600" }));
    world.faults.plan(1, Fault::CrashBefore);
    host.send(
        &mut world,
        &run(1, Client::Tasks, &json!({ "command": "true" })),
    );
    world.faults.clear();
    world.clock += 2_000;
    // From when the sweep came upon it.
    let certain_at = world.clock + 10_000;
    assert_eq!(sweep(&host, &mut world), Some(certain_at));
    assert!(
        !world
            .store
            .keys("live/")
            .contains(&format!("live/{ended}").as_str())
    );
    world.clock = certain_at;
    assert_eq!(sweep(&host, &mut world), None);
    assert_eq!(world.store.keys("live/"), [format!("live/{running}")]);
    assert_eq!(world.jobs.starts.len(), 2);
}

#[test]
fn a_sweep_is_bounded_and_a_pass_ends() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    for _ in 0..250 {
        host.task(
            &mut world,
            &json!({ "command": "sleep 600", "ttlSeconds": 60 }),
        );
    }
    let mut sweeps = 0;
    while sweep(&host, &mut world) == Some(world.clock) {
        sweeps += 1;
    }
    assert_eq!(sweeps, 2);
    world.clock += 60_000;
    for page in 1..=3 {
        let reads = world.store.reads;
        let next = sweep(&host, &mut world);
        assert!(
            world.store.reads - reads < 700,
            "{}",
            world.store.reads - reads
        );
        assert_eq!(next == Some(world.clock), page < 3, "page {page}: {next:?}");
    }
    assert_eq!(world.store.keys("live/").len(), 0);
    assert_eq!(world.store.keys("expiry/").len(), 250);
}

#[test]
fn a_store_that_gives_less_than_it_is_asked_for_is_swept_as_well() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    for seconds in [60, 600] {
        for _ in 0..60 {
            let call = json!({ "command": "sleep 1", "ttlSeconds": seconds });
            host.task(&mut world, &call);
        }
    }
    for number in 0..60 {
        world
            .store
            .put(&format!("used-state/{:020}/{number:032x}", 1_000), "{}");
    }
    world.store.page = Some(7);
    world.clock += 60_000;
    let mut sweeps = 0;
    while sweep(&host, &mut world) == Some(world.clock) {
        sweeps += 1;
        assert!(sweeps < 10, "it comes to an end");
    }
    assert_eq!(world.store.keys("live/"), Vec::<&str>::new());
    assert_eq!(world.store.keys("used-state/"), Vec::<&str>::new());
    assert_eq!(world.store.keys("sweep/"), Vec::<&str>::new());
    assert_eq!(world.store.keys("expiry/").len(), 120);
    assert_eq!(
        sweep(&host, &mut world),
        Some(EPOCH + 600_000),
        "of 60 there is a tombstone"
    );
}

#[test]
fn a_task_at_which_an_instance_traps_stands_in_nobodys_way() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    let call = json!({ "command": "sleep 1; echo hi" });
    let mut ids: Vec<_> = (0..5).map(|_| host.task(&mut world, &call)).collect();
    let expiring = host.task(
        &mut world,
        &json!({ "command": "sleep 1", "ttlSeconds": 60 }),
    );
    world.store.put("used-state/00000000000000001000/a", "{}");
    ids.sort();
    for (place, poison) in ids.iter().enumerate() {
        let mut world = world.clone();
        world.clock += 60_000;
        world.jobs.poison = Some(poison.clone());
        let mut traps = 0;
        for _ in 0..4 {
            let sweep = || sweep(&host, &mut world);
            traps += usize::from(catch_unwind(AssertUnwindSafe(sweep)).is_err());
        }
        assert!((1..=2).contains(&traps), "{place}: {traps}");
        assert_eq!(
            world.store.keys("live/"),
            [format!("live/{poison}")],
            "{place}"
        );
        assert_eq!(world.store.keys("used-state/"), Vec::<&str>::new());
        let record = world.store.value(&format!("task/{expiring}"));
        assert!(record.is_some_and(|it| it.starts_with(r#"{"tombstone"#)));
    }
}

#[test]
fn a_sweep_that_waited_does_not_take_its_time_for_the_present() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    host.task(
        &mut world,
        &json!({ "command": "sleep 1", "ttlSeconds": 60 }),
    );
    world.clock += 60_000;
    // Its server has committed and not started it yet.
    world.faults.plan(1, Fault::CrashBefore);
    host.send(
        &mut world,
        &run(1, Client::Tasks, &json!({ "command": "true" })),
    );
    world.faults.clear();
    let live = world.store.keys("live/");
    let unstarted = live.iter().find_map(|key| {
        let id = key.trim_start_matches("live/");
        let is_known = world.jobs.starts.contains_key(id);
        (!is_known).then(|| id.to_owned())
    });
    let record = format!("task/{}", unstarted.expect("it was recorded"));
    let before = world.store.value(&record).map(str::to_owned);
    // What has expired is buried first, and nobody knows how long that takes.
    assert_eq!(sweep(&host, &mut world), Some(world.clock + 1_000));
    assert_eq!(world.store.value(&record).map(str::to_owned), before);
    world.clock += 1_000;
    assert_eq!(sweep(&host, &mut world), Some(world.clock + 10_000));
    assert_ne!(world.store.value(&record).map(str::to_owned), before);
}

#[test]
fn a_full_page_of_which_nothing_can_be_written_does_not_make_the_sweep_spin() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    let call = json!({ "command": "sleep 1", "ttlSeconds": 60 });
    for _ in 0..250 {
        host.task(&mut world, &call);
    }
    world.clock += 60_000;
    world.faults.fill_disk(0);
    for _ in 0..3 {
        assert_eq!(sweep(&host, &mut world), Some(world.clock + 60_000));
        world.clock += 60_000;
    }
    world.faults.clear();
    while sweep(&host, &mut world) == Some(world.clock) {}
    assert_eq!(world.store.keys("live/").len(), 0);
    assert_eq!(world.store.keys("expiry/").len(), 250);
}

#[test]
fn a_slow_server_cannot_start_what_has_expired() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    world.faults.plan(1, Fault::CrashBefore);
    let call = json!({ "command": "true", "ttlSeconds": 1 });
    host.send(&mut world, &run(1, Client::Tasks, &call));
    world.faults.clear();
    world.clock += 1_000;
    sweep(&host, &mut world);
    let id = world.store.keys("task/")[0]["task/".len()..].to_owned();
    assert!(host.get(&mut world, &id).to_string().contains("expired"));
    // Still known to the host, as never to be started.
    let state = world.jobs.inspect(world.clock, &id);
    world.jobs.stop(world.clock, &id, StopReason::Expired);
    assert_eq!(world.jobs.inspect(world.clock, &id), state);
    world.clock += 7 * DAY;
    assert_eq!(sweep(&host, &mut world), None);
}
