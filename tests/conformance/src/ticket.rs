//! All that the kit knows of a check between two calls, as text.

use std::fmt;

/// Where a check is.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    /// Its name.
    pub(crate) check: String,
    /// The step that comes next, from 0.
    pub(crate) step: usize,
    /// Who this is of a crowd; none where it is the check itself.
    pub(crate) member: Option<u32>,
    /// What all keys and job ids of the run are made from.
    pub(crate) seed: u128,
    /// When the step has waited in vain, in milliseconds since 1970.
    pub(crate) until: u64,
    /// What an earlier step saw, for a later one.
    pub(crate) memo: String,
}

impl Ticket {
    /// Reads what [`fmt::Display`] wrote; none where it was something else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // The memo is last: it may contain anything.
        let mut words = text.splitn(6, ' ');
        let check = words.next()?.to_owned();
        let step = words.next()?.parse().ok()?;
        let member = match words.next()? {
            "-" => None,
            number => Some(number.parse().ok()?),
        };
        Some(Self {
            check,
            step,
            member,
            seed: u128::from_str_radix(words.next()?, 16).ok()?,
            until: words.next()?.parse().ok()?,
            memo: words.next()?.to_owned(),
        })
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let member = self.member.map_or("-".to_owned(), |it| it.to_string());
        let Self {
            check,
            step,
            seed,
            until,
            memo,
            ..
        } = self;
        write!(f, "{check} {step} {member} {seed:032x} {until} {memo}")
    }
}
