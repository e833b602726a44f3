//! The end of what a job wrote to its terminal, as a person reads it: what it asks, if it waits.

use super::super::limits::{PROMPT_CHARS, PROMPT_LINES, TAIL_BYTES};

/// Parts of prompts for what nobody but the job may know.
const SECRETS: [&str; 23] = [
    "password",
    "passwort",
    "passwd",
    "passphrase",
    "pass phrase",
    "passcode",
    "passkey",
    "secret",
    "credential",
    "api key",
    "private key",
    "recovery key",
    "seed phrase",
    "mnemonic",
    "one-time",
    "verification code",
    "authentication code",
    "authenticator",
    "security code",
    "recovery code",
    "backup code",
    "login code",
    "social security",
];

/// The same, as words of their own: they are parts of many others.
const SECRET_WORDS: [&str; 9] = [
    "pin", "otp", "totp", "mfa", "2fa", "pwd", "cvv", "cvc", "ssn",
];

/// The same, as ends of words: `authToken`, but not `Tokenize?`.
const SECRET_ENDS: [&str; 2] = ["token", "tokens"];

/// The same, where nothing but this is asked for: elsewhere it is mostly a verb.
const SECRET_LAST_WORD: &str = "pass";

/// How many letters and digits say something: less than that, as in `> ` and `[y/N]`, needs the lines before it.
const TELLING_CHARS: usize = 4;

/// The last bytes, since something was typed.
#[derive(Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    echo: Echo,
    /// How many lines were ever finished.
    lines: u64,
}

/// Whether what was typed stands before what the job wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Echo {
    /// It does not.
    #[default]
    None,
    /// It is the first line.
    Line,
}

impl Tail {
    /// Takes what was written next.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.lines += bytes.iter().map(|it| u64::from(*it == b'\n')).sum::<u64>();
        let bytes = &bytes[bytes.len().saturating_sub(TAIL_BYTES)..];
        let old = (self.bytes.len() + bytes.len()).saturating_sub(TAIL_BYTES);
        if old > 0 {
            self.echo = Echo::None;
        }
        self.bytes.drain(..old);
        self.bytes.extend_from_slice(bytes);
    }

    /// Forgets everything, since it was answered: what the job asks next is behind it.
    pub(super) fn answered(&mut self, echo: Echo) {
        self.bytes.clear();
        self.echo = echo;
    }

    /// How many lines were ever finished, also of what is kept no more: two prompts between which this has changed are not
    /// one, whatever they say.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Whether something stands in the last line, which has no end yet: as a prompt does.
    pub(super) fn is_unfinished(&self) -> bool {
        let text = self.shown();
        let last = text.rsplit('\n').next();
        last.is_some_and(|line| !line.trim().is_empty())
    }

    /// What the last line says, with some before it where that alone says nothing; empty where nothing was written.
    pub(super) fn prompt(&self) -> String {
        let text = self.shown();
        let lines = text.lines().map(str::trim_end);
        let mut lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
        let Some(last) = lines.last() else {
            return String::new();
        };
        let telling = last.chars().filter(|it| it.is_alphanumeric()).count();
        let wanted = if telling < TELLING_CHARS {
            PROMPT_LINES
        } else {
            1
        };
        lines.drain(..lines.len().saturating_sub(wanted));
        let prompt = lines.join("\n");
        let prompt = prompt.trim();
        let too_many = prompt.chars().count().saturating_sub(PROMPT_CHARS);
        prompt.chars().skip(too_many).collect()
    }

    fn shown(&self) -> String {
        let text = shown(&self.bytes);
        match (self.echo, text.split_once('\n')) {
            (Echo::None, _) => text,
            (Echo::Line, Some((_, rest))) => rest.to_owned(),
            (Echo::Line, None) => String::new(),
        }
    }
}

/// Whether a prompt asks for what must not pass through a client, by its words.
pub(super) fn is_secret(prompt: &str) -> bool {
    let prompt = prompt.to_lowercase();
    let words = prompt.split(|it: char| !it.is_alphanumeric());
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    SECRETS.iter().any(|part| prompt.contains(part))
        || words.iter().any(|it| SECRET_WORDS.contains(it))
        || words
            .iter()
            .any(|it| SECRET_ENDS.iter().any(|end| it.ends_with(end)))
        || words.last() == Some(&SECRET_LAST_WORD)
}

/// What a terminal shows of these bytes, whose cursor moves within a line only.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = String::new();
    let mut line = Line::default();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\x1b' => line.obey(&mut rest),
            '\n' => {
                lines.extend(line.cells.drain(..).chain(['\n']));
                line.at = 0;
            }
            '\r' => line.at = 0,
            '\x08' => line.at = line.at.saturating_sub(1),
            '\t' => line.put(' '),
            other if other.is_control() => {}
            other => line.put(other),
        }
    }
    lines.extend(line.cells);
    lines
}

/// The line in which the cursor is.
#[derive(Default)]
struct Line {
    cells: Vec<char>,
    at: usize,
}

impl Line {
    fn put(&mut self, character: char) {
        if self.cells.len() <= self.at {
            self.cells.resize(self.at + 1, ' ');
        }
        self.cells[self.at] = character;
        self.at += 1;
    }

    /// Does what stands behind an ESC, if that is about this line, and passes over a colour, a title and the like.
    fn obey(&mut self, rest: &mut std::str::Chars<'_>) {
        match rest.next() {
            Some('[') => {
                let text = rest.as_str();
                let end = text.find(|it: char| !matches!(it, '\x20'..='\x3f'));
                let (parameters, behind) = text.split_at(end.unwrap_or(text.len()));
                *rest = behind.chars();
                if let Some(command) = rest.next() {
                    self.control(command, parameters);
                }
            }
            Some(']' | 'P' | '^' | '_') => {
                // Up to BEL or ESC and a backslash.
                let text = rest.as_str();
                let end = text.find(['\x07', '\x1b', '\n']).unwrap_or(text.len());
                let behind = &text[end..];
                let behind = behind.strip_prefix('\x07').unwrap_or(behind);
                let behind = behind.strip_prefix("\x1b\\").unwrap_or(behind);
                *rest = behind.chars();
            }
            Some('(' | ')' | '#' | '%') => {
                rest.next();
            }
            _ => {}
        }
    }

