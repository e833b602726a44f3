//! From a job's end to the notification in its client, which listens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use serde_json::json;

use crate::bench::{Bench, Side};
use crate::peer::{Peer, Request, task_id};
use crate::report::{Judgement, Row};
use crate::statistics::Samples;

/// At the median, in milliseconds.
const BUDGET_MS: f64 = 20.0;

/// A job that says when it was about to end, in nanoseconds since 1970, and that is there to be listened to before.
const JOB: &str = "sleep 0.2; echo \"ended $(date +%s%N) ns\"";

/// Backburner alone: the other server has nothing like it.
///
/// # Errors
/// Where a notification does not come.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut server = bench.start(Side::Backburner, &bench.fresh_data_dir()?)?;
    let mut delays = Samples::default();
    for _ in 0..bench.settings.rounds * bench.settings.starts {
        delays.push_ms(delay(&mut server)?);
    }
    let median = delays.median();
    Ok(vec![Row {
        what: "end of a job to notifications/tasks".to_owned(),
        backburner: format!("{median:.2} ms"),
        rmcp: "-".to_owned(),
        floor: "-".to_owned(),
        judgement: Judgement::at_most(BUDGET_MS, median, "ms"),
    }])
}

fn delay(server: &mut Peer) -> anyhow::Result<Duration> {
    let id = task_id(server.exchange(&Request::run_line(JOB))?)?.to_owned();
    let filter = json!({ "notifications": { "taskIds": [id] } });
    let mut told = server
        .exchange(&Request::new("subscriptions/listen", &filter))?
        .to_owned();
    while !told.contains("\"status\":\"completed\"") {
        server.read_line()?.clone_into(&mut told);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let ended: u64 = between(&told, "ended ", " ns")?.parse()?;
    Ok(now.saturating_sub(Duration::from_nanos(ended)))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> anyhow::Result<&'a str> {
    let rest = text.split_once(before).map(|(_, rest)| rest);
    let found = rest.and_then(|rest| rest.split_once(after));
    found
        .map(|(value, _)| value)
        .with_context(|| format!("no {before:?} in {text}"))
}
