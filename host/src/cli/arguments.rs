//! The command line's grammar, and the texts of its help.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser as _;
use clap::{Args, Parser, Subcommand};
use serde_json::{Map, Value};

use super::values::{Lasting, duration, key, label, variable, whole};

/// How long a client without tasks waits, in seconds, unless the person says otherwise.
const SYNC_LIMIT_SECONDS: u64 = 30;

/// How long a client with tasks waits for a direct result, in milliseconds, unless the person says otherwise.
const DIRECT_LIMIT_MILLISECONDS: u64 = 100;

/// How long a job that is stopped may take to end by itself, in seconds, unless the person says otherwise.
const GRACE_SECONDS: u64 = 5;

/// How much of a job's output is kept, in bytes, unless the person says otherwise.
const OUTPUT_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// The longest message that a client may send, in bytes, unless the person says otherwise.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Put slow shell commands on the back burner: an MCP server whose jobs outlive it.
///
/// Without a command this is a stdio server (as `serve` is), to be started by an MCP client. The other commands are
/// for people: they start such a server and use it as a client does. A job goes on when the client, the server or
/// the session ends, and any later one finds it by its id.
#[derive(Debug, Parser)]
#[command(version, after_long_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    /// Where everything is kept [default: $BACKBURNER_DIR, else the user's state directory]
    ///
    /// The directory is created where it is missing, and closed to other users. Servers that use the same directory
    /// see the same tasks. The user's state directory is $XDG_STATE_HOME/backburner or ~/.local/state/backburner, on
    /// macOS ~/Library/Application Support/backburner.
    #[arg(long, global = true, value_name = "DIR", value_parser = clap::value_parser!(PathBuf))]
    pub data_dir: Option<PathBuf>,

    /// What to do; `None` for a stdio server.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  backburner run 'make -j4 && make check'   run a shell line as a job and follow it
  backburner run --detach -- cargo test     start a program and print the id of its task
  backburner show ID                        what became of it, now or years later
  backburner cancel ID                      stop it and everything it started

An MCP client is given the command `backburner` (or `backburner serve`) without anything else.";

/// What the tool takes as a timeout.
const TIMEOUT: Lasting = Lasting {
    least_ms: 1,
    most_days: 31,
};

/// What the tool takes as a time to live.
const TTL: Lasting = Lasting {
    least_ms: 1000,
    most_days: 365,
};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an MCP client over standard input and output
    Serve(ServeOptions),
    /// Run a command as a durable job and follow it to its end
    Run(RunOptions),
    /// Show a task: its state, and its result where it has ended
    Show(ShowOptions),
    /// Stop a task's job and wait until nothing of it runs
    Cancel(CancelOptions),
    /// Explain this program or one of its commands
    Help(HelpOptions),
}

/// How a server treats its client.
#[derive(Clone, Debug, Args)]
pub struct ServeOptions {
    /// How long a client without the Tasks extension waits for a command before it is told that it goes on, 0 to 3600
    #[arg(
        long, value_name = "SECONDS", default_value_t = SYNC_LIMIT_SECONDS,
        value_parser = whole("seconds", 0..=3600)
    )]
    pub sync_limit: u64,

    /// How long a client with the Tasks extension waits for a direct result before it is given a task, 0 to 60000
    #[arg(
        long, value_name = "MILLISECONDS", default_value_t = DIRECT_LIMIT_MILLISECONDS,
        value_parser = whole("milliseconds", 0..=60_000)
    )]
    pub direct_limit: u64,

    /// The longest message that is accepted, in bytes, 1024 to 16777216 (16 MiB)
    #[arg(
        long, value_name = "N", default_value_t = MAX_MESSAGE_BYTES,
        value_parser = whole("bytes", 1024..=16 * 1024 * 1024).try_map(usize::try_from)
    )]
    pub max_message_bytes: usize,

    /// How long a job that is stopped may take to end by itself before it is killed, 0 to 600
    #[arg(
        long, value_name = "SECONDS", default_value_t = GRACE_SECONDS,
        value_parser = whole("seconds", 0..=600)
    )]
    pub grace: u64,

    /// How much of a job's output is kept, in bytes, 4096 to 1099511627776 (1 TiB): of more, the beginning and the end
    #[arg(
        long, value_name = "BYTES", default_value_t = OUTPUT_LIMIT_BYTES,
        value_parser = whole("bytes", 4096..=1 << 40)
    )]
    pub output_limit: u64,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            sync_limit: SYNC_LIMIT_SECONDS,
            direct_limit: DIRECT_LIMIT_MILLISECONDS,
            max_message_bytes: MAX_MESSAGE_BYTES,
            grace: GRACE_SECONDS,
            output_limit: OUTPUT_LIMIT_BYTES,
        }
    }
}

