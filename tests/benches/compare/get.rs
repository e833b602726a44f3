//! `tasks/get` of a task that has ended, with 1 KiB of output.

use anyhow::ensure;

use crate::bench::{Bench, Both, SIDES, Side};
use crate::peer::{Peer, Request, task_id};
use crate::report::{Judgement, Row};
use crate::statistics::Samples;

/// Writes 1 KiB.
const ONE_KIB: &str = "printf %01024d 7";

/// How many are outstanding where many are.
const DEPTH: usize = 32;

/// At least so many times rmcp's throughput at depth 32.
const BUDGET: f64 = 1.0;

/// A server with the task, ready to be asked.
struct Ready {
    peer: Peer,
    request: Request,
    reply_bytes: usize,
}

/// Both servers, at depth 1 and 32.
///
/// # Errors
/// Where the task does not complete, or a reply is not as the others.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut servers = Both {
        backburner: prepare(bench, Side::Backburner)?,
        rmcp: prepare(bench, Side::Rmcp)?,
    };
    let (mut alone, mut many) = (Both::<Samples>::default(), Both::<Samples>::default());
    let count = bench.settings.gets;
    for _ in 0..bench.settings.rounds {
        for side in SIDES {
            let Ready { peer, request, .. } = servers.of(side);
            let took = peer.flood(request, 1, count / 5)?;
            alone
                .of(side)
                .push(took.as_secs_f64() * 1e6 / (count / 5) as f64);
        }
        for side in SIDES {
            let Ready { peer, request, .. } = servers.of(side);
            let took = peer.flood(request, DEPTH, count)?;
            many.of(side).push(count as f64 / took.as_secs_f64());
        }
    }
    Ok(vec![latency(&alone), throughput(&many), size(&servers)])
}

fn prepare(bench: &Bench, side: Side) -> anyhow::Result<Ready> {
    let mut peer = bench.start(side, &bench.fresh_data_dir()?)?;
    let id = task_id(peer.exchange(&Request::run_line(ONE_KIB))?)?.to_owned();
    peer.await_tasks(std::slice::from_ref(&id), 1)?;
    let request = Request::get_task(&id);
    let reply = peer.exchange(&request)?;
    ensure!(
        reply.contains(&"0".repeat(1023)),
        "not the whole output: {reply}"
    );
    let reply_bytes = reply.len();
    Ok(Ready {
        peer,
        request,
        reply_bytes,
    })
}

fn latency(alone: &Both<Samples>) -> Row {
    let (ours, theirs) = (alone.backburner.median(), alone.rmcp.median());
    Row {
        what: "tasks/get, 1 KiB, depth 1".to_owned(),
        backburner: format!("{ours:.1} us"),
        rmcp: format!("{theirs:.1} us"),
        floor: "-".to_owned(),
        judgement: Judgement::only(format!("{:.2} x", ours / theirs)),
    }
}

fn throughput(many: &Both<Samples>) -> Row {
    let (ours, theirs) = (many.backburner.median(), many.rmcp.median());
    Row {
        what: format!("tasks/get, 1 KiB, depth {DEPTH}"),
        backburner: format!("{ours:.0} /s"),
        rmcp: format!("{theirs:.0} /s"),
        floor: "-".to_owned(),
        judgement: Judgement::at_least(BUDGET, ours / theirs, "x"),
    }
}

fn size(servers: &Both<Ready>) -> Row {
    let (ours, theirs) = (servers.backburner.reply_bytes, servers.rmcp.reply_bytes);
    Row {
        what: "  length of that reply".to_owned(),
        backburner: format!("{ours} bytes"),
        rmcp: format!("{theirs} bytes"),
        floor: "-".to_owned(),
        judgement: Judgement::only(format!("{:.2} x", ours as f64 / theirs as f64)),
    }
}
