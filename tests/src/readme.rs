//! The commands that the README gives to who has just cloned the repository.

use std::fs;

use crate::binary::workspace;

/// The heading of the section that has them.
const HEADING: &str = "## Two commands";

/// What the README's commands begin with where they run the program: the built binary stands in for it in a test.
pub const RUN: &str = "cargo run --release --";

/// The commands of the README's section "Two commands", in their order, each as it is there.
///
/// # Panics
/// Where there is no such section, or it has no command.
#[must_use]
pub fn readme_commands() -> Vec<String> {
    let commands = commands(&text());
    assert!(!commands.is_empty(), "the section {HEADING} has no command");
    commands
}

/// The blocks of a language that the README shows, in their order, each line with its end.
///
/// # Panics
/// Where there is no README.
#[must_use]
pub fn readme_blocks(language: &str) -> Vec<String> {
    blocks(text().lines(), language)
}

fn text() -> String {
    fs::read_to_string(workspace().join("README.md")).expect("there is a README")
}

/// Each line of the shell blocks of the section.
fn commands(text: &str) -> Vec<String> {
    let after = text.lines().skip_while(|line| *line != HEADING).skip(1);
    let section = after.take_while(|line| !line.starts_with("## "));
    let blocks = blocks(section, "sh").concat();
    blocks.lines().map(str::to_owned).collect()
}

fn blocks<'a>(mut lines: impl Iterator<Item = &'a str>, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        if line.strip_prefix("```") == Some(language) {
            let block = lines.by_ref().take_while(|line| *line != "```");
            blocks.push(block.flat_map(|line| [line, "\n"]).collect());
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shell_blocks_of_the_section_count() {
        let text = "```sh\nbefore\n```\n## Two commands\nwords\n```sh\none\ntwo\n```\n```json\n{}\n```\n```sh\nthree\n```\n\
                    ## Next\n```sh\nafter\n```\n";
        assert_eq!(commands(text), ["one", "two", "three"]);
    }
}
