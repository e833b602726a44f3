//! A real client: rmcp, over stdio, with the real binary, through the client's own typed interface.
//!
//! What is proven here is that a stranger's reading of the protocol and ours agree; what the bytes are is for the
//! transcripts.

use std::time::{Duration, Instant};

use backburner_tests::{PATIENCE, Setup, TestDir, binary, until};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientCapabilities,
    ClientConfig, CreateTaskResult, DetailedTask, ElicitRequestParams, ErrorCode, ErrorData,
    GetTaskParams, Implementation, InputRequest, ProtocolVersion, RequestMetaObject, ResultType,
    TaskPayload, TaskStatus, UpdateTaskParams, object,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};

/// Between two polls. Shorter than any server suggests, so that a test is over as soon as its job is.
const PAUSE: Duration = Duration::from_millis(5);

/// A client and the server process that it started.
struct Session {
    client: RunningService<RoleClient, ClientConfig>,
    pid: u32,
}

impl Session {
    /// A client that declares the Tasks extension, and a server that never waits for a direct result.
    async fn with_tasks(dir: &TestDir) -> Self {
        Self::start(dir, ClientCapabilities::builder().enable_tasks().build()).await
    }

    /// As [`Self::with_tasks`], of a client that can ask its user.
    async fn with_a_user(dir: &TestDir) -> Self {
        let capabilities = ClientCapabilities::builder().enable_elicitation();
        Self::start(dir, capabilities.enable_tasks().build()).await
    }

    /// A client that declares nothing.
    async fn without_tasks(dir: &TestDir) -> Self {
        Self::start(dir, ClientCapabilities::default()).await
    }

    async fn start(dir: &TestDir, capabilities: ClientCapabilities) -> Self {
        let command = Setup::flags(&["--direct-limit", "0"]).command(dir);
        let process = TokioChildProcess::new(tokio::process::Command::from(command))
            .expect("the server starts");
        let pid = process.id().expect("it was not waited for");
        let client = ClientConfig::new(capabilities, Implementation::new("rmcp-client", "1"))
            .serve_with_lifecycle(
                process,
                ClientLifecycleMode::Discover {
                    preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                },
            )
            .await
            .expect("the client takes what the server says in server/discover");
        Self { client, pid }
    }

    async fn call(&self, arguments: Value) -> Result<CallToolResponse, ServiceError> {
        let params = CallToolRequestParams::new("run").with_arguments(object(arguments));
        self.client.call_tool_once(params).await
    }

    async fn create(&self, command: &str) -> CreateTaskResult {
        match self.call(json!({ "command": command })).await {
            Ok(CallToolResponse::Task(created)) => created,
            other => panic!("no task was created: {other:?}"),
        }
    }

    async fn task(&self, id: &str) -> Result<DetailedTask, ServiceError> {
        let polled = self.client.get_task(GetTaskParams::new(id)).await?;
        assert_eq!(polled.result_type, ResultType::COMPLETE);
        Ok(polled.task)
    }

    async fn ended(&self, id: &str) -> DetailedTask {
        self.once(id, |task| task.status().is_terminal()).await
    }

