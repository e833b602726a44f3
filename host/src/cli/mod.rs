//! What a person types.
//!
//! `run`, `show` and `cancel` are an MCP client of this same program: they start a server as a child and talk to it
//! over its standard streams, so that a person gets what every other client gets. Only this module prints. Data goes
//! to standard output, everything else to standard error.

mod arguments;
mod cancel;
mod client;
mod earlier;
mod exit_code;
mod follow;
mod help;
mod input;
mod moment;
mod output;
mod plain;
mod run;
mod show;
mod task;
mod terminal;
mod values;

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

pub use self::arguments::{
    CancelOptions, Cli, Command, HelpOptions, RunOptions, ServeOptions, ShowOptions,
};
use self::client::{ClientError, Interruption};
use crate::shell_word;

/// Reads the command line. Where it asks for help, or is wrong, that is told and this gives the exit status.
///
/// # Errors
/// The exit status of the program, which has nothing else to do.
pub fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|told| {
        let status = if told.use_stderr() {
            exit_code::USAGE
        } else {
            exit_code::SUCCESS
        };
        match told.print() {
            Ok(()) => status.into(),
            // A wrong command line stays one where nobody can be told; and nobody reads any more, as with `| head`.
            Err(_) if told.use_stderr() => status.into(),
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => status.into(),
            Err(error) => report(Err(terminal::Unwritable(error).into())),
        }
    })
}

/// Carries out a command that is a client's.
///
/// # Errors
/// What the person has to know and can do something about, in words; for [`report`].
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let data_dir = cli.data_dir.as_deref();
    match cli.command {
        Some(Command::Run(options)) => run::run(data_dir, options),
        Some(Command::Show(options)) => show::show(data_dir, &options),
        Some(Command::Cancel(options)) => cancel::cancel(data_dir, &options),
        Some(Command::Help(options)) => help::help(&options),
        // A server is the caller's to start; here it can only be a person who looks for help.
        Some(Command::Serve(_)) | None => Ok(explain()),
    }
}

/// Says how to use this program, to a person who started a server on a terminal, where no client can be.
#[must_use]
pub fn explain() -> ExitCode {
    terminal::say(&Cli::command().render_long_help().to_string());
    exit_code::USAGE.into()
}

/// Says what went wrong, where something did, and gives the exit status of the program. Does not return where a signal
/// ended what it did: then the program dies of that signal.
#[must_use]
pub fn report(result: anyhow::Result<ExitCode>) -> ExitCode {
    let error = match result {
        Ok(code) => return code,
        Err(error) => error,
    };
    if let Some(wrong) = error.downcast_ref::<clap::Error>() {
        // Nobody is left to be told that standard error is gone; also below.
        let _ = wrong.print();
        return exit_code::USAGE.into();
    }
    if let Some(&interruption) = error.downcast_ref::<Interruption>() {
        // It has been said what becomes of the job.
        return die_of(interruption);
    }
    // A server that could not serve has said so on the same standard error.
    if !matches!(error.downcast_ref(), Some(ClientError::Unable)) {
        terminal::say(&format!("backburner: {error:#}"));
    }
    match error.downcast_ref() {
        Some(&ClientError::Interrupted(interruption)) => die_of(interruption),
        _ => exit_code::FAILURE.into(),
    }
}

/// Ends as a program does that knows nothing of the signal: only so a shell's script or loop ends with it.
fn die_of(interruption: Interruption) -> ExitCode {
    // Where this fails, the exit status is what a shell would show.
    let _ = signal_hook::low_level::emulate_default_handler(interruption.signal.into());
    exit_code::of_interruption(interruption).into()
}

/// A command line that the grammar lets through and that is wrong: said as what the grammar finds is.
fn wrong_usage(command: &str, message: String) -> anyhow::Error {
    let mut program = Cli::command();
    // Gives the command its full name.
    program.build();
    program
        .find_subcommand_mut(command)
        .expect("only the names of commands are given")
        .error(clap::error::ErrorKind::InvalidValue, message)
        .into()
}

/// The command that shows a task, as a person has to type it to reach this same program and its data.
fn show_command(data_dir: Option<&Path>, id: &str) -> String {
    let program = std::env::args_os()
        .next()
        .unwrap_or_else(|| "backburner".into());
    // Wherever it is typed; a path that has no absolute form is left as the person wrote it.
    let data_dir =
        data_dir.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    let command = shell_word::show_command(Path::new(&program), data_dir.as_deref());
    // Only the person can write such paths.
    let command = command.unwrap_or_else(|| "backburner show --data-dir DIR".to_owned());
    format!("{command} {id}")
}