impl ServeOptions {
    /// What the component is configured with: members of `configure`, as the README of the WIT has them.
    #[must_use]
    pub fn component_config(&self) -> Map<String, Value> {
        let members = [
            ("syncLimitMs", self.sync_limit * 1000),
            ("directLimitMs", self.direct_limit),
            ("graceMs", self.grace * 1000),
            ("outputLimitBytes", self.output_limit),
        ];
        let members = members.map(|(name, value)| (name.to_owned(), value.into()));
        members.into_iter().collect()
    }
}

/// What to run, and how.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Output: when the command has ended, what it wrote goes to standard output, both streams as a terminal would show each \
line: without colours, and without what was overwritten, such as a progress bar. Blank lines at the end are left out, \
and the last line ends with a line feed in any case. Of more than 32 KiB the beginning and the end are printed, and a \
note about what is missing goes to standard error; a long line may be cut in two there. For all of it, byte for byte, \
have the command write to a file. Of a task that was cancelled or failed there is no output, but the last line of it \
in the message.

All else goes to standard error: the task's id, while the command runs the last line that it wrote, and in the end how \
it ended and how to see it again.

Exit status:
  that of the command, where it ended by itself
  128 and the signal's number, where a signal ended it that backburner did not send
  123 where its task was cancelled
  124 where it was stopped because of --timeout
  125 where it could not be started, the key stands for another call, its end is not known, or backburner itself failed
  2   for a command line that is wrong whatever the server says
Ctrl-C (SIGINT) and SIGTERM end backburner, which a shell shows as 130 and 143; the job goes on, and the message says so. \
With --detach the status is 0, and 125 where it is known at once, within about 100 ms, that the command could not be \
started, or nothing was run. A command may end with one of these numbers by itself: `show ID --json` tells them apart.")]
pub struct RunOptions {
    /// What you call it, at most 100 characters: all that is said of its task begins with it
    #[arg(long, value_name = "L", value_parser = label)]
    pub label: Option<String>,

    /// The directory to run it in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// A variable for its environment; may be given several times, and the last one of a name counts.
    /// BACKBURNER_TASK_ID is always the task's id
    #[arg(long, value_name = "K=V", value_parser = variable)]
    pub env: Vec<(String, String)>,

    /// Give it this program's standard input, read to its end first: UTF-8, at most 512 KiB as JSON with all other
    /// arguments [default: it is empty]
    #[arg(long)]
    pub stdin: bool,

    /// After how long it is stopped: seconds, or a number with s, m, h or d, such as 90, 0.5s or 1.5h, at most 31d
    /// [default: never]
    #[arg(long, value_name = "DURATION", value_parser = duration(TIMEOUT))]
    pub timeout: Option<Duration>,

    /// How long its task is kept, from its start, such as 12h or 7d, at least 1s, at most 365d; after it the job is
    /// stopped if it still runs, and everything about it is deleted [default: for ever]
    #[arg(long, value_name = "DURATION", value_parser = duration(TTL))]
    pub ttl: Option<Duration>,