    /// *Source:* ECMA-48, Control functions: EL, ED, CHA, CUF, CUB.
    fn control(&mut self, command: char, parameters: &str) {
        // Whoever moves far away writes no prompt there.
        let number = parameters.parse().unwrap_or(0).min(PROMPT_CHARS);
        match (command, number) {
            ('K' | 'J', 0) => self.cells.truncate(self.at),
            ('K', 1) => {
                let to = self.cells.len().min(self.at + 1);
                self.cells[..to].fill(' ');
            }
            ('K' | 'J', _) => self.cells.clear(),
            ('G', column) => self.at = column.saturating_sub(1),
            ('C', columns) => self.at = (self.at + columns.max(1)).min(PROMPT_CHARS),
            ('D', columns) => self.at = self.at.saturating_sub(columns.max(1)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(text: &str) -> Tail {
        let mut tail = Tail::default();
        // Cut anywhere.
        for byte in text.as_bytes() {
            tail.add(&[*byte]);
        }
        tail
    }

    #[test]
    fn the_prompt_is_the_last_line_as_it_is_seen() {
        for (text, prompt) in [
            ("Name: ", "Name:"),
            ("one\r\nYour name? ", "Your name?"),
            ("Your name?\r\n", "Your name?"),
            ("\x1b[1;32mGo on?\x1b[0m [y/N] ", "Go on? [y/N]"),
            ("\x1b]0;title\x07Go on? ", "Go on?"),
            ("\x1b]0;title\x1b\\Go on? ", "Go on?"),
            ("100%\rready? ", "ready?"),
            ("100% done\rgo\x1b[K on? ", "go on?"),
            ("noise\x1b[2K\x1b[GName? ", "Name?"),
            ("noise\x1b[2DNN\x1b[1GX: \x1b[0J", "X:"),
            ("a\x1b[3Cb:cd", "a   b:cd"),
            ("Namf\x08e: ", "Name:"),
            ("a\tb c d", "a b c d"),
            ("", ""),
            ("\r\n \r\n", ""),
            ("Größe: ", "Größe:"),
        ] {
            assert_eq!(tail(text).prompt(), prompt, "{text:?}");
        }
        let far = tail("a\x1b[999999999Gb: ").prompt();
        assert!(far.ends_with("   b:") && far.chars().count() <= PROMPT_CHARS);
    }

    #[test]
    fn a_last_line_that_says_nothing_has_those_before_it() {
        let text = "Pick one\r\n\r\n1) red\r\n2) blue\r\n#? ";
        assert_eq!(tail(text).prompt(), "Pick one\n1) red\n2) blue\n#?");
        assert_eq!(tail("noise\r\nGo on? [y/N] ").prompt(), "Go on? [y/N]");
    }

    #[test]
    fn a_line_is_unfinished_while_something_stands_in_it() {
        for text in ["Name: ", "a\r\nb", "done.\r"] {
            assert!(tail(text).is_unfinished(), "{text:?}");
        }
        for text in ["", "Name:\r\n", "a\r\n  ", "a\n\x1b[0m", "work\r\x1b[K"] {
            assert!(!tail(text).is_unfinished(), "{text:?}");
        }
    }

    #[test]
    fn what_was_answered_is_asked_no_more() {
        let mut tail = tail("First? ");
        tail.answered(Echo::Line);
        assert_eq!((tail.prompt().as_str(), tail.is_unfinished()), ("", false));
        tail.add(b"yes");
        assert_eq!((tail.prompt().as_str(), tail.is_unfinished()), ("", false));
        tail.add(b"\r\nSecond? ");
        assert_eq!(tail.prompt(), "Second?");
        tail.answered(Echo::None);
        tail.add(b"Third? ");
        assert_eq!(tail.prompt(), "Third?");
    }

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = Tail::default();
        tail.add(&[b'x'; 3 * TAIL_BYTES]);
        tail.add(b"\nName: ");
        assert_eq!((tail.bytes.len(), tail.lines()), (TAIL_BYTES, 1));
        assert_eq!(tail.prompt(), "Name:");
        tail.add(&[b'\n'; 2 * TAIL_BYTES]);
        assert_eq!(tail.lines(), 1 + 2 * TAIL_BYTES as u64);
        let long = "y".repeat(2 * PROMPT_CHARS);
        tail.add(long.as_bytes());
        assert_eq!(tail.prompt().chars().count(), PROMPT_CHARS);
    }

    #[test]
    fn a_prompt_for_a_secret_is_known_by_its_words() {
        for prompt in [
            "Password:",
            "Enter passphrase for key 'x':",
            "API key: ",
            "[sudo] password for me:",
            "API token\n>",
            "PIN?",
            "your OTP:",
            "user/pass:",
            "New passwd for x:",
            "MFA code:",
            "Enter the 2FA code",
            "Your recovery key:",
            "SSN:",
            "Authtoken:",
            "accessToken:",
        ] {
            assert!(is_secret(prompt), "{prompt}");
        }
        for prompt in [
            "Name:",
            "Which topping?",
            "Go on? [y/N]",
            "Tokenize? [y/N]",
            "Pass it on?",
        ] {
            assert!(!is_secret(prompt), "{prompt}");
        }
    }
}
