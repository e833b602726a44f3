//! What the values of options may be. A person is told of a wrong one at once, with the status of a wrong command
//! line. Pure.
//!
//! The bounds of the tool's arguments are those of the tool, which refuses what is let through here by mistake.

use std::ops::RangeInclusive;
use std::time::Duration;

/// How long a label may be, in characters.
const LABEL_CHARS: usize = 100;

/// How long an idempotency key may be, in characters.
const KEY_CHARS: usize = 256;

/// Reads a number of `unit`, in words such as `seconds`, that has to lie in `range`.
pub(super) fn whole(
    unit: &'static str,
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("give whole {unit}, {} to {}", range.start(), range.end()))
    }
}

/// Reads a variable of the environment.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give a name and a value, such as PORT=8080".to_owned()),
    }
}

/// Reads what a person calls a task.
pub(super) fn label(text: &str) -> Result<String, String> {
    let is_short = text.chars().count() <= LABEL_CHARS;
    if text.trim().is_empty() || text.contains(char::is_control) || !is_short {
        return Err(format!(
            "give one line of 1 to {LABEL_CHARS} characters, and not only blanks"
        ));
    }
    Ok(text.to_owned())
}

/// Reads an idempotency key.
pub(super) fn key(text: &str) -> Result<String, String> {
    if (1..=KEY_CHARS).contains(&text.chars().count()) {
        Ok(text.to_owned())
    } else {
        Err(format!("give 1 to {KEY_CHARS} characters"))
    }
}

/// Reads how long something lasts: from a second to `days_max` days.
pub(super) fn duration(
    days_max: u64,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| {
        let found = parsed(text).filter(|found| (1..=days_max * DAY_SECONDS).contains(found));
        found.map(Duration::from_secs).ok_or_else(|| {
            format!(
                "give seconds, or a number with s, m, h or d, such as 90, 90s, 5m or 4h: at least 1s, at most \
                 {days_max}d"
            )
        })
    }
}

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// A number of seconds that may have a unit.
fn parsed(text: &str) -> Option<u64> {
    let (number, unit_seconds) = match text.char_indices().next_back()? {
        (at, 's') => (&text[..at], 1),
        (at, 'm') => (&text[..at], 60),
        (at, 'h') => (&text[..at], 60 * 60),
        (at, 'd') => (&text[..at], DAY_SECONDS),
        _ => (text, 1),
    };
    // `parse` would take a sign.
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse::<u64>().ok()?.checked_mul(unit_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_to_be_in_its_range() {
        let seconds = whole("seconds", 0..=600);
        assert_eq!(seconds("0"), Ok(0));
        assert_eq!(seconds("600"), Ok(600));
        for wrong in ["", "x", "-1", "601", "1.5", "99999999999999999999"] {
            let error = seconds(wrong).expect_err(wrong);
            assert_eq!(error, "give whole seconds, 0 to 600");
        }
    }

    #[test]
    fn variables_have_a_name_and_a_value() {
        assert_eq!(variable("A=b=c"), Ok(("A".to_owned(), "b=c".to_owned())));
        assert_eq!(variable("A="), Ok(("A".to_owned(), String::new())));
        for wrong in ["", "A", "=b"] {
            variable(wrong).expect_err(wrong);
        }
    }

    #[test]
    fn labels_and_keys_are_neither_empty_nor_long() {
        let long = |count| "ä".repeat(count);
        label(&long(100)).expect("it is just short enough");
        for wrong in ["", " ", "a\nb", &long(101)] {
            label(wrong).expect_err(wrong);
        }
        key(&long(256)).expect("it is just short enough");
        for wrong in ["", &long(257)] {
            key(wrong).expect_err(wrong);
        }
    }

    #[test]
    fn durations_have_a_unit_or_are_seconds() {
        let right = [
            ("90", 90),
            ("90s", 90),
            ("5m", 300),
            ("4h", 14_400),
            ("2d", 172_800),
            ("31d", 2_678_400),
        ];
        let duration = duration(31);
        for (text, seconds) in right {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in [
            "",
            "s",
            "0",
            "0m",
            "-1",
            "+1",
            "1.5",
            "5 m",
            "5x",
            "1h30m",
            "32d",
            "2678401",
            "99999999999999999999",
            "18446744073709551615d",
            "ä",
        ] {
            duration(wrong).expect_err(wrong);
        }
    }
}
