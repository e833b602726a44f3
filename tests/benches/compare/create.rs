//! From `tools/call` to its `CreateTaskResult`, one at a time.

use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::bench::{Bench, Both, SIDES, Side};
use crate::floor::Floor;
use crate::peer::{Peer, Request, task_id};
use crate::report::{Judgement, Row};
use crate::statistics::Samples;

/// At most so many milliseconds more than one commit and one process.
const BUDGET_MS: f64 = 1.0;

/// What has to be done in any case.
#[derive(Default)]
struct Floors {
    commit: Samples,
    spawn: Samples,
    run: Samples,
}

/// Both servers, by turns with the floor.
///
/// # Errors
/// Where a call is not answered with a task, or the task does not complete.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut servers = Both {
        backburner: bench.start(Side::Backburner, &bench.fresh_data_dir()?)?,
        rmcp: bench.start(Side::Rmcp, &bench.fresh_data_dir()?)?,
    };
    let floor = Floor::new(bench.room())?;
    let (mut handles, mut floors) = (Both::<Samples>::default(), Floors::default());
    for key in 0..bench.settings.rounds * bench.settings.creates {
        for side in SIDES {
            let took = create(servers.of(side))?;
            handles.of(side).push_ms(took);
        }
        let cost = floor.pay(key)?;
        floors.commit.push_ms(cost.commit);
        floors.spawn.push_ms(cost.spawn);
        floors.run.push_ms(cost.run);
    }
    Ok(rows(&handles, &floors))
}

/// Times one, and waits for its end, so that nothing of it disturbs the next.
fn create(peer: &mut Peer) -> anyhow::Result<Duration> {
    let call = Request::run_program("true");
    let began = Instant::now();
    let reply = peer.exchange(&call)?;
    let took = began.elapsed();
    ensure!(
        reply.contains("\"resultType\":\"task\""),
        "no task: {reply}"
    );
    let id = task_id(reply)?.to_owned();
    peer.await_tasks(&[id], 1)?;
    Ok(took)
}

fn rows(handles: &Both<Samples>, floors: &Floors) -> Vec<Row> {
    let (ours, theirs) = (handles.backburner.median(), handles.rmcp.median());
    let (commit, spawn, run) = (
        floors.commit.median(),
        floors.spawn.median(),
        floors.run.median(),
    );
    vec![
        Row {
            what: "start to CreateTaskResult".to_owned(),
            backburner: format!("{ours:.2} ms"),
            rmcp: format!("{theirs:.2} ms"),
            floor: format!("{:.2} ms", commit + spawn),
            judgement: Judgement::at_most(BUDGET_MS, ours - commit - spawn, "ms more"),
        },
        Row {
            what: format!("  floor: commit {commit:.2}, spawn {spawn:.2}, until it ended {run:.2}"),
            backburner: "-".to_owned(),
            rmcp: "-".to_owned(),
            floor: format!("{:.2} ms", commit + run),
            judgement: Judgement::only(format!("{:.2} ms more", ours - commit - run)),
        },
    ]
}
