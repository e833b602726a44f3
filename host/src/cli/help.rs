//! `backburner help`: the same texts as `--help`.

use std::process::ExitCode;

use clap::CommandFactory as _;

use super::{Cli, HelpOptions, terminal, wrong_usage};

/// Prints the help of the program or of one of its commands.
///
/// # Errors
/// A [`clap::Error`] where there is no such command; where standard output cannot be written to.
pub(super) fn help(options: &HelpOptions) -> anyhow::Result<ExitCode> {
    let mut program = Cli::command();
    // Gives the commands their full names, and the options that all of them have.
    program.build();
    let explained = match &options.command {
        None => &mut program,
        Some(name) => program
            .find_subcommand_mut(name)
            .ok_or_else(|| wrong_usage("help", format!("there is no command `{name}`")))?,
    };
    terminal::print(&explained.render_long_help().to_string())?;
    Ok(ExitCode::SUCCESS)
}
