//! Which commands a person has to confirm.
//!
//! A seat belt and no security boundary: it keeps an agent that means well from doing by mistake what its user wants to
//! be asked about. Whoever wants to get around it can, with a script in a file, another program, or another spelling.
//! So it asks rather too often than too rarely: a command that cannot be taken apart with certainty counts for every
//! rule.
//!
//! Knows shell lines and patterns; knows no protocol, and not how anybody is asked.

mod command;
mod git;
mod limits;
mod line;
mod pattern;
mod programs;
mod runner;
mod shell;
#[cfg(test)]
mod steps;
mod variables;
mod word;

use self::command::{Visitor, visit, visit_line, visit_variables};
use self::limits::{REASON_CHARS, RULES};
use self::pattern::Pattern;
use self::variables::Variables;
use self::word::Word;
use crate::config::{ConfigError, Node};
use crate::imports::Command;
use crate::text::is_hidden;

/// All rules, in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    reason: String,
}

/// Why a command needs a confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Concern<'a> {
    /// The reasons of the rules that name it, or may: at least one.
    pub(crate) reasons: Vec<&'a str>,
    /// Why it counts for every rule, in words; `None` where it can be taken apart with certainty.
    pub(crate) doubt: Option<&'static str>,
}

/// Of each variable whether its value is run, or has something run.
pub(crate) fn are_run(environment: &[(String, String)]) -> Vec<bool> {
    let variables = Variables::of_environment(environment);
    let fates = variables.fates().into_iter();
    fates.map(|(fate, _)| fate.is_some()).collect()
}

impl Rules {
    /// Reads a list of objects with `pattern` and `reason`.
    ///
    /// # Errors
    /// Where something in it is wrong.
    pub(crate) fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        let rules = node.items()?;
        if rules.len() > RULES {
            return Err(node.error(format!("has too many rules, it may have {RULES}")));
        }
        let rules = rules.iter().map(Rule::read);
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
        })
    }

    /// Whether no command needs a confirmation.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Why a command needs a confirmation that runs with these variables; `None` where it needs none.
    pub(crate) fn concern(
        &self,
        command: &Command,
        environment: &[(String, String)],
    ) -> Option<Concern<'_>> {
        if self.rules.is_empty() {
            return None;
        }
        let mut look = Look {
            rules: &self.rules,
            is_named: vec![false; self.rules.len()],
            doubt: None,
        };
        visit_variables(&Variables::of_environment(environment), (0, &mut look));
        match command {
            Command::Shell(line) => visit_line(line, 0, &mut look),
            Command::Program(words) => {
                let words: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
                visit(&words, 0, &mut look);
            }
        }
        look.concern()
    }
}

impl Rule {
    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        let members = node.members(&["pattern", "reason"])?;
        let pattern = members.required("pattern")?;
        let reason = members.required("reason")?;
        let words = reason.words()?;
        if words.chars().count() > REASON_CHARS || words.contains(is_hidden) {
            return Err(reason.error(format!(
                "has to be a line of at most {REASON_CHARS} characters, which the person is shown"
            )));
        }
        Ok(Self {
            pattern: Pattern::parse(pattern.words()?).map_err(|reason| pattern.error(reason))?,
            reason: words.to_owned(),
        })
    }
}

/// What was found of a command so far.
struct Look<'a> {
    rules: &'a [Rule],
    is_named: Vec<bool>,
    doubt: Option<&'static str>,
}

impl<'a> Look<'a> {
    fn concern(self) -> Option<Concern<'a>> {
        let rules = self.rules.iter().zip(&self.is_named);
        let found = rules.filter(|(_, is_named)| **is_named || self.doubt.is_some());
        let reasons: Vec<_> = found.map(|(rule, _)| rule.reason.as_str()).collect();
        let doubt = self.doubt;
        (!reasons.is_empty()).then_some(Concern { reasons, doubt })
    }
}

impl Visitor for Look<'_> {
    fn candidate(&mut self, words: &[Word]) {
        for (rule, is_named) in self.rules.iter().zip(&mut self.is_named) {
            *is_named = *is_named || rule.pattern.may_match(words);
        }
    }

    fn doubt(&mut self, why: &'static str) {
        self.doubt.get_or_insert(why);
    }

    fn knows_enough(&self) -> bool {
        self.doubt.is_some()
    }
}

#[cfg(test)]
mod tests;
