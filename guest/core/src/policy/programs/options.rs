//! The options of programs, and how an argument is read as some.

/// What an option says, as far as it matters to which words are a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Meaning {
    /// Nothing, and it has no value, but for one behind `=`.
    Flag,
    /// Nothing, and so many next words are its own, or one less where something stands behind it in its word.
    Values(usize),
    /// Its value is a shell line.
    Line,
    /// With its value the command begins.
    Command,
    /// Its value is split into arguments of the program, which stand in its place.
    Split,
    /// Its value is an assignment of a variable that the command gets.
    Assignment,
    /// A shell is run where no command is given.
    Shell,
    /// No command is run.
    Nothing,
    /// What its value is in the command is replaced.
    Marker,
    /// As that, or `{}` where it has no value in its own word.
    Braces,
    /// It has no value, and the command begins with the next operand, also where one of the program's own would come.
    EndsOperands,
    /// As that, but it has a value.
    EndsOperandsByValue,
    /// It is not known: the next word may be its value, or not.
    Unknown,
}

/// An option in an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Said<'a> {
    pub(in crate::policy) meaning: Meaning,
    /// Its value in the same word.
    pub(in crate::policy) value: Option<&'a str>,
}

/// The options of a program, as words: `-abc` are letters, `--name` is a name, which who types it may shorten, and
/// `-*` and `--*` are all others. What ends the word says what they mean, see [`meaning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Options(pub(in crate::policy) &'static str);

impl Options {
    /// The options that an argument is, which begins with a dash. Only the last one may have a value.
    pub(in crate::policy) fn read(self, argument: &str) -> Vec<Said<'_>> {
        if let Some(long) = argument.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let meaning = self.long(name);
            return vec![Said { meaning, value }];
        }
        let letters = argument.strip_prefix('-').unwrap_or_default();
        let mut said = Vec::new();
        for (place, letter) in letters.char_indices() {
            let meaning = self.letter(letter);
            let rest = &letters[place + letter.len_utf8()..];
            let value = (!rest.is_empty()).then_some(rest);
            said.push(Said { meaning, value });
            if !matches!(
                meaning,
                Meaning::Flag
                    | Meaning::EndsOperands
                    | Meaning::Shell
                    | Meaning::Nothing
                    | Meaning::Unknown
            ) {
                break;
            }
        }
        said
    }

    fn letter(self, letter: char) -> Meaning {
        let is_it = |(name, _): &(&str, Meaning)| {
            let letters = name.strip_prefix('-').filter(|it| !it.starts_with('-'));
            letters.is_some_and(|letters| letters.contains(letter))
        };
        let known = self.all().find(is_it).map(|(_, meaning)| meaning);
        known.unwrap_or_else(|| self.other("-*"))
    }

    /// A whole name counts before those that begin as it does.
    fn long(self, name: &str) -> Meaning {
        let named = |is_it: &dyn Fn(&str) -> bool| {
            let is_it = |(whole, _): &(&str, Meaning)| whole.strip_prefix("--").is_some_and(is_it);
            self.all().find(is_it).map(|(_, meaning)| meaning)
        };
        let whole = named(&|whole| whole == name);
        let short = || named(&|whole| !name.is_empty() && whole.starts_with(name));
        whole.or_else(short).unwrap_or_else(|| self.other("--*"))
    }

    fn other(self, all: &str) -> Meaning {
        let is_all = self.all().any(|(name, _)| name == all);
        if is_all {
            Meaning::Flag
        } else {
            Meaning::Unknown
        }
    }

    fn all(self) -> impl Iterator<Item = (&'static str, Meaning)> {
        self.0.split_whitespace().map(meaning)
    }
}

/// The name in a word of [`Options`], and what that option means.
fn meaning(word: &'static str) -> (&'static str, Meaning) {
    let name = word.trim_end_matches(['?', '=', '!', '>', '^', '$', '~', '%', '&', '@', ':', '+']);
    let meaning = match &word[name.len()..] {
        "?" => Meaning::Values(0),
        "=" => Meaning::Values(1),
        "==" => Meaning::Values(2),
        "===" => Meaning::Values(3),
        "!" => Meaning::Line,
        ">" => Meaning::Command,
        "^" => Meaning::Split,
        "+" => Meaning::Assignment,
        "$" => Meaning::Shell,
        "~" => Meaning::Nothing,
        "%" => Meaning::Marker,
        "&" => Meaning::Braces,
        "@" => Meaning::EndsOperandsByValue,
        ":" => Meaning::EndsOperands,
        _ => Meaning::Flag,
    };
    (name, meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_ends_with_its_value_and_a_name_may_be_short() {
        let options = Options("-n -u= --login$ --login-class= --shell$");
        let check = |argument, expect: &[(Meaning, Option<&str>)]| {
            let said = options.read(argument).into_iter();
            let said: Vec<_> = said.map(|it| (it.meaning, it.value)).collect();
            assert_eq!(said, expect, "{argument}");
        };
        let (value, flag) = (Meaning::Values(1), Meaning::Flag);
        check("-", &[]);
        check("-nu", &[(flag, Some("u")), (value, None)]);
        check("-un", &[(value, Some("n"))]);
        check("-x", &[(Meaning::Unknown, None)]);
        check("--login", &[(Meaning::Shell, None)]);
        check("--login-c", &[(value, None)]);
        check("--login-class=a", &[(value, Some("a"))]);
        check("--sh", &[(Meaning::Shell, None)]);
        check("--unknown", &[(Meaning::Unknown, None)]);
        assert_eq!(Options("-* --*").read("-x")[0].meaning, flag);
        assert_eq!(Options("-* --*").read("--x")[0].meaning, flag);
    }
}
