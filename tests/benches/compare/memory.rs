//! Memory: of an idle server, and of what a running job keeps beside its command.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::bench::{Bench, SIDES, Side};
use crate::peer::{Peer, Request, task_id};
use crate::report::{Judgement, Row};
use crate::statistics::Samples;

/// The resident memory of a server that has answered `server/discover`, in MiB.
const IDLE_BUDGET_MIB: f64 = 16.0;

/// What one supervisor has for itself, in MiB.
const SUPERVISOR_BUDGET_MIB: f64 = 2.0;

/// How many jobs are looked at.
const JOBS: usize = 8;

/// How long a job may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// The memory of one process, in MiB.
#[derive(Default)]
struct Memory {
    resident: f64,
    /// Shared pages divided by who shares them.
    proportional: f64,
    private: f64,
}

/// Both servers idle, and the supervisors of backburner's jobs.
///
/// # Errors
/// Where a job does not start, or the system does not show its memory.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut idle = Vec::new();
    for side in SIDES {
        idle.push(idle_memory(bench, side)?);
    }
    let mut rows = idle_rows(&idle);
    rows.push(supervisor_row(bench)?);
    Ok(rows)
}

fn idle_memory(bench: &Bench, side: Side) -> anyhow::Result<Memory> {
    let mut peer = bench.start(side, &bench.fresh_data_dir()?)?;
    peer.result("server/discover", &json!({}))?;
    memory_of(peer.pid())
}

fn idle_rows(idle: &[Memory]) -> Vec<Row> {
    let row = |what: &str, look: fn(&Memory) -> f64| Row {
        what: what.to_owned(),
        backburner: mib(look(&idle[0])),
        rmcp: mib(look(&idle[1])),
        floor: "-".to_owned(),
        judgement: Judgement::only(format!("{:.2} x", look(&idle[0]) / look(&idle[1]))),
    };
    let mut rows = vec![
        row("idle server, resident", |memory| memory.resident),
        row("  its proportional share", |memory| memory.proportional),
        row("  private to it", |memory| memory.private),
    ];
    rows[0].judgement = Judgement::at_most(IDLE_BUDGET_MIB, idle[0].resident, "MiB");
    rows
}

/// The jobs tell who started them, by writing the id of their parent to a file.
fn supervisor_row(bench: &Bench) -> anyhow::Result<Row> {
    let mut peer = bench.start(Side::Backburner, &bench.fresh_data_dir()?)?;
    let (mut private, mut resident) = (Samples::default(), Samples::default());
    let mut ids = Vec::new();
    for job in 0..JOBS {
        let file = bench.room().join(format!("parent-{job}"));
        let line = format!("echo $PPID > '{}'; exec sleep 600", file.display());
        ids.push(task_id(peer.exchange(&Request::run_line(&line))?)?.to_owned());
        let memory = memory_of(parent_in(&file)?)?;
        private.push(memory.private);
        resident.push(memory.resident);
    }
    stop(&mut peer, &ids)?;
    Ok(Row {
        what: "a job's supervisor, private to it".to_owned(),
        backburner: mib(private.median()),
        rmcp: "-".to_owned(),
        floor: format!("resident {}", mib(resident.median())),
        judgement: Judgement::at_most(SUPERVISOR_BUDGET_MIB, private.median(), "MiB"),
    })
}

fn stop(peer: &mut Peer, ids: &[String]) -> anyhow::Result<()> {
    for id in ids {
        peer.result("tasks/cancel", &json!({ "taskId": id }))?;
    }
    Ok(())
}

fn parent_in(file: &Path) -> anyhow::Result<u32> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.ends_with('\n') {
            return Ok(text.trim().parse()?);
        }
        ensure!(Instant::now() < deadline, "the job did not start");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn memory_of(pid: u32) -> anyhow::Result<Memory> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))
        .context("the memory of a process cannot be looked at")?;
    Ok(Memory {
        resident: field(&text, "Rss:"),
        proportional: field(&text, "Pss:"),
        private: field(&text, "Private_Clean:") + field(&text, "Private_Dirty:"),
    })
}

/// One field of `smaps_rollup` in MiB, NaN where it is not there.
fn field(text: &str, name: &str) -> f64 {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .and_then(|number| number.trim().parse().ok())
        .map_or(f64::NAN, |kib: f64| kib / 1024.0)
}

fn mib(value: f64) -> String {
    format!("{value:.1} MiB")
}
