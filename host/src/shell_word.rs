//! Words and commands of a shell's line, in messages that a person or a model may copy.

use std::path::Path;

/// Quotes `text` where a shell would not take it as it is.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What a command does with a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verb {
    /// Shows it.
    Show,
    /// Answers what it asks.
    Answer,
    /// Stops its job.
    Cancel,
    /// Runs a command, which is appended in the place of an id.
    Run,
}

impl Verb {
    /// As it is typed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Show => "show",
            Self::Answer => "answer",
            Self::Cancel => "cancel",
            Self::Run => "run",
        }
    }
}

/// The command that does this with a task when a space and its id are appended; `None` for `data_dir` is the default
/// one.
///
/// `None` where a path is no text, or none that fits on one line.
pub(crate) fn command(program: &Path, verb: Verb, data_dir: Option<&Path>) -> Option<String> {
    let mut words = vec![shell_word(program.to_str()?), verb.word().to_owned()];
    if let Some(data_dir) = data_dir {
        words.extend(["--data-dir".to_owned(), shell_word(data_dir.to_str()?)]);
    }
    let command = words.join(" ");
    (!command.contains(char::is_control)).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_shows_a_task_can_be_typed_as_it_is() {
        let shown = |data: &str| command(Path::new("/opt/it's"), Verb::Show, Some(Path::new(data)));
        let expect = |word: &str| Some(format!(r"'/opt/it'\''s' show --data-dir {word}"));
        assert_eq!(shown("/a/b-1"), expect("/a/b-1"));
        assert_eq!(shown("/a b"), expect("'/a b'"));
        assert_eq!(shown("/a\nb"), None);
        let default = command(Path::new("backburner"), Verb::Show, None);
        assert_eq!(default.as_deref(), Some("backburner show"));
    }
}
