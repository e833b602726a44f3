//! What it costs that the protocol is a component: the same logic on the same store and jobs, in wasmtime and
//! natively, in this process.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use backburner::engine::{Context, Pool, Step};
use backburner_core as core;
use backburner_tests::fake::{CoreWorld, Machine};
use backburner_tests::{Client, component, request, run_call};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::report::{Judgement, Row};
use crate::statistics::Samples;

/// The argument with which this program loads the component once and prints how long it took, in microseconds: what
/// is loaded stays so for as long as the process.
pub(crate) const LOAD_ONCE: &str = "--load-once";

/// Every call makes a task, so that there is one to ask for.
const CONFIG: &str = r#"{"directLimitMs":0}"#;

const PRINCIPAL: &str = "uid:1000";

/// One way to run the protocol: gives the reply to a message.
type Ask = Box<dyn FnMut(&str) -> anyhow::Result<String>>;

/// Both ways, each on a machine of its own.
struct Ways {
    component: Ask,
    native: Ask,
}

/// Sizes, start and calls.
///
/// # Errors
/// Where one of the two does not answer, or not as the other.
pub(crate) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut rows = sizes()?;
    rows.push(load(bench)?);
    rows.push(instance(bench)?);
    let mut ways = Ways {
        component: in_wasmtime(&Machine::new())?,
        native: natively(&Machine::new())?,
    };
    let list = message("tools/list", &json!({}));
    rows.push(calls(bench, "tools/list", &mut ways, [&list, &list])?);
    let component = ended_task(&mut ways.component)?;
    let native = ended_task(&mut ways.native)?;
    let what = "tasks/get, 1 KiB, in memory";
    rows.push(calls(bench, what, &mut ways, [&component, &native])?);
    Ok(rows)
}

/// Loads the component, which this process must not have done before, and prints how long it took.
///
/// # Errors
/// Where it does not load.
pub(crate) fn load_once() -> anyhow::Result<String> {
    let machine = Machine::new();
    let began = Instant::now();
    let _pool = pool(&machine)?;
    Ok(format!("{}\n", began.elapsed().as_secs_f64() * 1e6))
}

fn sizes() -> anyhow::Result<Vec<Row>> {
    let portable = component();
    let bytes = fs::metadata(&portable)?.len();
    let compiled = fs::metadata(portable.with_extension("cwasm"))?.len();
    let row = |what: &str, bytes: u64, figure: String| Row {
        what: what.to_owned(),
        backburner: format!("{bytes} bytes"),
        rmcp: "-".to_owned(),
        floor: "-".to_owned(),
        judgement: Judgement::only(figure),
    };
    Ok(vec![
        row("the component", bytes, "-".to_owned()),
        row(
            "  compiled for this machine",
            compiled,
            format!("{:.2} x", compiled as f64 / bytes as f64),
        ),
    ])
}

/// The first server of a process: code, linker, instance, configuration.
fn load(bench: &Bench) -> anyhow::Result<Row> {
    let mut took = Samples::default();
    for _ in 0..bench.settings.rounds * bench.settings.starts {
        let output = Command::new(std::env::current_exe()?)
            .arg(LOAD_ONCE)
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        took.push(text.trim().parse().context("it did not load")?);
    }
    Ok(start("load, first instance, configure", &took, None))
}

/// Any further one, whose code is there already.
fn instance(bench: &Bench) -> anyhow::Result<Row> {
    let (mut component, mut native) = (Samples::default(), Samples::default());
    let machine = Machine::new();
    drop(pool(&machine)?);
    for _ in 0..bench.settings.rounds * bench.settings.starts {
        let began = Instant::now();
        let pool = pool(&machine)?;
        component.push_us(began.elapsed());
        drop(pool);
        let began = Instant::now();
        let server = std::hint::black_box(server()?);
        native.push_us(began.elapsed());
        drop(server);
    }
    Ok(start(
        "link, instance, configure",
        &component,
        Some(&native),
    ))
}

fn start(what: &str, component: &Samples, native: Option<&Samples>) -> Row {
    Row {
        what: what.to_owned(),
        backburner: format!("{:.0} us", component.median()),
        rmcp: "-".to_owned(),
        floor: native.map_or("-".to_owned(), |native| {
            format!("{:.1} us", native.median())
        }),
        judgement: Judgement::only("-".to_owned()),
    }
}

/// A message to each way, by turns.
fn calls(
    bench: &Bench,
    what: &str,
    ways: &mut Ways,
    [to_component, to_native]: [&str; 2],
) -> anyhow::Result<Row> {
    let (mut component, mut native) = (Samples::default(), Samples::default());
    let count = bench.settings.gets;
    for _ in 0..bench.settings.rounds {
        component.push(time(&mut ways.component, to_component, count)?);
        native.push(time(&mut ways.native, to_native, count)?);
    }
    let (ours, native) = (component.median(), native.median());
    Ok(Row {
        what: what.to_owned(),
        backburner: format!("{ours:.2} us"),
        rmcp: "-".to_owned(),
        floor: format!("{native:.2} us native"),
        judgement: Judgement::only(format!("{:.2} x", ours / native)),
    })
}

/// How long one of many equal calls takes, in microseconds.
fn time(ask: &mut Ask, message: &str, count: usize) -> anyhow::Result<f64> {
    let expected = ask(message)?.len();
    let began = Instant::now();
    for _ in 0..count {
        let reply = ask(message)?;
        ensure!(reply.len() == expected, "not the reply as before: {reply}");
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / count as f64)
}

/// The request for a task that has ended, with 1 KiB of output.
fn ended_task(ask: &mut Ask) -> anyhow::Result<String> {
    let command = format!("echo {}", "x".repeat(1023));
    let created: Value = serde_json::from_str(&ask(&message("tools/call", &run_call(&command)))?)?;
    let id = &created["result"]["taskId"];
    let get = message("tasks/get", &json!({ "taskId": id }));
    let reply = ask(&get)?;
    ensure!(
        reply.contains("\"completed\"") && reply.contains(&"x".repeat(1023)),
        "the task did not end: {reply}"
    );
    Ok(get)
}

fn message(method: &str, params: &Value) -> String {
    request(1, method, params, Client::Tasks).to_string()
}

fn pool(machine: &Machine) -> anyhow::Result<Pool> {
    let (store, jobs) = (Arc::clone(&machine.store), Arc::clone(&machine.jobs));
    Ok(Pool::new(store, jobs, CONFIG.to_owned())?)
}

fn in_wasmtime(machine: &Machine) -> anyhow::Result<Ask> {
    let pool = pool(machine)?;
    let now = machine.clock.now();
    let cx = move || Context {
        now,
        principal: PRINCIPAL.to_owned(),
    };
    Ok(Box::new(move |body| match pool.message(cx, body) {
        Step::Reply(reply) => Ok(reply),
        other => bail!("the component does not answer: {other:?}"),
    }))
}

fn server() -> anyhow::Result<core::Server> {
    core::Server::configure(CONFIG).map_err(|error| anyhow::anyhow!("{error:?}"))
}

fn natively(machine: &Machine) -> anyhow::Result<Ask> {
    let server = server()?;
    let mut world = CoreWorld::new(machine);
    let cx = core::Context {
        now: machine.clock.now(),
        principal: PRINCIPAL.to_owned(),
    };
    Ok(Box::new(move |body| {
        match server.message(&mut world, &cx, body) {
            core::Outcome::Reply(reply) => Ok(reply),
            other => bail!("the core does not answer: {other:?}"),
        }
    }))
}
