//! Servers with configured tools, and calls of those.

use serde_json::{Value, json};

use super::messages::{Client, call};
use super::{FakeWorld, Host};

/// A world, and a host of a server that is configured.
pub(crate) struct Place {
    /// What is there.
    pub(crate) world: FakeWorld,
    /// What uses it.
    pub(crate) host: Host,
}

impl Place {
    /// A server with these tools alone.
    pub(crate) fn new(tools: &Value) -> Self {
        Self::configured(
            &json!({ "baseDirectory": "/base", "tools": tools, "run": { "enabled": false } }),
        )
    }

    /// A server with this configuration.
    pub(crate) fn configured(config: &Value) -> Self {
        Self {
            world: FakeWorld::new(1),
            host: Host::new(&config.to_string(), "user"),
        }
    }

    /// The whole reply to a call, however long that takes.
    pub(crate) fn reply(&mut self, client: Client, tool: &str, arguments: &Value) -> Value {
        let body = call(1, client, tool, arguments);
        self.host.ask(&mut self.world, &body)
    }

    /// The result of a call of a client without tasks.
    pub(crate) fn result(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut reply = self.reply(Client::Plain, tool, arguments);
        assert!(reply.get("result").is_some(), "{reply}");
        reply["result"].take()
    }

    /// The text of a refusal, after making sure that nothing was run.
    pub(crate) fn refusal(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(self.world.jobs.starts.len(), 0, "{result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        text.to_owned()
    }

    /// What was recorded of the only task that there is.
    pub(crate) fn facts(&self) -> Value {
        let keys = self.world.store.keys("task/");
        let [key] = keys.as_slice() else {
            panic!("there are {keys:?}");
        };
        let record = self.world.store.value(key).expect("it was just listed");
        let record: Value = serde_json::from_str(record).expect("a record is JSON");
        // The name of the only member says the version of the format.
        let members = record.as_object().expect("a record is an object");
        let (_, content) = members.iter().next().expect("it has a version");
        content["facts"].clone()
    }
}

/// A tool with these members, arguments `a`, `b` and `c` of any kind, and what else it has to have.
pub(crate) fn tool(members: &Value) -> Value {
    let mut tool = json!({
        "name": "t", "description": "A tool.",
        "inputSchema": { "type": "object", "properties": { "a": {}, "b": {}, "c": {} } },
    });
    for (name, value) in members.as_object().expect("members") {
        tool[name] = value.clone();
    }
    tool
}