    /// The task as soon as it is as wanted.
    async fn once(&self, id: &str, is_as_wanted: fn(&DetailedTask) -> bool) -> DetailedTask {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let task = self.task(id).await.expect("the task is known");
            if is_as_wanted(&task) {
                return task;
            }
            assert!(Instant::now() < deadline, "it stays so: {task:?}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits for a question of a job, and answers it as a user does who agrees to everything.
    async fn agree(&self, id: &str) {
        let is_asked = |task: &DetailedTask| task.status() == TaskStatus::InputRequired;
        let TaskPayload::InputRequired { input_requests } = self.once(id, is_asked).await.payload
        else {
            unreachable!("a task that requires input has requests")
        };
        let answers = input_requests.into_iter();
        let answers = answers.map(|(key, request)| (key, agreement(request)));
        let answered = self
            .client
            .update_task(UpdateTaskParams::new(id, answers.collect()));
        answered.await.expect("it is acknowledged");
    }

    /// Goes away as a client does, and waits until the server has gone too.
    async fn close(self) {
        self.client.cancel().await.expect("the client ends");
        let process = std::path::PathBuf::from(format!("/proc/{}", self.pid));
        until(PATIENCE, "the server to end", || {
            if process.exists() {
                Err("it runs".to_owned())
            } else {
                Ok(())
            }
        });
    }
}

/// Yes to every field of a form.
fn agreement(request: InputRequest) -> Value {
    let InputRequest::Elicitation(request) = request else {
        panic!("it asks for something else: {request:?}")
    };
    let ElicitRequestParams::FormElicitationParams {
        requested_schema, ..
    } = request.params
    else {
        panic!("it asks for no form")
    };
    let fields = requested_schema.properties.into_keys();
    let content: serde_json::Map<String, Value> =
        fields.map(|field| (field, true.into())).collect();
    json!({ "action": "accept", "content": content })
}

fn result_of(task: DetailedTask) -> CallToolResult {
    match task.payload {
        TaskPayload::Completed { result } => {
            serde_json::from_value(result.into()).expect("it is what the call would have given")
        }
        other => panic!("the task did not complete: {other:?}"),
    }
}

fn text_of(result: &CallToolResult) -> &str {
    let block = result.content.first().expect("there is a first block");
    &block.as_text().expect("it is text").text
}

fn exit_code_of(result: &CallToolResult) -> &Value {
    let structured = result.structured_content.as_ref();
    &structured.expect("there is a structured result")["exitCode"]
}

fn error_of<T: std::fmt::Debug>(answer: Result<T, ServiceError>) -> ErrorData {
    match answer {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("no error of the protocol: {other:?}"),
    }
}

#[tokio::test]
async fn discovery_offers_tools_and_tasks() {
    let dir = TestDir::new();
    let session = Session::with_tasks(&dir).await;
    let meta = RequestMetaObject::with_client_context(
        ProtocolVersion::V_2026_07_28,
        Implementation::new("rmcp-client", "1"),
        ClientCapabilities::default(),
    );
    let discovered = session
        .client
        .discover(meta)
        .await
        .expect("it answers again");
    assert!(
        discovered
            .supported_versions
            .contains(&ProtocolVersion::V_2026_07_28)
    );
    assert!(discovered.capabilities.tools.is_some());
    assert!(discovered.capabilities.supports_tasks());
    assert!(
        discovered
            .instructions
            .is_some_and(|text| text.contains("run"))
    );
    session.close().await;
}

#[tokio::test]
async fn the_tool_is_listed_with_both_schemas() {
    let dir = TestDir::new();
    let session = Session::with_tasks(&dir).await;
    let tools = session
        .client
        .list_all_tools()
        .await
        .expect("they are listed");
    let run = tools
        .iter()
        .find(|tool| tool.name == "run")
        .expect("there is `run`");
    assert!(run.description.is_some());
    assert!(run.annotations.is_some());
    assert_eq!(run.input_schema["required"], json!(["command"]));
    assert!(run.output_schema.is_some());
    session.close().await;
}

#[tokio::test]
async fn a_command_is_a_task_that_completes_with_its_true_result() {
    let dir = TestDir::new();
    let session = Session::with_tasks(&dir).await;
    let created = session.create("sleep 0.2; echo well done; exit 3").await;
    assert_eq!(created.result_type, ResultType::TASK);
    assert_eq!(created.task.status, TaskStatus::Working);
    assert_eq!(created.task.ttl_ms, None);
    let result = result_of(session.ended(&created.task.task_id).await);
    assert_eq!(result.is_error, Some(true));
    assert_eq!(exit_code_of(&result), &json!(3));
    assert!(text_of(&result).contains("well done"), "{result:?}");
    session.close().await;
}

/// What the listed schema says is what a client may rely on, whatever way a command ends.
#[tokio::test]
async fn every_result_conforms_to_the_listed_output_schema() {
    let dir = TestDir::new();
    let session = Session::with_tasks(&dir).await;
    let tools = session.client.list_all_tools().await;
    let tools = tools.expect("they are listed");
    let run = tools.iter().find(|tool| tool.name == "run");
    let listed = run.and_then(|run| run.output_schema.as_deref().cloned());
    let schema = Schema::new(Value::Object(listed.expect("`run` lists what it gives")));
    for (arguments, member, expected) in [
        (json!({ "command": "true" }), "exitCode", json!(0)),
        (
            json!({ "command": "echo out; echo error >&2; exit 3" }),
            "exitCode",
            json!(3),
        ),
        (
            json!({ "command": "kill -9 $$" }),
            "signal",
            json!("SIGKILL"),
        ),
        (
            json!({ "command": "sleep 600", "timeoutSeconds": 0.1 }),
            "timedOut",
            json!(true),
        ),
        (
            json!({ "command": "yes | head -c 100000" }),
            "truncated",
            json!(true),
        ),
        (
            json!({ "command": "/nonexistent", "args": [] }),
            "exitCode",
            json!(null),
        ),
        (
            json!({ "command": "setsid sleep 600 & exit 5" }),
            "exitCode",
            json!(5),
        ),
    ] {
        let Ok(CallToolResponse::Task(created)) = session.call(arguments.clone()).await else {
            panic!("{arguments} gave no task")
        };
        let result = result_of(session.ended(&created.task.task_id).await);
        let structured = result
            .structured_content
            .expect("there is a structured result");
        assert_eq!(structured[member], expected, "{arguments}: {structured}");
        schema.check(&structured);
        // The schema says something: no member may be of another type.
        for name in structured.as_object().expect("it is an object").keys() {
            let mut other = structured.clone();
            other[name] = json!({ "of": "another type" });
            assert!(schema.refuses(&other), "{name} may be anything");
        }
    }
    session.close().await;
}

/// A schema that values are held against by a validator that is not the server's own code.
struct Schema {
    schemas: boon::Schemas,
    root: boon::SchemaIndex,
}

impl Schema {
    fn new(schema: Value) -> Self {
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.set_default_draft(boon::Draft::V2020_12);
        let added = compiler.add_resource("schema:listed", schema);
        added.expect("it has no other address");
        let root = compiler.compile("schema:listed", &mut schemas);
        let root = root.expect("what is listed is a schema");
        Self { schemas, root }
    }

    fn check(&self, value: &Value) {
        if let Err(error) = self.schemas.validate(value, self.root) {
            panic!("{value} does not conform:\n{error:#}");
        }
    }

    fn refuses(&self, value: &Value) -> bool {
        self.schemas.validate(value, self.root).is_err()
    }
}

#[tokio::test]
async fn a_cancelled_task_is_shown_as_cancelled() {
    let dir = TestDir::new();
    let session = Session::with_tasks(&dir).await;
    let id = session.create("sleep 600").await.task.task_id;
    for _ in 0..2 {
        let cancelled = session
            .client
            .cancel_task(CancelTaskParams::new(id.clone()))
            .await;
        cancelled.expect("it is acknowledged, also the second time");
    }
    assert_eq!(session.ended(&id).await.status(), TaskStatus::Cancelled);
    session.close().await;
}

#[tokio::test]
async fn a_second_session_fetches_the_result_of_a_job_that_outlived_the_first() {
    let dir = TestDir::new();
    let first = Session::with_tasks(&dir).await;
    let command = "until [ -e go ]; do sleep 0.01; done; echo after the session; exit 7";
    let id = first.create(command).await.task.task_id;
    first.close().await;

    let second = Session::with_tasks(&dir).await;
    let between = second.task(&id).await.expect("the task is known");
    assert_eq!(between.status(), TaskStatus::Working);
    std::fs::write(dir.path().join("go"), "").expect("the job's directory can be written");
    let result = result_of(second.ended(&id).await);
    assert_eq!(exit_code_of(&result), &json!(7));
    assert!(text_of(&result).contains("after the session"), "{result:?}");
    second.close().await;

    let third = Session::with_tasks(&dir).await;
    let again = result_of(third.task(&id).await.expect("the task is still known"));
    assert_eq!(again, result);
    third.close().await;
}

#[tokio::test]
async fn a_second_session_answers_the_question_of_a_job_that_outlived_the_first() {
    let dir = TestDir::new();
    let first = Session::with_a_user(&dir).await;
    let program = binary().display();
    let id = first
        .create(&format!("'{program}' ask 'Go on?' --boolean; exit 7"))
        .await
        .task
        .task_id;
    first.close().await;

    let second = Session::with_a_user(&dir).await;
    second.agree(&id).await;
    let result = result_of(second.ended(&id).await);
    assert_eq!(exit_code_of(&result), &json!(7));
    assert!(text_of(&result).contains("true"), "{result:?}");
    second.close().await;
}

#[tokio::test]
async fn a_client_without_tasks_gets_the_result_itself() {
    let dir = TestDir::new();
    let session = Session::without_tasks(&dir).await;
    match session
        .call(json!({ "command": "echo here; exit 4" }))
        .await
    {
        Ok(CallToolResponse::Complete(result)) => {
            assert_eq!(result.is_error, Some(true));
            assert_eq!(exit_code_of(&result), &json!(4));
            assert!(text_of(&result).contains("here"), "{result:?}");
        }
        other => panic!("no result: {other:?}"),
    }
    session.close().await;
}

#[tokio::test]
async fn a_client_without_tasks_cannot_ask_for_one() {
    let dir = TestDir::new();
    let session = Session::without_tasks(&dir).await;
    let error = error_of(session.task("0e7b9a7e-8f5c-4d55-9d0f-6f6c2d1b7a10").await);
    assert_eq!(error.code, ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY);
    let required = &error.data.expect("it says what is missing")["requiredCapabilities"];
    assert_eq!(
        required["extensions"],
        json!({ "io.modelcontextprotocol/tasks": {} })
    );
    session.close().await;
}

#[tokio::test]
async fn an_unknown_task_is_an_invalid_parameter() {
    let dir = TestDir::new();
    let session = Session::with_tasks(&dir).await;
    let error = error_of(session.task("0e7b9a7e-8f5c-4d55-9d0f-6f6c2d1b7a10").await);
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    session.close().await;
}
