//! From the start of the process to its first reply.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::bench::{Bench, Both, SIDES, Side};
use crate::peer::Request;
use crate::report::{Judgement, Row};
use crate::statistics::Samples;

/// At most so many times what rmcp takes.
const BUDGET: f64 = 2.5;

/// Both servers, backburner also with a data directory that does not exist yet, and an empty program.
///
/// # Errors
/// Where one does not start or answer.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let used = bench.fresh_data_dir()?;
    first_reply(bench, Side::Backburner, &used)?;
    let (mut again, mut first, mut empty) = (
        Both::<Samples>::default(),
        Samples::default(),
        Samples::default(),
    );
    for _ in 0..bench.settings.rounds * bench.settings.starts {
        for side in SIDES {
            again.of(side).push_ms(first_reply(bench, side, &used)?);
        }
        let fresh = bench.fresh_data_dir()?;
        first.push_ms(first_reply(bench, Side::Backburner, &fresh)?);
        empty.push_ms(empty_program()?);
    }
    let (ours, theirs, floor) = (
        again.backburner.median(),
        again.rmcp.median(),
        empty.median(),
    );
    Ok(vec![
        Row {
            what: "cold start to server/discover".to_owned(),
            backburner: format!("{ours:.2} ms"),
            rmcp: format!("{theirs:.2} ms"),
            floor: format!("{floor:.2} ms"),
            judgement: Judgement::at_most(BUDGET, ours / theirs, "x"),
        },
        Row {
            what: "the same, empty data directory".to_owned(),
            backburner: format!("{:.2} ms", first.median()),
            rmcp: format!("{theirs:.2} ms"),
            floor: format!("{floor:.2} ms"),
            judgement: Judgement::only(format!("{:.2} x", first.median() / theirs)),
        },
    ])
}

fn first_reply(bench: &Bench, side: Side, data_dir: &Path) -> anyhow::Result<Duration> {
    let discover = Request::new("server/discover", &json!({}));
    let began = Instant::now();
    let mut peer = bench.start(side, data_dir)?;
    peer.exchange(&discover)?;
    let took = began.elapsed();
    peer.close()?;
    Ok(took)
}

fn empty_program() -> anyhow::Result<Duration> {
    let began = Instant::now();
    Command::new("true")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?
        .wait()?;
    Ok(began.elapsed())
}
