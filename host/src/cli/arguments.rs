//! The command line's grammar, and the texts of its help.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser as _;
use clap::{Args, Parser, Subcommand};
use serde_json::{Map, Value};

use super::inside_arguments::{AnswerOptions, AskOptions, ProgressOptions};
use super::values::{Lasting, duration, key, label, variable, whole};

/// The longest message that a client may send, in bytes, unless the person says otherwise.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Under which heading the help has the options of every command, behind those of the one that is explained: between them
/// they would be in the way.
const OF_ALL: &str = "Options of every command";

/// Put slow shell commands on the back burner: an MCP server whose jobs outlive it.
///
/// Without a command this is a stdio server (as `serve` is), to be started by an MCP client; where its standard input is a
/// terminal, it prints this help to standard error and ends with status 2. The other commands are for people: they start
/// such a server and use it as a client does. A job goes on when the client, the server or the session ends, and any
/// later one finds it by its id.
#[derive(Debug, Parser)]
#[command(version, after_long_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    /// Where everything is kept [default: $BACKBURNER_DIR, else the user's state directory]
    ///
    /// The directory is created where it is missing, and closed to other users. Servers that use the same directory
    /// see the same tasks. The user's state directory is $XDG_STATE_HOME/backburner or ~/.local/state/backburner, on
    /// macOS ~/Library/Application Support/backburner. Of two, one before the command and one behind it, the second counts.
    #[arg(long, global = true, help_heading = OF_ALL, value_name = "DIR", value_parser = clap::value_parser!(PathBuf))]
    pub data_dir: Option<PathBuf>,

    /// The file that configures the server and its tools [default: $BACKBURNER_CONFIG, else the first one found]
    ///
    /// The first one is the nearest backburner.toml of the current directory and its parents, as far as the first that has
    /// a .git, is the home directory or belongs to another user; else the one in $XDG_CONFIG_HOME/backburner or
    /// ~/.config/backburner, on macOS in ~/Library/Application Support/backburner. `backburner check` says which one that
    /// is, and `--config /dev/null` is none. Give one to `show`, `cancel` and `answer` only if it is needed: they look for
    /// none.
    #[arg(long, global = true, help_heading = OF_ALL, value_name = "FILE", value_parser = clap::value_parser!(PathBuf))]
    pub config: Option<PathBuf>,

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
  backburner answer ID                      answer what it asks by `backburner ask`
  backburner check                          is the configuration file right, and which tools are there

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
    /// Run a command as a durable job and follow it to its end
    Run(RunOptions),
    /// Show a task: its state, and its result where it has ended
    Show(ShowOptions),
    /// Stop a task's job and wait until nothing of it runs
    Cancel(CancelOptions),
    /// Answer what a job asks
    Answer(AnswerOptions),
    /// Serve an MCP client over standard input and output
    Serve(ServeOptions),
    /// Check the configuration file and list the tools
    Check(CheckOptions),
    /// Inside a job: ask a person something, and wait for the answer
    Ask(AskOptions),
    /// Inside a job: say how far it is
    Progress(ProgressOptions),
    /// Explain this program or one of its commands
    Help(HelpOptions),
}

/// How a server treats its client. What is not given is as the configuration file has it, or else as the component has it.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = "\
An option wins over the configuration file, which wins over the default.

Exit status: 0 when the client has closed the input; 2 where the command line or the configuration file is wrong, which \
is said as FILE:LINE:COLUMN: and the reason; 125 where it cannot serve for another reason. A file that is changed while the server runs \
is taken up; one that is wrong then is said to be, and what held before goes on to hold.")]
pub struct ServeOptions {
    /// How long a client without the Tasks extension waits for a command before it is told that it goes on, 0 to 3600
    /// [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = whole("seconds", 0..=3600), allow_negative_numbers = true)]
    pub sync_limit: Option<u64>,

    /// How long a client with the Tasks extension waits for a direct result before it is given a task, 0 to 60000
    /// [default: 100]
    #[arg(long, value_name = "MILLISECONDS", value_parser = whole("milliseconds", 0..=60_000), allow_negative_numbers = true)]
    pub direct_limit: Option<u64>,

    /// How long a job that is stopped may take to end by itself before it is killed, 0 to 600 [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = whole("seconds", 0..=600), allow_negative_numbers = true)]
    pub grace: Option<u64>,

    /// How much of a job's output is kept, in bytes, 4096 to 1099511627776 (1 TiB): of more, the beginning and the end
    /// [default: 67108864 (64 MiB)]
    #[arg(long, value_name = "BYTES", value_parser = whole("bytes", 4096..=1 << 40), allow_negative_numbers = true)]
    pub output_limit: Option<u64>,

