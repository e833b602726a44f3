//! Memory: of an idle server, and of what a running job keeps beside its command.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::bench::{Bench, Both, SIDES, Side};
use crate::peer::{Peer, Request, task_id};
use crate::report::{Judgement, Row};
use crate::statistics::Samples;

/// The resident memory of a server that has answered `server/discover`, in MiB.
const IDLE_BUDGET_MIB: f64 = 16.0;

/// What one supervisor has for itself, in MiB.
const SUPERVISOR_BUDGET_MIB: f64 = 2.0;

/// How many supervisors are looked at.
const JOBS: usize = 8;

/// How many jobs run at the same time, for what each of them costs: enough for the pages of the allocator not to count.
const RUNNING: usize = 100;

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

/// Both servers idle and with running jobs, by turns, and the supervisors of backburner's jobs.
///
/// # Errors
/// Where a job does not start, or the system does not show its memory.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut idle = Both::<Idle>::default();
    let mut growth = Both::<Samples>::default();
    for _round in 0..bench.settings.rounds {
        for side in SIDES {
            let mut peer = bench.start(side, &bench.fresh_data_dir()?)?;
            peer.result("server/discover", &json!({}))?;
            let before = memory_of(peer.pid())?;
            growth.of(side).push(growth_of_a_job(&mut peer, &before)?);
            idle.of(side).push(&before);
        }
    }
    let supervisors = supervisors(bench)?;
    let mut rows = idle_rows(&idle);
    rows.push(supervisor_row(&supervisors));
    rows.push(running_row(&growth, supervisors.private.median()));
    Ok(rows)
}

/// The memory of several idle servers of one side.
#[derive(Default)]
struct Idle {
    resident: Samples,
    proportional: Samples,
    private: Samples,
}

impl Idle {
    fn push(&mut self, memory: &Memory) {
        self.resident.push(memory.resident);
        self.proportional.push(memory.proportional);
        self.private.push(memory.private);
    }
}

/// By how much a server's own memory grows for each job that runs, in MiB: the processes of the jobs are not in it.
fn growth_of_a_job(peer: &mut Peer, before: &Memory) -> anyhow::Result<f64> {
    let mut ids = Vec::new();
    for _ in 0..RUNNING {
        let reply = peer.exchange(&Request::run_line("exec sleep 600"))?;
        ids.push(task_id(reply)?.to_owned());
    }
    let after = memory_of(peer.pid())?;
    stop(peer, &ids)?;
    Ok((after.private - before.private) / RUNNING as f64)
}

fn idle_rows(idle: &Both<Idle>) -> Vec<Row> {
    let row = |what: &str, look: fn(&Idle) -> &Samples| {
        let (ours, theirs) = (look(&idle.backburner).median(), look(&idle.rmcp).median());
        Row {
            what: what.to_owned(),
            backburner: mib(ours),
            rmcp: mib(theirs),
            floor: "-".to_owned(),
            judgement: Judgement::only(format!("{:.2} x", ours / theirs)),
        }
    };
    let mut rows = vec![
        row("idle server, resident", |idle| &idle.resident),
        row("  its proportional share", |idle| &idle.proportional),
        row("  private to it", |idle| &idle.private),
    ];
    let resident = idle.backburner.resident.median();
    rows[0].judgement = Judgement::at_most(IDLE_BUDGET_MIB, resident, "MiB");
    rows
}

/// The memory of several supervisors.
#[derive(Default)]
struct Supervisors {
    private: Samples,
    resident: Samples,
}

/// The jobs tell who started them, by writing the id of their parent to a file.
fn supervisors(bench: &Bench) -> anyhow::Result<Supervisors> {
    let mut peer = bench.start(Side::Backburner, &bench.fresh_data_dir()?)?;
    let mut found = Supervisors::default();
    let mut ids = Vec::new();
    for job in 0..JOBS {
        let file = bench.room().join(format!("parent-{job}"));
        let line = format!("echo $PPID > '{}'; exec sleep 600", file.display());
        ids.push(task_id(peer.exchange(&Request::run_line(&line))?)?.to_owned());
        let memory = memory_of(parent_in(&file)?)?;
        found.private.push(memory.private);
        found.resident.push(memory.resident);
    }
    stop(&mut peer, &ids)?;
    Ok(found)
}

fn supervisor_row(supervisors: &Supervisors) -> Row {
    let private = supervisors.private.median();
    Row {
        what: "a job's supervisor, private to it".to_owned(),
        backburner: mib(private),
        rmcp: "-".to_owned(),
        floor: format!("resident {}", mib(supervisors.resident.median())),
        judgement: Judgement::at_most(SUPERVISOR_BUDGET_MIB, private, "MiB"),
    }
}

/// What a job that runs costs beside its command: in the server, and for its supervisor, which only ours have.
fn running_row(growth: &Both<Samples>, supervisor: f64) -> Row {
    let (ours, theirs) = (growth.backburner.median(), growth.rmcp.median());
    Row {
        what: format!("each of {RUNNING} running jobs, private"),
        backburner: format!("{} + {}", kib(ours), kib(supervisor)),
        rmcp: kib(theirs),
        floor: "-".to_owned(),
        judgement: Judgement::only(format!(
            "{:.0} KiB more",
            (ours + supervisor - theirs) * 1024.0
        )),
    }
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

fn kib(value: f64) -> String {
    format!("{:.0} KiB", value * 1024.0)
}
