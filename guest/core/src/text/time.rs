//! Moments and durations in words. Knows the calendar, but no clock.

/// The last moment that four digits of year can name: 9999-12-31T23:59:59.999Z.
const LAST_MOMENT_MS: u64 = 253_402_300_799_999;

const SECOND_MS: u64 = 1_000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// Writes a moment, in milliseconds since 1970, as UTC: `2026-07-28T12:34:56.789Z`.
///
/// A moment after the year 9999 becomes the last one of that year: a fifth digit would need a sign, which
/// few parsers accept.
pub(crate) fn iso8601(ms: u64) -> String {
    let ms = ms.min(LAST_MOMENT_MS);
    let (year, month, day) = civil_date(ms / DAY_MS);
    let (hour, minute) = (ms % DAY_MS / HOUR_MS, ms % HOUR_MS / MINUTE_MS);
    let (second, fraction) = (ms % MINUTE_MS / SECOND_MS, ms % SECOND_MS);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    write_digits(&mut text[..4], year);
    write_digits(&mut text[5..7], month);
    write_digits(&mut text[8..10], day);
    write_digits(&mut text[11..13], hour);
    write_digits(&mut text[14..16], minute);
    write_digits(&mut text[17..19], second);
    write_digits(&mut text[20..23], fraction);
    text.into_iter().map(char::from).collect()
}

/// Writes a number over zeros, which stay in front of it. The formatter of `std` takes longer for a moment than reading a
/// task's record.
fn write_digits(zeros: &mut [u8], number: u64) {
    let mut rest = number;
    for zero in zeros.iter_mut().rev() {
        *zero += (rest % 10) as u8;
        rest /= 10;
    }
}

/// Writes a duration, in milliseconds, with two units at most: `850 ms`, `3.2 s`, `2 min 5 s`, `3 d 4 h`.
///
/// Rounds down, so that no duration looks longer than it was and a limit is never shown as passed early.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..SECOND_MS => format!("{ms} ms"),
        SECOND_MS..MINUTE_MS => seconds(ms),
        MINUTE_MS..HOUR_MS => two_units((ms / MINUTE_MS, "min"), (ms % MINUTE_MS / SECOND_MS, "s")),
        HOUR_MS..DAY_MS => two_units((ms / HOUR_MS, "h"), (ms % HOUR_MS / MINUTE_MS, "min")),
        DAY_MS.. => two_units((ms / DAY_MS, "d"), (ms % DAY_MS / HOUR_MS, "h")),
    }
}

fn seconds(ms: u64) -> String {
    let (whole, tenths) = (ms / SECOND_MS, ms % SECOND_MS / 100);
    if tenths == 0 {
        format!("{whole} s")
    } else {
        format!("{whole}.{tenths} s")
    }
}

fn two_units(large: (u64, &str), small: (u64, &str)) -> String {
    if small.0 == 0 {
        format!("{} {}", large.0, large.1)
    } else {
        format!("{} {} {} {}", large.0, large.1, small.0, small.1)
    }
}

/// Year, month (1 to 12) and day (1 to 31) of the day that is `days` after 1970-01-01.
///
/// Whole years are stepped over by the number of leap days before them, in a calendar that starts on
/// 1 March of the year 0, where the leap day is the last of its year and shifts no month.
fn civil_date(days: u64) -> (u64, u64, u64) {
    const DAYS_FROM_YEAR_0_TO_1970: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let days = days + DAYS_FROM_YEAR_0_TO_1970;
    let (cycle, day_of_cycle) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let leap_days = day_of_cycle / 1_460 + day_of_cycle / 146_096 - day_of_cycle / 36_524;
    let year_of_cycle = (day_of_cycle - leap_days) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    // March to July, and August to December, are 153 days each: 30.6 days a month, rounded.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = 400 * cycle + year_of_cycle + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{civil_date, duration, iso8601};

    fn check_moment(ms: u64, expect: &str) {
        assert_eq!(iso8601(ms), expect, "{ms}");
    }

    fn check_duration(ms: u64, expect: &str) {
        assert_eq!(duration(ms), expect, "{ms}");
    }

    #[test]
    fn moments_are_utc_with_milliseconds() {
        check_moment(0, "1970-01-01T00:00:00.000Z");
        check_moment(1, "1970-01-01T00:00:00.001Z");
        check_moment(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check_moment(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check_moment(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check_moment(1_785_242_096_789, "2026-07-28T12:34:56.789Z");
        check_moment(4_107_542_399_999, "2100-02-28T23:59:59.999Z");
        check_moment(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn moments_after_the_year_9999_are_its_last_one() {
        check_moment(253_402_300_799_999, "9999-12-31T23:59:59.999Z");
        check_moment(253_402_300_800_000, "9999-12-31T23:59:59.999Z");
        check_moment(u64::MAX, "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn every_day_follows_the_one_before_it() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..2_932_897 {
            assert_eq!(civil_date(days), (year, month, day), "{days}");
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
    }

    fn days_in_month(year: u64, month: u64) -> u64 {
        match month {
            2 if is_leap(year) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn is_leap(year: u64) -> bool {
        year.is_multiple_of(400) || year.is_multiple_of(4) && !year.is_multiple_of(100)
    }

    #[test]
    fn durations_have_two_units_at_most_and_round_down() {
        check_duration(0, "0 ms");
        check_duration(850, "850 ms");
        check_duration(999, "999 ms");
        check_duration(1_000, "1 s");
        check_duration(3_299, "3.2 s");
        check_duration(59_999, "59.9 s");
        check_duration(60_000, "1 min");
        check_duration(125_999, "2 min 5 s");
        check_duration(3_599_999, "59 min 59 s");
        check_duration(15_120_000, "4 h 12 min");
        check_duration(86_399_999, "23 h 59 min");
        check_duration(86_400_000, "1 d");
        check_duration(273_600_000, "3 d 4 h");
        check_duration(u64::MAX, "213503982334 d 14 h");
    }
}
