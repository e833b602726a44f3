//! What clients send.

use serde_json::{Value, json};

/// The Tasks extension.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What a client understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Tasks.
    Tasks,
    /// No tasks.
    Plain,
}

/// The `_meta` of such a client's requests.
pub(crate) fn meta(client: Client) -> Value {
    let capabilities = match client {
        Client::Tasks => json!({ "extensions": { TASKS: {} } }),
        Client::Plain => json!({}),
    };
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// A request with these parameters beside `_meta`.
pub(crate) fn request(id: u64, client: Client, method: &str, mut params: Value) -> String {
    params["_meta"] = meta(client);
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// A call of the tool `run`.
pub(crate) fn run(id: u64, client: Client, arguments: &Value) -> String {
    call(id, client, "run", arguments)
}

/// A call of this tool.
pub(crate) fn call(id: u64, client: Client, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    request(id, client, "tools/call", params)
}

/// Arguments that run this command under the key `k`.
pub(crate) fn keyed(command: &str) -> Value {
    json!({ "command": command, "idempotencyKey": "k", "ttlSeconds": 3600, "label": "l" })
}

/// A `tasks/get`, `tasks/cancel` or the like, which has a task's id and nothing else.
pub(crate) fn about(id: u64, method: &str, task_id: &str) -> String {
    request(id, Client::Tasks, method, json!({ "taskId": task_id }))
}
