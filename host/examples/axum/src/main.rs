//! The component inside a web service: tasks in memory, jobs that are async functions of the service itself.
//!
//! ```text
//! cargo run -p backburner-axum-example
//! curl -s localhost:8737/mcp -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call",…}'
//! ```
//!
//! It shows what an embedder writes: a [`Jobs`](backburner::jobs::Jobs) of one's own, a `Server`, and a handler
//! of four lines. It is not the Streamable HTTP transport: it looks at no header, and knows one principal.

mod functions;
mod job;
mod output;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use backburner::jobs::End;
use backburner::store::MemoryStore;
use backburner::{Principal, Server};
use tokio::net::TcpListener;
use tokio::runtime::Handle;

use crate::functions::{Call, Function, FunctionJobs, Output, Running, by_name};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:8737")).await?;
    announce(&listener)?;
    axum::serve(listener, service()?).await?;
    Ok(())
}

/// The service: one address, to which messages are posted.
fn service() -> anyhow::Result<Router> {
    let functions = BTreeMap::from([("countdown", countdown as Function), ("launch", launch)]);
    let server = Server::builder()
        .store(MemoryStore::new())
        .jobs(FunctionJobs::new(by_name(functions), Handle::current()))
        .build()?;
    let sweeper = server.clone();
    tokio::spawn(async move { sweeper.sweep_regularly().await });
    let somebody = Principal::new("somebody")?;
    let service = Router::new().route("/mcp", post(answer));
    Ok(service.with_state((server, somebody)))
}

/// Answers a message. Who closes the connection before it is answered takes the request back, and nothing else.
async fn answer(State((server, caller)): State<(Server, Principal)>, body: String) -> Response {
    match server.client(caller).message(body).await {
        Some(reply) => ([("content-type", "application/json")], reply).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// Counts down from its argument, or else from what it reads, a step each tenth of a second. The variable `LAST` is
/// what it says then.
fn countdown(output: Output, call: Call) -> Running {
    Box::pin(async move {
        let from = call.arguments.first().unwrap_or(&call.stdin);
        let Ok(from) = from.trim().parse::<u32>() else {
            output.line("from which number?");
            return End::Exited { code: 2 };
        };
        for number in (1..=from).rev() {
            output.line(&number.to_string());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let last = call.variables.get("LAST").map(String::as_str);
        output.line(last.unwrap_or("lift-off"));
        End::Exited { code: 0 }
    })
}

/// Counts down when a person has agreed.
fn launch(output: Output, call: Call) -> Running {
    Box::pin(async move {
        let form = r#"{"message":"Launch?","requestedSchema":{"type":"object","properties":{}}}"#;
        // A whole service would read this as JSON; there are three answers.
        let answer = output.ask(form).await;
        if !answer.is_ok_and(|answer| answer.contains(r#""accept""#)) {
            output.line("nobody agreed");
            return End::Exited { code: 1 };
        }
        countdown(output, call).await
    })
}

#[expect(clippy::print_stdout, reason = "a person waits for the address")]
fn announce(listener: &TcpListener) -> anyhow::Result<()> {
    println!("http://{}/mcp", listener.local_addr()?);
    Ok(())
}
