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

/// Reads the value of a field of a question.
pub(super) fn field(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err("give the name of a field and its value, such as branch=main".to_owned()),
    }
}

/// Reads what a person calls a task, without blanks around it, which nobody would see in what is said of the task. What
/// moves the cursor elsewhere is no blank.
pub(super) fn label(text: &str) -> Result<String, String> {
    let moves_cursor = |it: char| it.is_control() || ['\u{2028}', '\u{2029}'].contains(&it);
    let text = text.trim_matches(|it: char| it.is_whitespace() && !moves_cursor(it));
    let is_short = text.chars().count() <= LABEL_CHARS;
    if text.is_empty() || text.contains(moves_cursor) || !is_short {
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

/// How long something may last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lasting {
    /// In milliseconds, at least 1.
    pub(super) least_ms: u64,
    /// In days.
    pub(super) most_days: u64,
}

/// Reads how long something lasts: a number of seconds, or numbers with a unit each, the longest one first, as in `1h30m`.
/// What is less than a millisecond counts as one more: no limit becomes shorter than asked for.
pub(super) fn duration(
    range: Lasting,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    let Lasting {
        least_ms,
        most_days,
    } = range;
    let least = match least_ms {
        1000.. => format!("at least {}s", least_ms / 1000),
        _ => "more than 0".to_owned(),
    };
    move |text| {
        let found =
            milliseconds(text).filter(|found| (least_ms..=most_days * DAY_MS).contains(found));
        found.map(Duration::from_millis).ok_or_else(|| {
            format!(
                "give seconds, or numbers with ms, s, m, h or d, such as 90, 0.5s, 10m, 1.5h or 1h30m: {least}, at most \
                 {most_days}d"
            )
        })
    }
}

const SECOND_MS: u64 = 1000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// What a unit is called, and how many milliseconds it has.
const UNITS: [(&str, u64); 6] = [
    ("d", DAY_MS),
    ("h", HOUR_MS),
    ("m", MINUTE_MS),
    ("min", MINUTE_MS),
    ("s", SECOND_MS),
    ("ms", 1),
];

/// How many digits of a fraction are read: more than any unit has, and few enough to count with.
const FRACTION_DIGITS: usize = 12;

fn milliseconds(text: &str) -> Option<u64> {
    if let Some(seconds) = amount(text, SECOND_MS) {
        return Some(seconds);
    }
    let mut rest = text;
    let mut longer_ms = u64::MAX;
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let (number, behind) = rest.split_at(rest.find(|it: char| it.is_ascii_lowercase())?);
        let end = behind.find(|it: char| !it.is_ascii_lowercase());
        let (unit, behind) = behind.split_at(end.unwrap_or(behind.len()));
        let (_, unit_ms) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        // Twice the same unit, or a longer one behind a shorter one, is a slip of the finger.
        if unit_ms >= longer_ms {
            return None;
        }
        longer_ms = unit_ms;
        sum = sum.checked_add(amount(number, unit_ms)?)?;
        // As `1h 30m`, which is one word to a program that runs this.
        rest = behind
            .strip_prefix(' ')
            .filter(|it| !it.is_empty())
            .unwrap_or(behind);
    }
    (longer_ms < u64::MAX).then_some(sum)
}

/// A number of a unit, such as `1`, `1.5` or `.5`, in milliseconds.
fn amount(number: &str, unit_ms: u64) -> Option<u64> {
    let (whole, fraction) = match number.split_once('.') {
        Some(("", fraction)) => ("0", fraction),
        Some(parts) => parts,
        None => (number, "0"),
    };
    let whole_ms = digits(whole)?.checked_mul(unit_ms)?;
    if fraction.len() > FRACTION_DIGITS {
        return None;
    }
    let parts = u128::from(digits(fraction)?) * u128::from(unit_ms);
    let fraction_ms = parts.div_ceil(10_u128.pow(fraction.len().try_into().ok()?));
    whole_ms.checked_add(u64::try_from(fraction_ms).ok()?)
}

/// A number without a sign, which `parse` alone would take.
fn digits(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
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
        assert_eq!(label("  x y "), Ok("x y".to_owned()));
        assert_eq!(label("\u{3000}x\u{a0}"), Ok("x".to_owned()));
        for wrong in [
            "",
            " ",
            "a\nb",
            "a\n",
            "\na",
            "\ta",
            "a\u{b}",
            "a\u{85}",
            "\u{2028}a",
            &long(101),
        ] {
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
            ("90", 90_000),
            ("90s", 90_000),
            ("5m", 300_000),
            ("4h", 14_400_000),
            ("2d", 172_800_000),
            ("31d", 2_678_400_000),
            ("0.5", 500),
            ("1.5h", 5_400_000),
            ("0.001", 1),
            ("0.0001s", 1),
            ("30.999999999999d", 2_678_400_000),
            (".5", 500),
            (".5m", 30_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1d2h3m4.5s", 93_784_500),
            ("10min", 600_000),
            ("250ms", 250),
            ("1m250ms", 60_250),
        ];
        let duration = duration(Lasting {
            least_ms: 1,
            most_days: 31,
        });
        for (text, ms) in right {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for wrong in [
            "",
            "s",
            "0",
            "0m",
            "0.0",
            "-1",
            "+1",
            "1.",
            ".",
            ".s",
            "1.5.5",
            "1.+5",
            "1,5",
            "1e3",
            "5 m",
            "5x",
            "1h30",
            "1h1h",
            "30m1h",
            "1m1min",
            "1hm",
            "1h  30m",
            "1h ",
            " 1h",
            "30d25h",
            "1H",
            "32d",
            "31.000001d",
            "2678401",
            "99999999999999999999",
            "18446744073709551615d",
            "1.99999999999999999999",
            "ä",
        ] {
            duration(wrong).expect_err(wrong);
        }
    }

    #[test]
    fn a_wrong_duration_says_what_is_right() {
        let error = |least_ms, text| {
            let range = Lasting {
                least_ms,
                most_days: 31,
            };
            duration(range)(text).expect_err("it is out of range")
        };
        assert!(error(1, "0").ends_with("1h30m: more than 0, at most 31d"));
        assert!(error(1000, "0.9").ends_with("1h30m: at least 1s, at most 31d"));
    }
}
