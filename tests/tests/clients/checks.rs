//! What the conformance suite reports: for each scenario a file `checks.json`.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// The name of a report's directory begins with this, and ends with a time of this many characters.
const PREFIX: &str = "server-";
const TIME_LENGTH: usize = "-2026-07-28T12-00-00-000Z".len();

/// One check of one scenario.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// The scenario's name.
    pub(crate) scenario: String,
    /// The check's id. A scenario may make a check several times; it has passed where it always has.
    pub(crate) check: String,
}

impl Display for Name {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.scenario, self.check)
    }
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It passed.
    Passed,
    /// It failed, gave a warning or was left out, and why.
    Not(String),
}

/// All scenarios that ran, by their names.
#[derive(Debug, Default)]
pub(crate) struct Report {
    scenarios: BTreeMap<String, BTreeMap<String, End>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: Status,
    error_message: Option<String>,
}

impl Check {
    /// `None` for what is only information.
    fn end(&self) -> Option<End> {
        match self.status {
            Status::Info => None,
            Status::Success => Some(End::Passed),
            status @ (Status::Failure | Status::Warning | Status::Skipped) => {
                let message = self.error_message.as_deref().unwrap_or_default();
                Some(End::Not(format!("{status:?}: {message}")))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

impl Report {
    /// One scenario with the checks of a `checks.json`.
    #[cfg(test)]
    pub(crate) fn of(scenario: &str, json: &str) -> Self {
        let mut report = Self::default();
        report.add(scenario, json);
        report
    }

    /// Reads what the suite left in a directory.
    ///
    /// # Panics
    /// Where that is not what this version of it leaves.
    pub(crate) fn read(directory: &Path) -> Self {
        let mut report = Self::default();
        for entry in fs::read_dir(directory).expect("the suite has left its results") {
            let path = entry.expect("the results can be listed").path();
            let name = path.file_name().and_then(|name| name.to_str());
            let scenario = name.and_then(scenario_of);
            let scenario = scenario.unwrap_or_else(|| panic!("{} is no result", path.display()));
            let text = fs::read_to_string(path.join("checks.json"));
            report.add(scenario, &text.expect("a result has its checks"));
        }
        report
    }

    fn add(&mut self, scenario: &str, json: &str) {
        let checks: Vec<Check> = serde_json::from_str(json)
            .unwrap_or_else(|error| panic!("{scenario} has other checks: {error}"));
        let ends = self.scenarios.entry(scenario.to_owned()).or_default();
        for check in &checks {
            let Some(end) = check.end() else { continue };
            let kept = ends.entry(check.id.clone()).or_insert(End::Passed);
            // The first time that it did not pass says why.
            if *kept == End::Passed {
                *kept = end;
            }
        }
    }

    /// The scenarios and their checks, in the order of their names.
    pub(crate) fn scenarios(&self) -> impl Iterator<Item = (&String, &BTreeMap<String, End>)> {
        self.scenarios.iter()
    }

    /// How many checks passed.
    pub(crate) fn passed(&self) -> usize {
        let ends = self.scenarios.values().flat_map(BTreeMap::values);
        ends.filter(|end| **end == End::Passed).count()
    }

    /// How a check ended; `None` for one that was not made.
    pub(crate) fn end(&self, name: &Name) -> Option<&End> {
        self.scenarios.get(&name.scenario)?.get(&name.check)
    }
}

/// The scenario that a report's directory is named after.
fn scenario_of(directory: &str) -> Option<&str> {
    let rest = directory.strip_prefix(PREFIX)?;
    let length = rest.len().checked_sub(TIME_LENGTH)?;
    rest.is_char_boundary(length).then(|| &rest[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(json: &str, check: &str) -> Option<End> {
        let mut report = Report::default();
        report.add("a", json);
        let name = Name {
            scenario: "a".to_owned(),
            check: check.to_owned(),
        };
        report.end(&name).cloned()
    }

    #[test]
    fn a_check_passes_where_it_always_does() {
        let json = r#"[{"id":"x","status":"SUCCESS"},{"id":"x","status":"SUCCESS"}]"#;
        assert_eq!(end_of(json, "x"), Some(End::Passed));
        let json =
            r#"[{"id":"x","status":"FAILURE","errorMessage":"m"},{"id":"x","status":"SUCCESS"}]"#;
        assert_eq!(end_of(json, "x"), Some(End::Not("Failure: m".to_owned())));
        let json = r#"[{"id":"x","status":"SUCCESS"},{"id":"x","status":"WARNING"}]"#;
        assert_eq!(end_of(json, "x"), Some(End::Not("Warning: ".to_owned())));
    }

    #[test]
    fn what_is_only_information_is_no_check() {
        assert_eq!(end_of(r#"[{"id":"x","status":"INFO"}]"#, "x"), None);
    }

    #[test]
    fn a_check_has_passed_once_and_only_where_it_passed() {
        let json = r#"[{"id":"x","status":"SUCCESS"},{"id":"x","status":"SUCCESS"},
            {"id":"y","status":"INFO"},{"id":"z","status":"SKIPPED"}]"#;
        assert_eq!(Report::of("a", json).passed(), 1);
    }

    #[test]
    fn a_directory_names_its_scenario() {
        assert_eq!(
            scenario_of("server-tools-list-2026-11-30T06-52-05-828Z"),
            Some("tools-list")
        );
        assert_eq!(
            scenario_of("client-tools-list-2026-11-30T06-52-05-828Z"),
            None
        );
        assert_eq!(scenario_of("server-x"), None);
    }
}
