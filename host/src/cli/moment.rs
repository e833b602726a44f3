//! Moments as the server writes them. Knows the calendar, but no clock.

/// Reads a moment in UTC, such as `2026-07-28T12:34:56.789Z`, as milliseconds since 1970; `None` where it is written in
/// another way.
///
/// *Source:* RFC 3339, Internet Date/Time Format.
pub(super) fn parse(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date.split('-'))?;
    let (time, milliseconds) = time.split_once('.')?;
    let [hour, minute, second] = numbers(time.split(':'))?;
    let [milliseconds] = numbers([milliseconds].into_iter())?;
    let days = days_since_1970(year, month, day)?;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milliseconds)
}

/// A moment in milliseconds since 1970 as a person reads it: in UTC, since nobody knows where, and with whole seconds.
pub(super) fn in_words(ms: u64) -> String {
    const DAY_SECONDS: u64 = 24 * 60 * 60;
    let seconds = ms / 1000;
    let (year, month, day) = date(seconds / DAY_SECONDS);
    let second = seconds % DAY_SECONDS;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The date that is so many days after 1970-01-01, which is no more than the last one of the year 9999.
fn date(days: u64) -> (u64, u64, u64) {
    // Not too late, since no year has more days, and little too early.
    let mut year = (1970 + days / 366).min(9999);
    let starts_by =
        |year, month| days_since_1970(year, month, 1).is_some_and(|start| start <= days);
    while starts_by(year + 1, 1) {
        year += 1;
    }
    let month = (1..=12)
        .rev()
        .find(|&month| starts_by(year, month))
        .unwrap_or(1);
    let start = days_since_1970(year, month, 1).unwrap_or(days);
    (year, month, (days - start + 1).min(31))
}

/// Exactly `N` numbers, of at most four digits each.
fn numbers<'a, const N: usize>(parts: impl Iterator<Item = &'a str>) -> Option<[u64; N]> {
    let numbers: Vec<u64> = parts
        .map(|part| {
            let is_number = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse().ok().filter(|_| is_number)
        })
        .collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Counts in a calendar that starts on 1 March of the year 0, where the leap day is the last of its year.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    const DAYS_FROM_YEAR_0_TO_1970: u64 = 719_468;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    // Five months from March on have 153 days, and again from August on.
    let in_year = (153 * month + 2) / 5 + day.checked_sub(1)?;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + in_year;
    days.checked_sub(DAYS_FROM_YEAR_0_TO_1970)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_milliseconds_since_1970() {
        let right = [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("2026-07-28T12:34:56.789Z", 1_785_242_096_789),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ];
        for (text, ms) in right {
            assert_eq!(parse(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn moments_are_said_in_utc() {
        for (ms, words) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_868_799_999, "2000-02-29 23:59:59 UTC"),
            (1_785_242_096_789, "2026-07-28 12:34:56 UTC"),
            (1_798_761_599_999, "2026-12-31 23:59:59 UTC"),
            (1_798_761_600_000, "2027-01-01 00:00:00 UTC"),
            (253_402_300_799_999, "9999-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(in_words(ms), words);
        }
        // What is later than any calendar is still said.
        assert!(in_words(u64::MAX).starts_with("9999-12-31 "));
    }

    #[test]
    fn what_is_written_in_another_way_is_no_moment() {
        for wrong in [
            "",
            "then",
            "2026-07-28",
            "2026-07-28T12:34:56Z",
            "2026-07-28T12:34:56.789+01:00",
            "2026-13-28T12:34:56.789Z",
            "2026-07-00T12:34:56.789Z",
            "1969-07-28T12:34:56.789Z",
            "2026-07-28T12:34.789Z",
            "2026-07-28T12:+4:56.789Z",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
