//! What the client and its model are told about `run`.

use serde_json::{Value, json};

use super::policy::{Policy, Span};
use super::schema::closed_object;
use super::structured;
use crate::text::duration;
use crate::tool::limits::{
    KEY_CHARS, LABEL_CHARS, STRING_BYTES, TIMEOUT_SECONDS, TTL_SECONDS_MAX, TTL_SECONDS_MIN,
    VARIABLES,
};

/// Written for a model that has to decide whether and how to call. In the place of `@` stands what is said of a terminal.
const DESCRIPTION: &str = "\
Run a command on the machine of this server, however long it takes: builds, test suites, downloads, \
migrations, servers.

A command that does not end at once becomes a task that survives this call, this session and this \
server: its result can be fetched later, also by another session. Do not run a command again because \
its result is not there yet, unless with the same idempotencyKey, which waits on.

Returns how the command ended (exit code, signal, timeout or cancellation) and how long it took, \
then stdout and stderr in the order in which they were written, as a terminal would show them. Of \
long output the beginning and the end are shown, 32 KiB in all; if the middle matters, let the \
command write it to a file. The result is an error unless the command ended by itself with exit \
code 0, or still runs.

@ When the command ends, processes that it left behind are stopped: run a server in the foreground, \
as a task of its own, and not with `&` or nohup.

Set timeoutSeconds if the command may hang: it is then stopped, with everything it started. Set \
label to recognize the task by its status message. Set idempotencyKey if the call may be repeated, \
for example after a lost connection: the same key with the same arguments gives the same task \
instead of running the command again.";

/// The tool as `tools/list` shows it where `policy` bounds it; the same in every call.
///
/// *Source:* MCP 2026-07-28, Tools, Data Types, Tool.
pub(crate) fn definition(policy: &Policy) -> Value {
    json!({
        "name": "run",
        "title": "Run a command",
        "description": DESCRIPTION.replace('@', terminal(policy)),
        "inputSchema": closed_object(
            [process_schemas(policy), task_schemas(policy), terminal_schema(policy)],
            |name| name == "command",
        ),
        "outputSchema": structured::schema(),
        "annotations": {
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": false,
            "openWorldHint": true,
        },
    })
}

/// The arguments that say what to run.
fn process_schemas(policy: &Policy) -> Value {
    json!({
        "command": {
            "type": "string", "minLength": 1, "maxLength": STRING_BYTES, "pattern": "\\S",
            "description": "A shell line, run by bash or, where there is none, by sh. With `args`: a program, \
                its path or a name that is looked up in PATH.",
        },
        "args": {
            "type": "array", "items": {"type": "string", "maxLength": STRING_BYTES},
            "description": "The arguments of the program `command`, which is then executed without a shell: \
                nothing in them is expanded or has to be quoted. May be empty.",
        },
        "cwd": {
            "type": "string", "maxLength": STRING_BYTES, "pattern": "^/",
            "description": directory(policy),
        },
        "env": {
            "type": "object", "maxProperties": VARIABLES,
            "propertyNames": {"minLength": 1, "pattern": "^[^=]*$"},
            "additionalProperties": {"type": "string", "maxLength": STRING_BYTES},
            "description": "Environment variables to set beside those of the server, at most 1000.",
        },
        "stdin": {
            "type": "string",
            "description": "What the command reads from its standard input, then end of file. Default: \
                nothing. All arguments together are at most 512 KiB as JSON.",
        },
    })
}

/// The arguments that say how to treat the task.
fn task_schemas(policy: &Policy) -> Value {
    let timeout_max = bound(policy.timeout, TIMEOUT_SECONDS);
    let ttl_max = bound(policy.ttl, TTL_SECONDS_MAX);
    json!({
        "timeoutSeconds": {
            "type": "number", "exclusiveMinimum": 0, "maximum": timeout_max,
            "description": format!(
                "After how many seconds to stop the command if it still runs; fractions are allowed, {} at most. \
                 Default: {}.",
                most(policy.timeout, "31 days"),
                policy.timeout.default_in_words()
            ),
        },
        "label": {
            "type": "string", "minLength": 1, "maxLength": LABEL_CHARS,
            "description": "What you call the task: its status message begins with it. One line of at most 100 \
                characters, without control and format characters.",
        },
        "ttlSeconds": {
            "type": "number", "minimum": TTL_SECONDS_MIN, "maximum": ttl_max,
            "description": format!(
                "After how many seconds from its start to delete the task with its output, and to stop it if it \
                 still runs; from 1 second to {}. Default: {}.",
                most(policy.ttl, "365 days"),
                policy.ttl.default_in_words()
            ),
        },
        "idempotencyKey": {
            "type": "string", "minLength": 1, "maxLength": KEY_CHARS,
            "description": "A name of your choice for this call, at most 256 characters, fewer where they \
                are not ASCII. Calling again with the same key and arguments gives the first call's task and \
                runs nothing, also where it failed; to retry after a fix, use a new key. With other arguments \
                it is an error.",
        },
    })
}

/// The argument that says whether there is a terminal, which is listed where the host has some.
fn terminal_schema(policy: &Policy) -> Value {
    if !has_terminals(policy) {
        return json!({});
    }
    json!({
        "interactive": {
            "type": "boolean",
            "description": "Whether the command has a terminal, for a program that asks something while it runs: the \
                user is then asked what it asks, and the answer is typed into it. What it writes is what it writes to a \
                terminal, both streams are one, and `stdin` is typed first and does not end. Default: false. A program \
                with an option that answers everything, such as `--yes`, does not need it.",
        },
    })
}

/// What is said of terminals, for a model.
fn terminal(policy: &Policy) -> &'static str {
    if has_terminals(policy) {
        "There is no terminal unless interactive is true, and stdin ends after what you give."
    } else {
        "There is no terminal, and stdin ends after what you give."
    }
}

fn has_terminals(policy: &Policy) -> bool {
    policy.argument_names().contains(&"interactive")
}

/// The working directory, for a model.
fn directory(policy: &Policy) -> String {
    let default = policy.directory.as_deref().unwrap_or("the server's own");
    let allowed = match policy.directories.as_slice() {
        [] => String::new(),
        _ => format!(" It has to be {}.", policy.allowed()),
    };
    format!(
        "The working directory, an absolute path; `~` is not expanded. Default: {default}.{allowed}"
    )
}

/// The greatest number of seconds that a call may give.
fn bound(span: Span, most: u32) -> Value {
    match span.max_ms {
        None => most.into(),
        Some(ms) if ms % 1_000 == 0 => (ms / 1_000).into(),
        Some(ms) => (ms as f64 / 1_000.0).into(),
    }
}

fn most(span: Span, most: &str) -> String {
    span.max_ms.map_or_else(|| most.to_owned(), duration)
}

#[cfg(test)]
mod tests;
