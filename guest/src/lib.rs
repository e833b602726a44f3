//! The backburner component: binds the core's traits to the WIT interface. Conversions only.
//!
//! Knows the generated bindings and the core's types, and how one becomes the other. Knows nothing of
//! the protocol, of tasks, or of how a host keeps its promises.

mod bindings;
mod convert;
mod world;

use std::cell::RefCell;

use backburner_core::Server;
use bindings::exports::backburner::server::protocol;

use crate::world::Host;

/// What the component exports.
pub(crate) struct Component;

thread_local! {
    /// What `configure` made; an instance is one thread, and holds nothing else between two calls.
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

/// Runs `f` with the configured server; one that nobody configured has all defaults.
fn with_server<T>(f: impl FnOnce(&Server) -> T) -> T {
    SERVER.with_borrow_mut(|server| f(server.get_or_insert_default()))
}

impl protocol::Guest for Component {
    fn configure(config: String) -> Result<(), protocol::ConfigError> {
        let server = Server::configure(&config)?;
        SERVER.set(Some(server));
        Ok(())
    }

    fn message(cx: protocol::Context, body: String) -> protocol::Outcome {
        with_server(|server| server.message(&mut Host, &cx.into(), &body)).into()
    }

    fn resume(cx: protocol::Context, ticket: String, why: protocol::Wake) -> protocol::Outcome {
        with_server(|server| server.resume(&mut Host, &cx.into(), &ticket, why.into())).into()
    }

    fn refuse(body: String, why: protocol::Refusal) -> Option<String> {
        Server::refuse(&body, why.into())
    }

    fn sweep(now: u64) -> Option<u64> {
        with_server(|server| server.sweep(&mut Host, now))
    }
}
