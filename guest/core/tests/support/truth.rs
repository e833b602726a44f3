//! What has to be true of tasks and jobs at any time, whatever failed.

use std::collections::BTreeSet;

use backburner_core::imports::{End, JobState};
use serde_json::Value;

use super::FakeWorld;
use super::host::parse;

/// No job is started twice, whatever is known of it, none runs whose task is gone, and no two run that have one key.
pub(crate) fn hold(world: &FakeWorld) {
    for (id, starts) in &world.jobs.starts {
        assert_eq!(*starts, 1, "{id} was started {starts} times");
    }
    let mut keys = BTreeSet::new();
    for id in world.jobs.running(world.clock) {
        let record = world.store.value(&format!("task/{id}"));
        let is_task = record.is_some_and(|record| record.starts_with(r#"{"task/"#));
        assert!(is_task, "{id} runs without a task: {record:?}");
        let record = parse(record.unwrap_or_default());
        let facts = facts(&record);
        if let Some(key) = facts["idempotencyKey"].as_str() {
            let tool = &facts["tool"]["name"];
            let entry = format!("{} {tool} {key}", facts["principal"]);
            assert!(keys.insert(entry), "two jobs of the key {key} run");
        }
    }
}

/// What never changes of a task, of `run` or of a configured tool.
pub(crate) fn facts(record: &Value) -> &Value {
    let formats = ["task/1", "task/2"];
    let found = formats.iter().find_map(|format| record.get(format));
    found.map_or(&Value::Null, |record| &record["facts"])
}

/// The status and the exit code are those of the job.
pub(crate) fn is_true(world: &FakeWorld, id: &str, task: &Value) {
    let JobState::Ended(outcome) = world.jobs.inspect(world.clock, id) else {
        panic!("{id} is terminal and its job is not: {task}");
    };
    let code = match outcome.end {
        End::Exited(code) => Some(u64::from(code)),
        End::Signalled { .. } | End::NotStarted(_) | End::Lost(_) => None,
    };
    let result = &task["result"];
    match task["status"].as_str() {
        Some("completed") => {
            // A configured tool gives its output and nothing else.
            if let Some(structured) = result.get("structuredContent") {
                assert_eq!(structured["exitCode"].as_u64(), code, "{task}");
            }
            let is_success = code == Some(0) && outcome.stopped.is_none();
            assert_eq!(result["isError"], !is_success, "{task}");
        }
        Some("failed") => assert!(matches!(outcome.end, End::Lost(_)), "{task}"),
        Some("cancelled") => assert!(outcome.stopped.is_some(), "{task}"),
        _ => panic!("no such status: {task}"),
    }
}
