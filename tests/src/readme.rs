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
    let text = fs::read_to_string(workspace().join("README.md")).expect("there is a README");
    let commands = commands(&text);
    assert!(!commands.is_empty(), "the section {HEADING} has no command");
    commands
}

/// Each line of the shell blocks of the section.
fn commands(text: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| *line != HEADING).skip(1);
    let mut commands = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("## ") {
            break;
        }
        if line == "```sh" {
            let block = lines.by_ref().take_while(|line| *line != "```");
            commands.extend(block.map(str::to_owned));
        }
    }
    commands
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
