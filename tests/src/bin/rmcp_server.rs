//! What the benchmark compares with: the smallest stdio server that rmcp makes of the same tool.
//!
//! One tool `run` with backburner's `command` and `args`. Its tasks live in memory, in rmcp's own task manager,
//! and end with the process: it shows what the protocol and a process cost where nothing has to survive.
//! One thread and the non-blocking pipes, because of the runtimes and transports that rmcp offers this pair was
//! the fastest here.

use std::process::Stdio;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    CreateTaskResult, GetTaskParams, GetTaskResult, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, object,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::Deserialize;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let started = Server::default()
        .serve(rmcp::transport::io::stdio_pipes())
        .await;
    // A client that goes away before its first call, as the one that times the start does, is no failure.
    if let Err(ServerInitializeError::ConnectionClosed(_)) = started {
        return Ok(());
    }
    started?.waiting().await?;
    Ok(())
}

/// The server; its tasks are all its state.
#[derive(Clone, Default)]
struct Server {
    tasks: TaskManager,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let offered = ServerCapabilities::builder()
            .enable_tools()
            .enable_tasks()
            .build();
        ServerConfig::new(offered)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let run = Tool::new("run", "Run a command", Arc::new(schema()));
        Ok(ListToolsResult::with_all_items(vec![run]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let wanted = Run::parse(request.arguments)?;
        let takes_tasks = context
            .client_capabilities()
            .is_some_and(|offered| offered.supports_tasks());
        if !takes_tasks {
            return Ok(CallToolResponse::Complete(wanted.output().await?));
        }
        let options = TaskOptions::new()
            .with_ttl_ms(None)
            .with_poll_interval_ms(1);
        let task = self
            .tasks
            .spawn(options, |task| Box::pin(wanted.until_cancelled(task)));
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}

/// The arguments of the tool.
#[derive(Deserialize)]
struct Run {
    /// A line for the shell, or a program where there are `args`.
    command: String,
    /// The program's arguments.
    args: Option<Vec<String>>,
}

impl Run {
    fn parse(arguments: Option<JsonObject>) -> Result<Self, ErrorData> {
        serde_json::from_value(arguments.unwrap_or_default().into())
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
    }

    async fn until_cancelled(self, task: TaskContext) -> Result<CallToolResult, TaskExit> {
        tokio::select! {
            () = task.cancelled() => Err(TaskExit::Cancelled),
            result = self.output() => Ok(result?),
        }
    }

    async fn output(self) -> Result<CallToolResult, ErrorData> {
        let mut command = match self.args {
            Some(args) => {
                let mut command = tokio::process::Command::new(self.command);
                command.args(args);
                command
            }
            None => {
                let mut command = tokio::process::Command::new("sh");
                command.arg("-c").arg(self.command);
                command
            }
        };
        let ended = command
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.is_error = Some(!ended.status.success());
        result.structured_content = Some(json!({ "exitCode": ended.status.code() }));
        Ok(result)
    }
}

fn schema() -> JsonObject {
    object(json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "args": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["command"],
    }))
}
