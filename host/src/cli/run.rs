//! `backburner run`: start a job as an MCP client does, and follow it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::CommandFactory as _;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::client::{Client, ClientError};
use super::earlier::{Earlier, Missing};
use super::follow::{Followed, follow};
use super::plain::plain;
use super::task::{Facts, JobResult, Task};
use super::terminal::{PrintError, Telling};
use super::{
    Cli, Place, RunOptions, exit_code, input, moment, show_command, terminal, what_next,
    wrong_usage,
};
use crate::clock::now_ms;
use crate::config;
use crate::stream::Stream;

/// Runs a command as a job.
///
/// # Errors
/// Where it was not started, its end cannot be followed, the person does not want to wait for it, or its output cannot be
/// printed.
pub(super) fn run(place: Place<'_>, options: RunOptions) -> anyhow::Result<ExitCode> {
    let data_dir = place.data_dir;
    check(&options.command).map_err(|why| {
        explain_misplaced_option(&options.command);
        wrong_usage("run", why)
    })?;
    let telling = if options.quiet {
        Telling::Quiet
    } else {
        Telling::Usual
    };
    let shape = Shape::of(&options);
    let key = options.key.clone();
    let words = options.command.clone();
    let call = json!({"name": "run", "arguments": arguments(options)?});
    let mut client = Client::start(place)?;
    let called_at = now_ms();
    let begun = begin(&mut client, place.config, call).inspect_err(|error| {
        // Not where the server is what failed.
        if error.downcast_ref::<ClientError>().is_none() {
            explain_misplaced_option(&words);
        }
    })?;
    let named = name(&begun.id, shape);
    if let Some(key) = key {
        say_if_earlier(&mut client, &begun, &Call { key, called_at });
    }
    if shape == Shape::Id {
        return leave(data_dir, &begun, named);
    }
    let task = end(&mut client, data_dir, &begun.id, telling)?;
    let printed = print_end(&task, shape);
    let code = exit_code::of_task(&task);
    if code != 0 {
        explain_misplaced_option(&words);
    }
    terminal::say(&show_command(data_dir, &begun.id));
    printed?;
    Ok(code.into())
}

/// Finds what is wrong with a command that can be seen in it alone. A program has no blank in its name, but a path may have
/// one; the tool refuses the same.
fn check(command: &[String]) -> Result<(), String> {
    let first = command.first().map_or("", |first| first.trim());
    if first.is_empty() {
        return Err("the command is blank".to_owned());
    }
    let is_line = first.contains(char::is_whitespace) && !first.contains('/');
    if command.len() > 1 && is_line {
        return Err(format!(
            "several words were given, so the first one has to be a program alone and not {first:?}; quote all of them as \
             one to run a shell line, or give every word of the program's by itself"
        ));
    }
    Ok(())
}

/// Says which task it is, first of all: nobody else knows it.
fn name(id: &str, shape: Shape) -> Result<(), PrintError> {
    if shape == Shape::Id {
        return terminal::hand_over(id);
    }
    terminal::say(&format!("task {id}"));
    Ok(())
}

/// A call that has an idempotency key.
struct Call {
    key: String,
    /// In milliseconds since 1970.
    called_at: u64,
}

/// Says that nothing was started, where the task is another call's: whoever has mended something and runs it again would
/// believe that it did not help.
fn say_if_earlier(client: &mut Client, begun: &Begun, call: &Call) {
    // Without an answer nothing is said; whoever asks next says why there is none.
    let Ok(task) = Task::fetch(client, &begun.id) else {
        return;
    };
    // The server does not say it of every task, and two calls may be made at the same moment.
    let is_older =
        || moment::parse(&task.created_at).is_some_and(|created_at| created_at < call.called_at);
    if begun.is_earlier || is_older() {
        terminal::say(&format!(
            "the key {:?} already has this task, created {}: nothing was started now; to run the command again, use \
             a new key",
            call.key, task.created_at
        ));
    }
}

/// Leaves a job alone. One that is known not to have started is a failure, and so is one whose id nobody has got.
fn leave(
    data_dir: Option<&Path>,
    begun: &Begun,
    named: Result<(), PrintError>,
) -> anyhow::Result<ExitCode> {
    let id = &begun.id;
    match &begun.state {
        Beginning::Working => terminal::say(&what_next(data_dir, id)),
        Beginning::Ended => {
            let show = show_command(data_dir, id);
            terminal::say(&format!("it has ended; to see it: {show}"));
        }
        Beginning::NotStarted(why) => terminal::say(&format!("backburner: {why}")),
    }
    named.with_context(|| format!("cannot print the id of task {id}"))?;
    Ok(match &begun.state {
        Beginning::Working | Beginning::Ended => ExitCode::SUCCESS,
        Beginning::NotStarted(_) => exit_code::FAILURE.into(),
    })
}

