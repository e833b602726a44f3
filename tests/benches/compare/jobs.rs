//! Many short jobs at once, until all have ended.

use std::time::{Duration, Instant};

use crate::bench::{Bench, Both, SIDES};
use crate::peer::{Peer, Request, task_id};
use crate::report::{Judgement, Row};
use crate::statistics::Samples;

/// How many requests are outstanding.
const DEPTH: usize = 32;

/// At least so many times rmcp's rate, whose tasks are not durable.
const BUDGET: f64 = 0.4;

/// Both servers, each round with a new one.
///
/// # Errors
/// Where a job does not complete.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut rates = Both::<Samples>::default();
    let mut created = Both::<Samples>::default();
    let count = bench.settings.jobs;
    for _ in 0..bench.settings.rounds {
        for side in SIDES {
            let mut peer = bench.start(side, &bench.fresh_data_dir()?)?;
            let (until_created, until_ended) = run(&mut peer, count)?;
            peer.close()?;
            created
                .of(side)
                .push(count as f64 / until_created.as_secs_f64());
            rates
                .of(side)
                .push(count as f64 / until_ended.as_secs_f64());
        }
    }
    let (ours, theirs) = (rates.backburner.median(), rates.rmcp.median());
    let (our_creation, their_creation) = (created.backburner.median(), created.rmcp.median());
    Ok(vec![
        Row {
            what: format!("{count} jobs `true` until all have ended"),
            backburner: format!("{ours:.0} /s"),
            rmcp: format!("{theirs:.0} /s"),
            floor: "-".to_owned(),
            judgement: Judgement::at_least(BUDGET, ours / theirs, "x"),
        },
        Row {
            what: "  until all had a CreateTaskResult".to_owned(),
            backburner: format!("{our_creation:.0} /s"),
            rmcp: format!("{their_creation:.0} /s"),
            floor: "-".to_owned(),
            judgement: Judgement::only(format!("{:.2} x", our_creation / their_creation)),
        },
    ])
}

/// Until all were created, and until all had ended.
fn run(peer: &mut Peer, count: usize) -> anyhow::Result<(Duration, Duration)> {
    let calls = vec![Request::run_program("true"); count];
    let mut ids = Vec::with_capacity(count);
    let began = Instant::now();
    peer.pipeline(&calls, DEPTH, |reply| {
        ids.push(task_id(reply)?.to_owned());
        Ok(())
    })?;
    let created = began.elapsed();
    peer.await_tasks(&ids, DEPTH)?;
    Ok((created, began.elapsed()))
}
