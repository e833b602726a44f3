//! Backburner beside the smallest server that rmcp makes of the same tool, both over stdio, in the same run.
//!
//! `cargo bench -p backburner-tests [-- [--quick] [PART …]]`, where a part is `start`, `get`, `create`, `tell`,
//! `jobs`, `memory` or `component`, which compares the component with the same logic natively. Prints medians, their relation,
//! and whether the budgets are met; a budget that is missed fails nothing, since what it is measured on may be busy
//! with something else. `cargo test` measures all parts as briefly as they can be.
//!
//! **Knows** how to drive a server with raw lines as fast as it answers. **Does not know** how either is built,
//! beyond the command line: both get the same messages from the same driver, alternating within each round, so
//! that what disturbs one disturbs the other.

mod bench;
mod component;
mod create;
mod floor;
mod get;
mod jobs;
mod memory;
mod peer;
mod report;
mod settings;
mod start;
mod statistics;
mod tell;

use std::io::Write as _;

use bench::Bench;
use report::Row;
use settings::Settings;

/// Measures one part.
type Part = fn(&Bench) -> anyhow::Result<Vec<Row>>;

const PARTS: [(&str, Part); 7] = [
    ("start", start::measure),
    ("get", get::measure),
    ("create", create::measure),
    ("tell", tell::measure),
    ("jobs", jobs::measure),
    ("memory", memory::measure),
    ("component", component::measure),
];

fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some(component::LOAD_ONCE) {
        std::io::stdout().write_all(component::load_once()?.as_bytes())?;
        return Ok(());
    }
    if std::env::args().any(|it| it == "--list") {
        // Of whoever wants to know which tests there are: none.
        return Ok(());
    }
    let settings = Settings::parse(std::env::args().skip(1))?;
    let bench = Bench::new(settings)?;
    let mut rows = Vec::new();
    for (name, measure) in PARTS {
        if bench.settings.wants(name) {
            rows.extend(measure(&bench)?);
        }
    }
    std::io::stdout().write_all(report::table(&rows).as_bytes())?;
    Ok(())
}