/// Follows a task to its end. Where that does not go to its end, the person is told what becomes of the job.
fn end(
    client: &mut Client,
    data_dir: Option<&Path>,
    id: &str,
    telling: Telling,
) -> anyhow::Result<Task> {
    let goes_on = || {
        terminal::say(&format!("the job goes on; {}", what_next(data_dir, id)));
    };
    match follow(client, data_dir, id, telling) {
        Ok(Followed::Ended(task)) => Ok(*task),
        Ok(Followed::Left(interruption)) => {
            goes_on();
            Err(interruption.into())
        }
        Err(error) => {
            let error = Earlier::new(data_dir, id)?.explain(error);
            if !error.is::<Missing>() {
                goes_on();
            }
            Err(error)
        }
    }
}

/// What is printed to standard output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The id of the task, at once.
    Id,
    /// The task as JSON, when it has ended.
    Json,
    /// What the command wrote, when it has ended.
    Output,
}

impl Shape {
    fn of(options: &RunOptions) -> Self {
        match (options.detach, options.json) {
            (true, _) => Self::Id,
            (false, true) => Self::Json,
            (false, false) => Self::Output,
        }
    }
}

/// Prints what is wanted of a task that has ended, and says how it ended, also where that cannot be printed.
fn print_end(task: &Task, shape: Shape) -> Result<(), PrintError> {
    let printed = match (shape, task.output()) {
        (Shape::Json, _) => terminal::print(&format!("{:#}", task.whole)),
        (_, Some(output)) => output.print(),
        (_, None) => Ok(()),
    };
    terminal::say(&task.summary());
    printed
}

/// Says what may have been the reason of a failure.
fn explain_misplaced_option(command: &[String]) {
    if let Some(option) = misplaced_option(command) {
        terminal::say(&format!(
            "`{option}` was given to the command: options of `backburner run` go before the command"
        ));
    }
}

/// An option of `run` among the arguments of the program: likely meant for `run`, and perhaps the program's own.
fn misplaced_option(command: &[String]) -> Option<String> {
    let mut program = Cli::command();
    program.build();
    let run = program.find_subcommand("run")?;
    let options: Vec<String> = run
        .get_arguments()
        .filter(|option| option.get_id() != "help")
        .filter_map(|option| Some(format!("--{}", option.get_long()?)))
        .collect();
    let names = command
        .iter()
        .skip(1)
        .map(|word| word.split('=').next().unwrap_or_default());
    let mut found = names.filter(|name| options.iter().any(|option| option == name));
    found.next().map(str::to_owned)
}

/// The arguments of the tool `run`.
fn arguments(options: RunOptions) -> anyhow::Result<Value> {
    let mut arguments = Map::new();
    let mut give = |name: &str, value: Option<Value>| {
        arguments.extend(value.map(|value| (name.to_owned(), value)));
    };
    give("cwd", Some(directory(options.cwd)?.into()));
    let mut command = options.command.into_iter();
    give("command", command.next().map(Value::from));
    let rest: Vec<String> = command.collect();
    give(
        "args",
        Some(rest).filter(|rest| !rest.is_empty()).map(Value::from),
    );
    give("env", variables(options.env));
    if options.stdin {
        give("stdin", Some(input::text(Stream(std::io::stdin()))?.into()));
    }
    give("interactive", options.interactive.then(|| true.into()));
    give("timeoutSeconds", options.timeout.map(seconds));
    give("ttlSeconds", options.ttl.map(seconds));
    give("label", options.label.map(Value::from));
    give("idempotencyKey", options.key.map(Value::from));
    Ok(arguments.into())
}

/// Of a variable that is given twice, the last one counts, as in a shell.
fn variables(given: Vec<(String, String)>) -> Option<Value> {
    let variables: Map<String, Value> = given
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    (!variables.is_empty()).then(|| variables.into())
}

/// A whole number where it is one.
fn seconds(duration: Duration) -> Value {
    match duration.subsec_nanos() {
        0 => duration.as_secs().into(),
        _ => duration.as_secs_f64().into(),
    }
}