    /// The longest message that is accepted, in bytes, 1024 to 16777216 (16 MiB)
    #[arg(
        long, value_name = "N", default_value_t = MAX_MESSAGE_BYTES,
        value_parser = whole("bytes", 1024..=16 * 1024 * 1024).try_map(usize::try_from), allow_negative_numbers = true
    )]
    pub max_message_bytes: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            sync_limit: None,
            direct_limit: None,
            max_message_bytes: MAX_MESSAGE_BYTES,
            grace: None,
            output_limit: None,
        }
    }
}

impl ServeOptions {
    /// What the component is configured with, as far as it was given: members of `configure`, as the README of the WIT has
    /// them.
    #[must_use]
    pub fn component_config(&self) -> Map<String, Value> {
        let members = [
            ("syncLimitMs", self.sync_limit.map(|seconds| seconds * 1000)),
            ("directLimitMs", self.direct_limit),
            ("graceMs", self.grace.map(|seconds| seconds * 1000)),
            ("outputLimitBytes", self.output_limit),
        ];
        let given = members.into_iter().filter_map(|(name, value)| {
            let value = value?;
            Some((name.to_owned(), value.into()))
        });
        given.collect()
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
it ended and how to see it again. That last line is written anew in its place on a terminal; elsewhere it is a line of its \
own where it is another one: every second at first, later every 10 seconds at most. With --detach standard error has how to see the job and how to stop \
it.

What the command asks, by `backburner ask` or with --interactive, is said on standard error with the command that answers it, \
which is typed in another terminal: `backburner answer ID`.

Inside of a job, whatever is run is a part of that job, also with --detach: it is stopped when that job ends.

Exit status:
  that of the command, where it ended by itself
  128 and the signal's number, where a signal ended it that backburner did not send
  123 where its task was cancelled
  124 where it was stopped because of its timeout
  125 where it could not be started, its end is not known, or backburner itself failed
  2   for a wrong command line or configuration file
What can be seen in the command line alone to be wrong ends with 2, such as a shell line among several words. With 125 it is something else: the directory is not there, \
the key stands for another call, standard input is too long or not UTF-8, the server refuses what an option says, --ttl \
passed before the command ended, or standard output cannot be written to.
Ctrl-C (SIGINT), SIGTERM and SIGHUP end backburner, which a shell shows as 130, 143 and 129; the job goes on, and the \
message says so. A SIGHUP or SIGINT that is ignored, as with nohup or in the background of a script, goes on to be. \
With --detach the status is 0, and 125 where it is known at once, within about 100 ms, that the command could not be \
started, or where the id cannot be printed. A closed standard output (`>&-`) counts as /dev/null. A command may end with one of these numbers by itself: `show ID --json` tells \
them apart.")]
pub struct RunOptions {
    /// What you call it: one line of at most 100 characters, without control and format characters. All that is said of
    /// its task begins with it
    #[arg(long, value_name = "L", value_parser = label, allow_negative_numbers = true)]
    pub label: Option<String>,

    /// The directory to run it in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// A variable for its environment; may be given several times, and of two with the same name the last one counts.
    /// BACKBURNER_TASK_ID is always the task's id
    #[arg(long, value_name = "K=V", value_parser = variable, allow_negative_numbers = true)]
    pub env: Vec<(String, String)>,

    /// Give it this program's standard input, read to its end first: UTF-8, at most 512 KiB as JSON with all other
    /// arguments, where a line feed, a quote and a backslash are two bytes [default: it is empty]
    #[arg(long)]
    pub stdin: bool,

    /// Give it a terminal: what it waits for there is asked, and answered by `backburner answer ID` in another terminal
    #[arg(long)]
    pub interactive: bool,

    /// After how long it is stopped: seconds, or numbers with ms, s, m, h or d, such as 90, 0.5s, 10m or 1h30m, at most 31d
    /// [default: what the configuration file says, else never]
    #[arg(long, value_name = "DURATION", value_parser = duration(TIMEOUT), allow_hyphen_values = true)]
    pub timeout: Option<Duration>,

    /// How long its task is kept, from its start, such as 12h or 7d, at least 1s, at most 365d; after it the job is
    /// stopped if it still runs, and everything about it is deleted [default: what the configuration file says, else for ever]
    #[arg(long, value_name = "DURATION", value_parser = duration(TTL), allow_hyphen_values = true)]
    pub ttl: Option<Duration>,

    /// A name for this call, at most 256 characters, fewer where they are more than 490 bytes of UTF-8: the same call
    /// again shows the first one's task, says so, and runs nothing, also where that failed. With another command,
    /// directory or option it is an error
    #[arg(long, value_name = "KEY", value_parser = key, allow_negative_numbers = true)]
    pub key: Option<String>,

    /// Print the id of the task to standard output, say on standard error how to see and stop it, and leave the job alone
    #[arg(long)]
    pub detach: bool,

    /// Write no status lines while the command runs: on standard error the id, what the command asks, and how it ended are
    /// left
    #[arg(long)]
    pub quiet: bool,

    /// Print the task as JSON in the end, instead of what the command wrote; not with --detach
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
on standard output: the state has the last line that it wrote. With --json standard output has the task and standard \
error nothing.

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
Output: how the task ended goes to standard output, which is another word than `cancelled` where the job was quicker. \
Everything else goes to standard error: what the job does while it is stopped, and in the end how it ended and the last \
line that it wrote.

Exit status: 0 where the task has ended, however it did; 125 where there is no such task or backburner itself failed; 2 \
for a wrong command line. Ctrl-C (SIGINT), SIGTERM and SIGHUP end backburner; the job is stopped all the same.")]
pub struct CancelOptions {
    /// The task's id, as `run` printed it
    pub id: String,
}

/// What to check: the configuration file that `--config` names, or that is found.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Output: the name of the file and the tools that a client is offered, on standard output, each with its title or the \
beginning of its description. The first mistake is said on standard error as FILE:LINE:COLUMN: and the reason; the next one \
is found when that is mended. No data directory is needed, and nothing is run.

Exit status: 0 where the configuration is right, also where there is no file; 2 where it is wrong or cannot be read; 125 \
where backburner itself failed.")]
pub struct CheckOptions {}

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
    fn the_options_of_a_command_come_before_those_of_all() {
        let mut program = Cli::command();
        program.build();
        for name in ["run", "serve", "show", "ask"] {
            let command = program.find_subcommand_mut(name).expect("there is one");
            let help = command.render_long_help().to_string();
            let (own, all) = help.split_once(OF_ALL).expect("there is a heading");
            assert!(
                !own.contains("--data-dir <") && !own.contains("--config <"),
                "{help}"
            );
            assert!(
                all.contains("--data-dir <") && all.contains("--config <"),
                "{help}"
            );
            let options = all
                .lines()
                .map(str::trim_start)
                .filter(|line| line.starts_with("--"));
            assert_eq!(options.count(), 2, "{help}");
        }
    }

    #[test]
    fn a_negative_number_is_a_value_and_no_option() {
        let mut program = Cli::command();
        program.build();
        let is_path = |name: &str| ["data-dir", "config", "cwd"].contains(&name);
        for command in program.get_subcommands() {
            let options = command.get_arguments();
            let options = options.filter(|option| option.get_action().takes_values());
            for name in options
                .filter_map(clap::Arg::get_long)
                .filter(|name| !is_path(name))
            {
                let line = [command.get_name(), &format!("--{name}"), "-1"];
                if let Err(error) = parse(&line) {
                    let kind = error.kind();
                    assert_ne!(
                        kind,
                        clap::error::ErrorKind::UnknownArgument,
                        "{line:?}: {error}"
                    );
                }
            }
        }
        let error = parse(&["serve", "--sync-limit", "-1"]).expect_err("it is out of range");
        let words = "give whole seconds, 0 to 3600";
        assert!(error.to_string().contains(words), "{error}");
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
    fn the_configuration_file_may_be_named_anywhere() {
        for line in [
            ["--config", "f", "show", "ID"],
            ["show", "--config", "f", "ID"],
        ] {
            let cli = parse(&line).expect("it is right");
            assert_eq!(cli.config.as_deref(), Some(std::path::Path::new("f")));
        }
        parse(&["--config", "", "check"]).expect_err("that is no name");
    }

    fn serve(line: &[&str]) -> ServeOptions {
        match parse(line).map(|cli| cli.command) {
            Ok(Some(Command::Serve(options))) => options,
            other => panic!("{line:?} is no `serve`: {other:?}"),
        }
    }

    #[test]
    fn a_server_that_is_not_told_anything_leaves_all_to_the_file() {
        let options = serve(&["serve"]);
        assert_eq!(options.component_config(), Map::new());
        assert_eq!(
            options.max_message_bytes,
            ServeOptions::default().max_message_bytes
        );
    }

    #[test]
    fn what_a_server_is_told_is_a_member_of_its_configuration() {
        let line = "serve --sync-limit 1 --direct-limit 2 --grace 3 --output-limit 4096";
        let options = serve(&line.split(' ').collect::<Vec<_>>());
        let config =
            r#"{"directLimitMs":2,"graceMs":3000,"outputLimitBytes":4096,"syncLimitMs":1000}"#;
        assert_eq!(Value::from(options.component_config()).to_string(), config);
        assert_eq!(
            serve(&["serve", "--grace", "0"]).component_config().len(),
            1
        );
    }
}
