//! Messages as a client of revision 2026-07-28 writes and reads them.

use serde_json::{Value, json};

/// The protocol revision that the tests speak.
pub const VERSION: &str = "2026-07-28";

/// The Tasks extension.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What a client says that it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// It declares the Tasks extension.
    Tasks,
    /// It declares the Tasks extension, and that it can ask its user by a form.
    Asking,
    /// It declares nothing.
    Plain,
}

/// The `_meta` of every request of `client`.
#[must_use]
pub fn meta(client: Client) -> Value {
    let capabilities = match client {
        Client::Tasks => json!({ "extensions": { TASKS_EXTENSION: {} } }),
        Client::Asking => json!({ "extensions": { TASKS_EXTENSION: {} }, "elicitation": {} }),
        Client::Plain => json!({}),
    };
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": { "name": "backburner-tests", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// A whole request. `params` is an object, to which `_meta` is added.
///
/// # Panics
/// Where `params` is no object.
#[must_use]
pub fn request(id: u64, method: &str, params: &Value, client: Client) -> Value {
    let mut params = params.clone();
    params
        .as_object_mut()
        .expect("the parameters of a request are an object")
        .insert("_meta".to_owned(), meta(client));
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The parameters of a `tools/call` of the tool `run` with these arguments.
#[must_use]
pub fn tool_call(arguments: &Value) -> Value {
    json!({ "name": "run", "arguments": arguments })
}

/// The parameters of a `tools/call` that runs this shell line.
#[must_use]
pub fn run_call(command: &str) -> Value {
    tool_call(&json!({ "command": command }))
}

/// Reads one line of the server and asserts that it is a message that a server may send: a reply with a result or
/// an error, or a notification.
///
/// # Errors
/// What is wrong with it.
pub fn check_message(line: &str) -> Result<Value, String> {
    let message: Value =
        serde_json::from_str(line).map_err(|error| format!("not JSON ({error}): {line}"))?;
    let wrong = |what: &str| Err(format!("{what}: {line}"));
    if !is_as_written(line, &message) {
        return wrong("not written as the component writes it: a host passes on its bytes");
    }
    if message["jsonrpc"] != "2.0" {
        return wrong("not JSON-RPC 2.0");
    }
    let id = message.get("id");
    if id.is_some_and(|id| !(id.is_string() || id.is_i64() || id.is_u64())) {
        return wrong("an id is a string or an integer");
    }
    let is_sound = match (
        message.get("result"),
        message.get("error"),
        message.get("method"),
    ) {
        (Some(result), None, None) => id.is_some() && result["resultType"].is_string(),
        (None, Some(error), None) => error["code"].is_i64() && error["message"].is_string(),
        (None, None, Some(method)) => id.is_none() && method.is_string(),
        _ => false,
    };
    if is_sound {
        Ok(message)
    } else {
        wrong("neither a reply nor a notification")
    }
}

/// Whether a message has exactly the bytes with which it is written here, but for the order of members, so no blanks,
/// escapes or forms of numbers of another writer's.
fn is_as_written(line: &str, message: &Value) -> bool {
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    sorted(line) == sorted(&message.to_string())
}

#[test]
fn a_message_that_was_written_again_is_found() {
    let message = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","text":"é"}}"#;
    assert!(check_message(message).is_ok());
    let blank = message.replace(":1", ": 1");
    let escaped = message.replace('é', "\\u00e9");
    for rewritten in [blank, escaped] {
        let found = check_message(&rewritten);
        assert!(found.is_err_and(|reason| reason.contains("passes on its bytes")));
    }
}