/// The directory to run in: absolute, since the server's own is not what the person means.
fn directory(given: Option<PathBuf>) -> anyhow::Result<String> {
    let directory = match given {
        Some(given) => std::path::absolute(given),
        None => std::env::current_dir(),
    };
    directory
        .context("cannot tell the current directory: give an absolute one with --cwd")?
        .into_os_string()
        .into_string()
        .map_err(|name| {
            anyhow::anyhow!(
                "the directory {} is not UTF-8: choose another with --cwd",
                name.display()
            )
        })
}

/// What a call became.
#[derive(Debug)]
struct Begun {
    /// The id of the task. A fast command is answered directly; it is a task all the same.
    id: String,
    state: Beginning,
    /// Whether the server said that it is an earlier call's.
    is_earlier: bool,
}

/// How the server begins to say of a task, behind its label, that an earlier call started it.
const EARLIER_TASK: &str = "the earlier call with this idempotencyKey started the job";

/// How it begins to say so of a result, in its second line.
const EARLIER_RESULT: &str = "This is the result of the earlier call with this idempotencyKey";

/// What is known of the command when the call is answered.
#[derive(Debug, PartialEq, Eq)]
enum Beginning {
    /// It runs, as far as that is known.
    Working,
    /// It has ended already.
    Ended,
    /// It could not be executed, for this reason.
    NotStarted(String),
}

/// Calls the tool. Where a policy wants a person to confirm the command, that is who typed it.
fn begin(client: &mut Client, config: Option<&Path>, call: Value) -> anyhow::Result<Begun> {
    let given = |name: &str| call["arguments"][name].as_str().map(str::to_owned);
    let (key, label) = (given("idempotencyKey"), given("label"));
    let mut answer =
        |call: Value| answer(client, call).map_err(|error| explain(error, config, key.as_deref()));
    let result = answer(call.clone())?;
    let result = match confirmed(call, &result) {
        Some(confirmed) => answer(confirmed)?,
        None => result,
    };
    begun(result, label.as_deref())
}

fn answer(client: &mut Client, call: Value) -> Result<Value, ClientError> {
    client.request("tools/call", call)
}

/// Why the call came to nothing, in words for a person.
fn explain(error: ClientError, config: Option<&Path>, key: Option<&str>) -> anyhow::Error {
    match error {
        ClientError::Refused { message, .. } if message.starts_with(NO_RUN) => {
            let file = config::find(config).ok().and_then(|found| found.file);
            anyhow::anyhow!(switched_off(file.as_deref()))
        }
        ClientError::Refused { message, .. } => anyhow::anyhow!(refusal(&message, key)),
        ClientError::Unable | ClientError::Misconfigured => error.into(),
        error => anyhow::Error::from(error).context(UNKNOWN_START),
    }
}

/// The same call with a yes to everything that it was answered with; `None` where that was no question.
///
/// *Source:* MCP 2026-07-28, Multi Round-Trip Requests, Basic Workflow.
fn confirmed(mut call: Value, result: &Value) -> Option<Value> {
    if result["resultType"] != "input_required" {
        return None;
    }
    let yes = json!({"action": "accept", "content": {"confirm": true}});
    let requests = result["inputRequests"].as_object();
    let keys = requests.into_iter().flat_map(Map::keys);
    let answers: Map<String, Value> = keys.map(|key| (key.clone(), yes.clone())).collect();
    call["inputResponses"] = answers.into();
    call["requestState"] = result["requestState"].clone();
    Some(call)
}

/// What is said where a call has no answer.
const UNKNOWN_START: &str =
    "it is not known whether the command was started, so look for it before you run it again";

/// How the server begins to say that it offers no `run`.
///
/// *Source:* MCP 2026-07-28, Tools, Error Handling, for a tool that is not there.
const NO_RUN: &str = "unknown tool: run,";

/// That the server offers no `run`, since this file says so, and what a person can do.
fn switched_off(file: Option<&Path>) -> String {
    let file = file.map_or("the configuration file".to_owned(), |file| {
        file.display().to_string()
    });
    format!(
        "`run` is switched off: {file} has `enabled = false` in its table `[run]`, which holds here too; \
         `backburner --config /dev/null run` runs the command without that file"
    )
}

/// What the server refused a call with. That its job has failed may be news of an earlier call: the answer does not say.
fn refusal(message: &str, key: Option<&str>) -> String {
    let words = plain(message);
    match key {
        // What is wrong with the server has nothing to do with a key.
        Some(key) if words.contains("--key") => format!(
            "{words}; where the key {key:?} was used before, this is about that call's job, and nothing was started now"
        ),
        _ => words,
    }
}

