//! What a person types.
//!
//! `run`, `show`, `cancel` and `answer` are an MCP client of this same program: they start a server as a child and talk
//! to it over its standard streams, so that a person gets what every other client gets. `ask` and `progress` are for
//! the processes of a job, and need no server. Only this module prints. Data goes to standard output, everything else
//! to standard error.

mod answer;
mod arguments;
mod ask;
mod cancel;
mod check;
mod client;
mod earlier;
mod exit_code;
mod field;
mod follow;
mod form;
mod help;
mod input;
mod inside_arguments;
mod json;
mod line;
mod moment;
mod output;
mod plain;
mod programs;
mod question;
mod response;
mod run;
mod secret;
mod show;
mod signals;
mod task;
mod terminal;
mod values;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

pub use self::arguments::{
    CancelOptions, CheckOptions, Cli, Command, HelpOptions, RunOptions, ServeOptions, ShowOptions,
};
use self::client::{ClientError, Interruption};
pub use self::inside_arguments::{AnswerOptions, AskOptions, ProgressOptions};
use self::terminal::PrintError;
use crate::config;
use crate::data_dir;
use crate::environment::variable;
use crate::jobs::supervisor::TASK_VARIABLE;
use crate::serve::ServeError;
use crate::shell_word::{self, Verb};

/// What a person says of the server that a command starts.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    /// Where the tasks are; `None` for the default one.
    data_dir: Option<&'a Path>,
    /// The configuration file; `None` for the one that is found.
    config: Option<&'a Path>,
}

/// Reads the command line. Where it asks for help, or is wrong, that is told and this gives the exit status.
///
/// # Errors
/// The exit status of the program, which has nothing else to do.
pub fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|told| {
        let status = match told.use_stderr() {
            false => exit_code::SUCCESS,
            // There, the usual status means that nobody answered.
            true if is_ask() => exit_code::FAILURE,
            true => exit_code::USAGE,
        };
        match told.print() {
            Ok(()) => status.into(),
            // A wrong command line stays one where nobody can be told; and nobody reads any more, as with `| head`.
            Err(_) if told.use_stderr() => status.into(),
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => status.into(),
            Err(error) => report(Err(PrintError::Failed(error).into())),
        }
    })
}

/// Whether the command line, which may be wrong, is one of `backburner ask`.
fn is_ask() -> bool {
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("ask") => return true,
            Some(option) if has_value(option) => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            _ => return false,
        }
    }
    false
}

/// Whether this is an option that stands before a command, and the next word is its value.
fn has_value(word: &str) -> bool {
    let Some(name) = word.strip_prefix("--") else {
        return false;
    };
    let program = Cli::command();
    program
        .get_arguments()
        .any(|it| it.get_long() == Some(name) && it.get_action().takes_values())
}

/// Carries out a command that is a client's.
///
/// # Errors
/// What the person has to know and can do something about, in words; for [`report`].
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let place = Place {
        data_dir: cli.data_dir.as_deref(),
        config: cli.config.as_deref(),
    };
    match cli.command {
        Some(Command::Run(options)) => run::run(place, options),
        Some(Command::Show(options)) => show::show(place, &options),
        Some(Command::Cancel(options)) => cancel::cancel(place, &options),
        Some(Command::Answer(options)) => answer::answer(place, &options),
        Some(Command::Ask(options)) => ask::ask(place.data_dir, &options),
        Some(Command::Progress(options)) => ask::progress(place.data_dir, &options),
        Some(Command::Check(CheckOptions {})) => check::check(place.config),
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
    if !matches!(
        error.downcast_ref(),
        Some(ClientError::Unable | ClientError::Misconfigured)
    ) {
        terminal::say(&format!("backburner: {error:#}"));
    }
    if let Some(&PrintError::Left(interruption)) = error.downcast_ref() {
        return die_of(interruption);
    }
    match error.downcast_ref() {
        Some(&ClientError::Interrupted(interruption)) => die_of(interruption),
        Some(ClientError::Misconfigured) => exit_code::USAGE.into(),
        _ if is_of_configuration(&error) => exit_code::USAGE.into(),
        _ => exit_code::FAILURE.into(),
    }
}

/// Whether a server does not serve because of what a person has written.
fn is_of_configuration(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ServeError::Config(_)))
        || error.downcast_ref::<config::Error>().is_some()
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
    command(Verb::Show, data_dir, id)
}

/// The command that answers what a task asks, as [`show_command`].
fn answer_command(data_dir: Option<&Path>, id: &str) -> String {
    command(Verb::Answer, data_dir, id)
}

/// How a task can be seen and its job stopped, in two lines; inside of a job a third one says how long it goes on at
/// most.
fn what_next(data_dir: Option<&Path>, id: &str) -> String {
    let [show, cancel] = [Verb::Show, Verb::Cancel].map(|verb| command(verb, data_dir, id));
    let lines = format!("to see it: {show}\nto stop it: {cancel}");
    match variable(TASK_VARIABLE) {
        Some(around) => format!(
            "{lines}\nit is a part of the job {}, and is stopped when that ends",
            around.display()
        ),
        None => lines,
    }
}

/// The command that does something with a task.
fn command(verb: Verb, data_dir: Option<&Path>, id: &str) -> String {
    let program = std::env::args_os()
        .next()
        .unwrap_or_else(|| "backburner".into());
    let program = PathBuf::from(program);
    // A name alone is looked for in `PATH`, from everywhere.
    let is_name = program.file_name() == Some(program.as_os_str());
    let program = if is_name { program } else { absolute(&program) };
    let by_environment = variable(data_dir::VARIABLE).map(PathBuf::from);
    let data_dir = told_directory(data_dir, by_environment.as_deref());
    let command = shell_word::command(&program, verb, data_dir.as_deref());
    // Only the person can write such paths.
    let command = command.unwrap_or_else(|| format!("backburner {} --data-dir DIR", verb.word()));
    format!("{command} {id}")
}

/// The data directory that a command names. Also the one of the environment: the command may be typed in another
/// terminal, or be read in what a job wrote.
fn told_directory(by_option: Option<&Path>, by_environment: Option<&Path>) -> Option<PathBuf> {
    by_option.or(by_environment).map(absolute)
}

/// The same path from every directory; one that has no absolute form is left as the person wrote it.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_told_names_the_directory_of_the_environment_unless_an_option_names_one() {
        let [option, environment] = ["/option", "/environment"].map(|it| Some(Path::new(it)));
        for (by_option, by_environment, named) in [
            (None, None, None),
            (None, environment, environment),
            (option, None, option),
            (option, environment, option),
        ] {
            let told = told_directory(by_option, by_environment);
            assert_eq!(told.as_deref(), named);
        }
    }
}
