//! What the client and its model are told about `run`.

use serde_json::{Value, json};

use super::limits::{
    KEY_CHARS, LABEL_CHARS, STRING_BYTES, TIMEOUT_SECONDS, TTL_SECONDS_MAX, TTL_SECONDS_MIN,
    VARIABLES,
};
use super::schema::closed_object;
use super::structured;

/// Written for a model that has to decide whether and how to call.
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

There is no terminal, and stdin ends after what you give. When the command ends, processes that it \
left behind are stopped: run a server in the foreground, as a task of its own, and not with `&` or \
nohup.

Set timeoutSeconds if the command may hang: it is then stopped, with everything it started. Set \
label to recognize the task by its status message. Set idempotencyKey if the call may be repeated, \
for example after a lost connection: the same key with the same arguments gives the same task \
instead of running the command again.";

/// The tool as `tools/list` shows it; the same in every call.
///
/// *Source:* MCP 2026-07-28, Tools, Data Types, Tool.
pub(crate) fn definition() -> Value {
    json!({
        "name": "run",
        "title": "Run a command",
        "description": DESCRIPTION,
        "inputSchema": closed_object([process_schemas(), task_schemas()], |name| name == "command"),
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
fn process_schemas() -> Value {
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
            "description": "The working directory, an absolute path; `~` is not expanded. Default: the \
                server's own.",
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
fn task_schemas() -> Value {
    json!({
        "timeoutSeconds": {
            "type": "number", "exclusiveMinimum": 0, "maximum": TIMEOUT_SECONDS,
            "description": "After how many seconds to stop the command if it still runs; fractions are \
                allowed, 31 days at most. Default: never.",
        },
        "label": {
            "type": "string", "minLength": 1, "maxLength": LABEL_CHARS,
            "description": "What you call the task: its status message begins with it. One line of at most 100 \
                characters, without control and format characters.",
        },
        "ttlSeconds": {
            "type": "number", "minimum": TTL_SECONDS_MIN, "maximum": TTL_SECONDS_MAX,
            "description": "After how many seconds from its start to delete the task with its output, and to \
                stop it if it still runs; from 1 second to 365 days. Default: never.",
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

#[cfg(test)]
mod tests;