    /// A name for this call, at most 256 characters, fewer where they are not ASCII: the same call again shows the first
    /// one's task, says so, and runs nothing, also where that failed. With another command, directory or option it is an
    /// error
    #[arg(long, value_name = "KEY", value_parser = key)]
    pub key: Option<String>,

    /// Print the id of the task to standard output, and leave the job alone
    #[arg(long)]
    pub detach: bool,

    /// Print the task as JSON in the end, instead of what the command wrote
    #[arg(long, conflicts_with = "detach")]
    pub json: bool,

    /// A shell line, where it is one quoted argument; else a program and its arguments, which run without a shell
    ///
    /// Options of `run` go before it: everything after its first word belongs to the command.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Which task to show, and how.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Output: the task's state goes to standard error. Where the command has ended, by itself or by its timeout, what it wrote \
goes to standard output, as `run` prints it. While it runs, and where its task was cancelled or failed, there is nothing \
on standard output: the state has the last line that it wrote.

Exit status: 0 where the task was shown, whatever became of its command; 125 where there is no such task or backburner \
itself failed; 2 for a wrong command line.")]
pub struct ShowOptions {
    /// The task's id, as `run` printed it
    pub id: String,

    /// Print the task as JSON, as the protocol has it, to standard output
    #[arg(long)]
    pub json: bool,
}

/// Which task to cancel.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Output: how the task ended goes to standard output, which is another word than `cancelled` where the job was quicker.

Exit status: 0 where the task has ended, however it did; 125 where there is no such task or backburner itself failed; 2 \
for a wrong command line. Ctrl-C ends backburner; the job is stopped all the same.")]
pub struct CancelOptions {
    /// The task's id, as `run` printed it
    pub id: String,
}

/// What to explain.
#[derive(Debug, Args)]
pub struct HelpOptions {
    /// The command to explain [default: the whole program]
    pub command: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(line: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once(&"backburner").chain(line))
    }

    fn run(line: &[&str]) -> RunOptions {
        match parse(line).map(|cli| cli.command) {
            Ok(Some(Command::Run(options))) => options,
            other => panic!("{line:?} is no `run`: {other:?}"),
        }
    }

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_option_of_a_command_belongs_to_the_command_it_runs() {
        let options = run(&["run", "--label", "l", "grep", "--json", "-r", "x"]);
        assert_eq!(options.command, ["grep", "--json", "-r", "x"]);
        assert!(!options.json);
        assert_eq!(run(&["run", "--", "-x"]).command, ["-x"]);
    }

    #[test]
    fn an_unknown_option_is_not_taken_for_the_command() {
        for line in [&["run", "--detatch", "true"][..], &["run", "-x"]] {
            parse(line).expect_err("it is a slip of the finger");
        }
    }

    #[test]
    fn a_command_is_required() {
        parse(&["run", "--detach"]).expect_err("there is nothing to run");
    }

    #[test]
    fn the_data_directory_may_stand_anywhere() {
        for line in [
            ["--data-dir", "d", "show", "ID"],
            ["show", "--data-dir", "d", "ID"],
        ] {
            let cli = parse(&line).expect("it is right");
            assert_eq!(cli.data_dir.as_deref(), Some(std::path::Path::new("d")));
        }
    }

    #[test]
    fn a_server_that_is_not_told_anything_has_the_defaults() {
        let Ok(Some(Command::Serve(options))) = parse(&["serve"]).map(|cli| cli.command) else {
            panic!("`serve` is a command");
        };
        assert_eq!(
            options.component_config(),
            ServeOptions::default().component_config()
        );
        assert_eq!(
            options.max_message_bytes,
            ServeOptions::default().max_message_bytes
        );
        let config = r#"{"directLimitMs":100,"graceMs":5000,"outputLimitBytes":67108864,"syncLimitMs":30000}"#;
        assert_eq!(Value::from(options.component_config()).to_string(), config);
    }
}