/// What became of a call that gave its task this label.
fn begun(result: Value, label: Option<&str>) -> anyhow::Result<Begun> {
    if result["resultType"] == "task" {
        let task = Task::parse(result)?;
        let words = task.status_message.as_deref();
        return Ok(Begun {
            state: Beginning::Working,
            is_earlier: words.is_some_and(|words| is_earlier_task(words, label)),
            id: task.task_id,
        });
    }
    let result =
        JobResult::deserialize(&result).context("the server sent something that cannot be read")?;
    let facts = result.structured_content.as_ref();
    let id = facts.and_then(|facts| facts.task_id.clone());
    // Without one nothing ran: the text says why.
    let id = id.ok_or_else(|| anyhow::anyhow!(plain(result.text())))?;
    let state = if facts.is_some_and(Facts::is_not_started) {
        Beginning::NotStarted(result.words().to_owned())
    } else {
        Beginning::Ended
    };
    Ok(Begun {
        id,
        state,
        is_earlier: is_earlier_result(result.words()),
    })
}

/// Whether a status message says that an earlier call started the job, and not the label or the output of it.
fn is_earlier_task(message: &str, label: Option<&str>) -> bool {
    let words = match label {
        Some(label) => message
            .strip_prefix(label)
            .and_then(|it| it.strip_prefix(": ")),
        None => Some(message),
    };
    words.is_some_and(|words| words.starts_with(EARLIER_TASK))
}

