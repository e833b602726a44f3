//! Requests that are kept open over a stream.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::connection::{Connection, Work};
use crate::server::{OpenRequest, Sending};

/// A request that cannot be answered yet.
pub(crate) struct Waiting {
    pub(crate) request: OpenRequest,
    /// It counts as being worked on until its answer has been sent.
    pub(crate) work: Work,
}

/// Has requests answered when it is time, until the connection is dropped.
pub(crate) async fn answer_all(
    connection: Arc<Connection>,
    mut waiting: mpsc::UnboundedReceiver<Waiting>,
) {
    while let Some(request) = waiting.recv().await {
        tokio::spawn(answer(Arc::clone(&connection), request));
    }
}

async fn answer(connection: Arc<Connection>, waiting: Waiting) {
    let Waiting { mut request, work } = waiting;
    while let Some(sending) = request.next().await {
        let messages = match sending {
            Sending::Notifications(messages) => messages,
            Sending::Reply(reply) => return connection.send_apart(vec![reply], work).await,
        };
        // A client that does not take them is told nothing more meanwhile.
        connection.send_apart(messages, ()).await;
    }
}
