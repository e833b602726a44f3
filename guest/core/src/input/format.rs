//! The formats of text that MCP names.
//!
//! Tells what is surely wrong, such as a slip of the finger. Whether an address exists, nobody can tell from its form.

use serde::{Deserialize, Serialize};

use crate::text::is_scheme;

/// What a text has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Format {
    /// An address for electronic mail.
    Email,
    /// A URI with its scheme.
    Uri,
    /// A day, such as `2026-07-28`.
    Date,
    /// A moment, such as `2026-07-28T12:34:56Z`.
    DateTime,
}

impl Format {
    /// What it is called, with an article.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Uri => "a URI",
            Self::Date => "a date",
            Self::DateTime => "a date-time",
        }
    }

    /// Whether a text looks like it.
    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
        }
    }
}

/// Whether this is the address of a page that a browser opens: `http` or `https`, and a host.
///
/// *Source:* RFC 3986, Syntax Components.
pub(super) fn is_page(text: &str) -> bool {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    let scheme = ["https://", "http://"]
        .into_iter()
        .find(|scheme| lower.starts_with(scheme));
    let host = scheme.and_then(|scheme| text[scheme.len()..].split(['/', '?', '#']).next());
    is_uri(text) && host.is_some_and(|host| !host.is_empty())
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else {
        return false;
    };
    let is_blank = |character: char| character.is_whitespace() || character.is_control();
    !name.is_empty() && !host.is_empty() && !host.contains('@') && !text.contains(is_blank)
}

/// *Source:* RFC 3986, Syntax Components, and Characters.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_allowed = |it: char| it.is_ascii_graphic() && !"\"<>\\^`{|}".contains(it);
    is_scheme(scheme) && !rest.is_empty() && rest.chars().all(is_allowed)
}

/// *Source:* RFC 3339, Internet Date/Time Format.
fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = numbers(text, '-', [4, 2, 2]) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return false;
    };
    let Some(zone_at) = time.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (time, zone) = time.split_at(zone_at);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|it| it.is_ascii_digit());
    // 60 is a leap second.
    let is_time = |numbers: [u32; 3]| numbers[0] < 24 && numbers[1] < 60 && numbers[2] <= 60;
    is_date(date) && is_fraction && numbers(time, ':', [2; 3]).is_some_and(is_time) && is_zone(zone)
}

fn is_zone(zone: &str) -> bool {
    let is_offset = |offset: &str| {
        numbers(offset, ':', [2; 2]).is_some_and(|[hours, minutes]| hours < 24 && minutes < 60)
    };
    matches!(zone, "Z" | "z") || zone.strip_prefix(['+', '-']).is_some_and(is_offset)
}

/// Numbers with exactly so many digits each.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u32; N]> {
    let parts: Vec<&str> = text.split(separator).collect();
    let mut numbers = [0; N];
    if parts.len() != N {
        return None;
    }
    for (index, part) in parts.into_iter().enumerate() {
        let is_number = part.len() == digits[index] && part.bytes().all(|it| it.is_ascii_digit());
        numbers[index] = part.parse().ok().filter(|_| is_number)?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, right: &[&str], wrong: &[&str]) {
        for text in right {
            assert!(format.fits(text), "{format:?} {text:?}");
        }
        for text in wrong {
            assert!(!format.fits(text), "{format:?} {text:?}");
        }
    }

    #[test]
    fn an_address_has_a_name_and_a_host() {
        check(
            Format::Email,
            &["a@b", "a.b+c@example.org", "ä@example.org"],
            &["", "a", "@b", "a@", "a b@c", "a@b\n"],
        );
    }

    #[test]
    fn a_uri_has_a_scheme_and_no_blanks() {
        check(
            Format::Uri,
            &["https://example.org/a?b#c", "mailto:a@b", "urn:x"],
            &["", "example.org", "://x", "1a:x", "https://a b", "a:"],
        );
    }

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        check(
            Format::Date,
            &["2026-07-28", "2000-02-29", "2024-02-29"],
            &[
                "2026-7-28",
                "2026-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-04-31",
                "2026-01-00",
                "+026-01-01",
            ],
        );
    }

    #[test]
    fn a_moment_is_a_date_a_time_and_a_zone() {
        check(
            Format::DateTime,
            &[
                "2026-07-28T12:34:56Z",
                "2026-07-28t12:34:56.789+02:00",
                "2016-12-31T23:59:60Z",
            ],
            &[
                "2026-07-28",
                "2026-07-28T12:34:56",
                "2026-07-28T24:00:00Z",
                "2026-07-28T12:34:56.Z",
                "2026-07-28T12:34Z",
                "2026-07-28T12:34:56+2:00",
            ],
        );
    }

    #[test]
    fn a_page_is_one_of_the_web_with_a_host() {
        for right in ["https://example.org", "HTTP://localhost:8080/x?y"] {
            assert!(is_page(right), "{right}");
        }
        for wrong in [
            "",
            "https://",
            "https:///x",
            "ftp://example.org",
            "javascript:alert(1)",
            "https://a b",
        ] {
            assert!(!is_page(wrong), "{wrong}");
        }
    }
}
