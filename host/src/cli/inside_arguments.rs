//! The grammar of what a job's own processes type, and of what a person types to answer them.

use std::time::Duration;

use clap::Args;

use super::values::{Lasting, duration, field};

/// How long somebody may wait for an answer.
const DEADLINE: Lasting = Lasting {
    least_ms: 1,
    most_days: 365,
};

/// What to ask, and how long to wait.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Use it in a command that backburner runs as a job: it finds the job by BACKBURNER_TASK_ID and BACKBURNER_DIR in its \
environment. The task then requires input: a client that can ask its user shows the question, and anybody can answer it \
in a terminal by `backburner answer ID`. The question stays open when servers end, and is withdrawn when this process \
ends.

Without an option for what is asked, it asks for agreement only.

Never ask for passwords, keys, tokens or other secrets: what is typed passes through the client and its model. Have \
the person enter them on a page of your own instead, with --url: of what is typed there, nothing comes back.

Output: the answer, in one line. Of one field, its value as it is, a number as it was written; of several fields, and with \
--json, JSON.

Exit status:
  0   the person accepted, or nobody answered by --deadline and there is a --default
  1   the person declined
  2   the person dismissed the question, or nobody answered by --deadline and there is no --default
  125 this is no job, the command line is wrong, or backburner itself failed

Examples:
  backburner ask 'Delete 214 files?' && rm -r old
  name=$(backburner ask 'Which branch?' --text --default main --deadline 10m)
  backburner ask Deploy --field 'where:staging|production:Where to' --field 'note?:text'")]
pub struct AskOptions {
    /// What the person reads, at most 4000 characters, with what --deadline adds to it
    pub message: String,

    /// Ask for yes or no; the answer is `true` or `false`, and the exit status 0 for both: to go on by a yes alone, ask for
    /// agreement
    #[arg(long, group = "kind")]
    pub boolean: bool,

    /// Ask for a text
    #[arg(long, group = "kind")]
    pub text: bool,

    /// Ask for a number
    #[arg(long, group = "kind")]
    pub number: bool,

    /// Ask for a whole number
    #[arg(long, group = "kind")]
    pub integer: bool,

    /// Ask for one of several values, one option each; the person sees the title, if there is one
    #[arg(
        long,
        group = "kind",
        value_name = "VALUE[=TITLE]",
        allow_negative_numbers = true
    )]
    pub choice: Vec<String>,

    /// Ask for a field of this name, one option each; a type is text, number, integer, boolean, or choices such as `a|b`.
    /// A `?` behind the name, which has no `=` in it, makes it optional
    #[arg(
        long,
        group = "kind",
        value_name = "NAME[?]:TYPE[:TITLE]",
        allow_negative_numbers = true
    )]
    pub field: Vec<String>,

    /// Ask the person to open this page, http or https; nothing that is typed there comes back
    #[arg(
        long,
        group = "kind",
        value_name = "URL",
        allow_negative_numbers = true
    )]
    pub url: Option<String>,

    /// Let the person pick any number of the choices, whose values then have no comma; one whose title has a comma is
    /// picked by its value or its number
    #[arg(long)]
    pub several: bool,

    /// What is suggested; NAME=VALUE with --field, one option each; with --several, one option each or commas between
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    pub default: Vec<String>,

    /// Let the person leave the field empty
    #[arg(long)]
    pub optional: bool,

    /// How long to wait, such as 90, 10m or 1h30m: after it, the default is the answer where there is one. The message says
    /// until when [default: for ever]
    #[arg(long, value_name = "DURATION", value_parser = duration(DEADLINE), allow_hyphen_values = true)]
    pub deadline: Option<Duration>,

    /// Print the answer as JSON in any case
    #[arg(long)]
    pub json: bool,
}

/// How far the job is.
#[derive(Debug, Args)]
#[command(
    override_usage = "backburner progress [OPTIONS] <PERCENT> [TEXT]...\n       backburner progress [OPTIONS] <TEXT>...",
    after_long_help = "\
Use it in a command that backburner runs as a job: the status message of its task says this in place of the last line \
of output, until it is said anew. An empty text takes it back.

A first word that is a number, with or without a `%` behind it, is the percentage: what is behind its point is dropped, and \
one that is not 0 to 100 is a wrong command line; quote a text that begins with a number as one word. All other words are the \
text, with blanks between them. Of a text the \
first 1000 bytes are kept, and the status message shows the first 120 characters, in one line.

Exit status: 0 where it was noted; 125 where this is no job or backburner itself failed; 2 for a wrong command line.

Examples:
  backburner progress 40 compiling
  backburner progress nearly done
  backburner progress ''"
)]
pub struct ProgressOptions {
    /// How much is done, 0 to 100, and what is being done; either of them may be left out
    #[arg(required = true, num_args = 1.., value_name = "WORD", allow_negative_numbers = true)]
    pub words: Vec<String>,
}

/// Which question to answer, and how.
#[derive(Debug, Args)]
#[command(after_long_help = "\
All options may be left out: without --accept, --decline and --set it asks in the terminal, and without --key it asks all that \
is open. ID is required.

In a terminal it shows what the job asks, and asks for each field: Enter alone takes the default that is shown, leaves out \
an optional field that has none, and picks none of several values; a text that is required is asked for again. A field that may \
be left out says so, and how: by Enter, or where it has a default by `/skip`. `/decline` declines, and Ctrl-D leaves the question \
open. A script says the answer by options. \
One of several choices is called by its value, its title, or its number in the list, from 1; where some of them may be picked, \
one whose title has a comma by its value or number.

A secret that a job with a terminal waits for, such as a password, is typed in a terminal only: it is not shown, and goes to \
the command alone, past the server. --decline types the end of the file there.

Of several answers to one question at the same moment the first one stays: who answers later is told so, but not where both \
are on their way at once, as nothing says then whose it is. What the job got is seen in what it does.

Exit status: 0 where everything was answered; 125 where a question was left open (Ctrl-D) or is not open any more, the task \
asks nothing, an answer does not fit what is asked, a secret is given by an option, no option says the answer and standard input \
is no terminal, or backburner itself failed; 2 for a wrong command line alone. Ctrl-C \
(SIGINT), SIGTERM and SIGHUP end backburner, which a shell shows as 130, 143 and 129; what was not sent by then stays \
unanswered.")]
pub struct AnswerOptions {
    /// The task's id, as `run` printed it
    pub id: String,

    /// Which question, where the job asks several; `show ID` lists them behind their keys
    #[arg(long, value_name = "KEY", allow_negative_numbers = true)]
    pub key: Option<String>,

    /// Accept, with the defaults of all fields that are not set
    #[arg(long, conflicts_with = "decline")]
    pub accept: bool,

    /// Decline
    #[arg(long)]
    pub decline: bool,

    /// Accept with this value for a field, one option each; several values of one field have commas between them, or one
    /// option each. `--set NAME=` is an empty text or none of several values, and leaves out any other field that is optional. Where
    /// `ask` names no field, it is called `answer`
    #[arg(long, value_name = "NAME=VALUE", value_parser = field, conflicts_with = "decline", allow_negative_numbers = true)]
    pub set: Vec<(String, String)>,
}