/// Whether the words of a result say that it is an earlier call's, and not those of a process that was left.
fn is_earlier_result(words: &str) -> bool {
    let second = words.lines().nth(1);
    second.is_some_and(|line| line.starts_with(EARLIER_RESULT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(command: &[&str]) -> RunOptions {
        RunOptions {
            label: None,
            cwd: Some(PathBuf::from("/d")),
            env: Vec::new(),
            stdin: false,
            interactive: false,
            timeout: None,
            ttl: None,
            key: None,
            detach: false,
            json: false,
            quiet: false,
            command: command.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    #[test]
    fn one_word_is_a_shell_line_and_several_are_a_program() {
        let sent = |command| arguments(options(command)).expect("it is right");
        assert_eq!(sent(&["a && b"]), json!({"cwd": "/d", "command": "a && b"}));
        assert_eq!(
            sent(&["a", "b"]),
            json!({"cwd": "/d", "command": "a", "args": ["b"]})
        );
    }

    #[test]
    fn a_shell_line_is_one_word() {
        let is_right = |command| check(&options(command).command).is_ok();
        for right in [
            &["cargo test"][..],
            &["a && b"],
            &["cargo", "test it"],
            &["/opt/My Tool/run", "x"],
            &["ls ", "x"],
        ] {
            assert!(is_right(right), "{right:?}");
        }
        for wrong in [
            &[""][..],
            &[" ", "x"],
            &["cargo test", "x"],
            &["a && b", ""],
        ] {
            assert!(!is_right(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn options_become_arguments() {
        let all = RunOptions {
            label: Some("l".to_owned()),
            env: vec![
                ("A".to_owned(), "1".to_owned()),
                ("A".to_owned(), "2".to_owned()),
            ],
            interactive: true,
            timeout: Some(Duration::from_millis(1500)),
            ttl: Some(Duration::from_secs(3600)),
            key: Some("k".to_owned()),
            ..options(&["a"])
        };
        let expected = json!({
            "cwd": "/d", "command": "a", "label": "l", "env": {"A": "2"}, "timeoutSeconds": 1.5, "ttlSeconds": 3600,
            "idempotencyKey": "k", "interactive": true,
        });
        assert_eq!(arguments(all).expect("it is right"), expected);
    }

    #[test]
    fn an_option_of_run_behind_the_first_word_is_noticed() {
        let found = |command: &[&str]| misplaced_option(&options(command).command);
        for command in [&["sleep", "0", "--timeout", "5"][..], &["a", "--timeout=5"]] {
            assert_eq!(found(command).as_deref(), Some("--timeout"), "{command:?}");
        }
        assert_eq!(
            found(&["a", "--data-dir", "d"]).as_deref(),
            Some("--data-dir")
        );
        for command in [&["--timeout"][..], &["a", "--timeouts", "timeout", "--"]] {
            assert_eq!(found(command), None, "{command:?}");
        }
    }

    #[test]
    fn a_relative_directory_is_the_persons_own() {
        let current = std::env::current_dir().expect("a test has a working directory");
        let expected = current
            .join("a")
            .into_os_string()
            .into_string()
            .expect("it is UTF-8");
        assert_eq!(directory(Some("a".into())).expect("it is UTF-8"), expected);
    }

    #[test]
    fn a_handle_and_a_direct_result_both_have_an_id() {
        let handle = json!({"resultType": "task", "taskId": "a", "status": "working"});
        let handle = begun(handle, None).expect("it has one");
        assert_eq!(
            (handle.id.as_str(), handle.state),
            ("a", Beginning::Working)
        );
        let direct = json!({"content": [], "structuredContent": {"taskId": "a", "exitCode": 0}});
        let direct = begun(direct, None).expect("it has one");
        assert_eq!((direct.id.as_str(), direct.state), ("a", Beginning::Ended));
    }

    #[test]
    fn a_command_that_was_not_executed_says_why() {
        let direct = json!({
            "content": [{"type": "text", "text": "could not be started: it is not there\n\n(no output)"}],
            "structuredContent": {"taskId": "a", "state": "not_started", "outputBytes": 0},
        });
        let begun = begun(direct, None).expect("it has an id");
        let why = "could not be started: it is not there".to_owned();
        assert_eq!(begun.state, Beginning::NotStarted(why));
    }

    #[test]
    fn the_failure_of_a_job_may_be_that_of_an_earlier_call() {
        let lost = "the job was lost: use a new idempotencyKey if you gave one";
        let words = "the job was lost: use a new --key if you gave one";
        assert_eq!(refusal(lost, None), words);
        let with_key = refusal(lost, Some("k"));
        assert!(with_key.starts_with(words), "{with_key}");
        assert!(with_key.contains("\"k\" was used before"), "{with_key}");
        assert_eq!(refusal("the disk is full", Some("k")), "the disk is full");
    }

    #[test]
    fn a_task_of_an_earlier_call_is_known_by_the_servers_words() {
        let is_earlier = |result: Value, label: Option<&str>| {
            let begun = begun(result, label).expect("it has an id");
            begun.is_earlier
        };
        let handle = |message: &str| json!({"resultType": "task", "taskId": "a", "status": "working", "statusMessage": message});
        let words =
            "the earlier call with this idempotencyKey started the job; nothing was run now";
        assert!(is_earlier(handle(words), None));
        let labelled = format!("l: {words}");
        assert!(is_earlier(handle(&labelled), Some("l")));
        let new = |label: &str| handle(&format!("{label}: the job was started"));
        for label in [words, &labelled] {
            assert!(!is_earlier(new(label), Some(label)), "it is a label");
        }
        let quoted = handle(&format!("l: lost; last line: {words}"));
        assert!(!is_earlier(quoted, Some("l")), "it is output");
        let direct = |text: &str| {
            let content = json!([{"type": "text", "text": text}]);
            json!({"content": content, "structuredContent": {"taskId": "a", "exitCode": 0}})
        };
        let words = "This is the result of the earlier call with this idempotencyKey, started then; nothing was run now.";
        let left = "1 process was still running when the command ended and was stopped: sh";
        for (text, is_so) in [
            (format!("exit code 0\n{words}\n\na"), true),
            (format!("exit code 0\n{words}\n{left}\n\na"), true),
            // It is output, or what a process was called.
            (format!("exit code 0\n\n{words}"), false),
            (format!("exit code 0\n{left} {words} (pid 1)\n\na"), false),
        ] {
            assert_eq!(is_earlier(direct(&text), None), is_so, "{text}");
        }
    }

    #[test]
    fn a_run_that_is_switched_off_names_the_file() {
        let refused = || ClientError::Refused {
            code: -32602,
            message: "unknown tool: run, the tools are a, b".to_owned(),
        };
        let words = switched_off(Some(Path::new("/a/b.toml")));
        assert!(
            words.starts_with("`run` is switched off: /a/b.toml has "),
            "{words}"
        );
        let explained = explain(refused(), Some(Path::new("/dev/null")), None).to_string();
        assert!(!explained.contains("unknown tool"), "{explained}");
    }

    #[test]
    fn a_refusal_is_an_error_with_its_text() {
        let refusal =
            json!({"content": [{"type": "text", "text": "no such thing"}], "isError": true});
        let error = begun(refusal, None).expect_err("nothing ran");
        assert_eq!(error.to_string(), "no such thing");
    }
}
