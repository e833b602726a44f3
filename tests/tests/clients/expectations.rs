//! What of the conformance suite is expected not to pass, and why: `tests/clients/expected-failures.txt`.

use std::collections::BTreeMap;

use crate::checks::{End, Name, Report};

/// A line that begins with this says why the checks after it do not pass.
const REASON: &str = "== ";

/// A line that begins with this is for readers.
const COMMENT: &str = "#";

/// The checks that are expected not to pass, with the reason of each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expectations {
    reasons: BTreeMap<Name, String>,
}

impl Expectations {
    /// Reads them.
    ///
    /// # Errors
    /// The first line that is none, and what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut expected = Self::default();
        let mut reason = None;
        for (index, line) in text.lines().map(str::trim).enumerate() {
            let wrong = |what: &str| Err(format!("line {}: {what}: {line}", index + 1));
            if line.is_empty() || line.starts_with(COMMENT) {
                continue;
            }
            if let Some(words) = line.strip_prefix(REASON) {
                reason = Some(words);
                continue;
            }
            let (Some(reason), Some((scenario, check))) =
                (reason, line.split_once(char::is_whitespace))
            else {
                return wrong("a line is a reason, or below one a scenario and a check");
            };
            let name = Name {
                scenario: scenario.to_owned(),
                check: check.trim_start().to_owned(),
            };
            if expected.reasons.insert(name, reason.to_owned()).is_some() {
                return wrong("it is there twice");
            }
        }
        Ok(expected)
    }

    /// Those of these scenarios, where no others run.
    pub(crate) fn of(mut self, scenarios: &[&str]) -> Self {
        self.reasons
            .retain(|name, _| scenarios.contains(&name.scenario.as_str()));
        self
    }

    /// What is not as expected: one line for each.
    pub(crate) fn differences(&self, report: &Report) -> Vec<String> {
        let mut differences = Vec::new();
        for (scenario, checks) in report.scenarios() {
            if checks.is_empty() {
                differences.push(format!("{scenario} made no check"));
            }
            for (check, end) in checks {
                let name = Name {
                    scenario: scenario.clone(),
                    check: check.clone(),
                };
                if let End::Not(why) = end
                    && !self.reasons.contains_key(&name)
                {
                    differences.push(format!("{name} did not pass: {why}"));
                }
            }
        }
        let stale = self.reasons.iter().filter_map(|(name, reason)| {
            let what = match report.end(name) {
                Some(End::Not(_)) => return None,
                Some(End::Passed) => "passed",
                None => "was not made",
            };
            Some(format!("{name} {what}: take it out ({reason})"))
        });
        differences.extend(stale);
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Report;

    const EXPECTED: &str = "# for readers\n\n== that is not there yet\na x\n";

    fn differences(checks: &str) -> Vec<String> {
        let expected = Expectations::parse(EXPECTED).expect("it is right");
        expected.differences(&Report::of("a", checks))
    }

    #[test]
    fn what_is_expected_not_to_pass_may_fail() {
        let checks = r#"[{"id":"x","status":"FAILURE"},{"id":"y","status":"SUCCESS"}]"#;
        assert_eq!(differences(checks), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_expected_must_not_fail() {
        let checks = r#"[{"id":"x","status":"FAILURE"},{"id":"y","status":"SKIPPED"}]"#;
        assert_eq!(differences(checks), ["a y did not pass: Skipped: "]);
    }

    #[test]
    fn what_passes_against_expectation_has_to_be_taken_out() {
        let passed = differences(r#"[{"id":"x","status":"SUCCESS"}]"#);
        assert_eq!(passed, ["a x passed: take it out (that is not there yet)"]);
        let gone = differences(r#"[{"id":"y","status":"SUCCESS"}]"#);
        assert_eq!(
            gone,
            ["a x was not made: take it out (that is not there yet)"]
        );
    }

    #[test]
    fn what_is_expected_of_other_scenarios_need_not_be_made() {
        let expected = Expectations::parse(EXPECTED).expect("it is right");
        let report = Report::of("b", r#"[{"id":"x","status":"SUCCESS"}]"#);
        assert_eq!(
            expected.of(&["b"]).differences(&report),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_scenario_has_to_make_a_check() {
        let none = differences("[]");
        assert!(none.contains(&"a made no check".to_owned()), "{none:?}");
    }

    #[test]
    fn a_check_without_a_reason_is_refused() {
        for text in ["a x", "== why\na", "== why\na x\na x"] {
            Expectations::parse(text).expect_err(text);
        }
    }
}
