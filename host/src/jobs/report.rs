//! What a job last said of itself: `report.json` in its directory.

use std::io::{self, Write};

use cap_std::fs::Dir;

use super::directory::{encode, readable};
use super::files;
use super::limits::REPORT_BYTES;
use super::model::Report;

const REPORT: &str = "report.json";

/// How much of the file is read: more than the longest report takes, each byte as six.
const WRITTEN_BYTES: u64 = 6 * REPORT_BYTES as u64 + 1024;

/// What the job in this directory last said; `None` where it has said nothing, or somebody damaged it.
///
/// # Errors
/// Where it cannot be looked at.
pub(super) fn read(job: &Dir) -> io::Result<Option<Report>> {
    Ok(readable::<Report>(job, REPORT, WRITTEN_BYTES)?.map(bounded))
}

/// Writes it in one step. The last one stays.
///
/// # Errors
/// Where there is no room for it.
pub(super) fn write(job: &Dir, report: Report) -> io::Result<()> {
    let draft = format!("{REPORT}.draft-{}", std::process::id());
    let written = files::create(job, &draft).and_then(|mut file| {
        file.write_all(&encode(bounded(report))?)?;
        job.rename(&draft, job, REPORT)
    });
    if written.is_err() {
        files::remove(job, &draft)?;
    }
    written
}

fn bounded(report: Report) -> Report {
    let mut text = report.text;
    text.truncate(text.floor_char_boundary(REPORT_BYTES));
    Report {
        percent: report.percent.map(|percent| percent.min(100)),
        text,
        at: report.at,
    }
}
