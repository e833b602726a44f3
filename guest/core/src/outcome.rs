//! What goes into a call beside its message, and what comes out of it; mirrors the WIT `protocol`.

/// What a call has to know that is not in its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The present, in milliseconds since 1970: the only clock there is. It may jump between two calls.
    pub now: u64,
    /// Who is calling, as the host authenticated it: 1 to 256 bytes.
    pub principal: String,
}

/// What the host has to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: the message has no answer.
    Nothing,
    /// Send this JSON-RPC message, one line without a line break. Final.
    Reply(String),
    /// Keep the request open, and call [`crate::Server::resume`] later.
    Wait(Pending),
    /// As [`Outcome::Wait`], after these notifications, which belong to the request, have been sent in this order.
    Notify {
        /// JSON-RPC messages, each one line without a line break; at least one.
        messages: Vec<String>,
        /// The request.
        pending: Pending,
    },
    /// Resume an earlier request of the same connection with [`Wake::Cancelled`]; where it is unknown or
    /// answered, nothing happens.
    Cancel {
        /// The request's id as JSON text, as in [`Pending::request`].
        request: String,
    },
}

impl Outcome {
    /// The same, after this notification, which belongs to the same request, has been sent.
    pub(crate) fn after(self, message: String) -> Self {
        match self {
            Self::Wait(pending) => Self::Notify {
                messages: vec![message],
                pending,
            },
            other => other,
        }
    }
}

/// A request that cannot be answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The request's id as JSON text, always written alike.
    pub request: String,
    /// Opaque; given to [`crate::Server::resume`] once.
    pub ticket: String,
    /// Resume when one of these jobs has ended, at once where one already has; an unknown one has not. Only at the
    /// deadline where there is none.
    pub jobs: Vec<String>,
    /// Resume at this moment, in milliseconds since 1970, if nothing else happened before.
    pub deadline: u64,
    /// Whether to resume also when the server was configured anew.
    pub until_configured: bool,
}

/// Why a pending request is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// One of its jobs has ended.
    JobEnded,
    /// Its deadline has come.
    Deadline,
    /// The server was configured anew, and this is one that was.
    Configured,
    /// The client took it back: the outcome is never a reply.
    Cancelled,
    /// The host is about to end: the outcome is never another wait.
    Shutdown,
}

/// Why a message was not handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The instance trapped, or exceeded its time or memory.
    Trapped,
    /// The message is longer than the host accepts.
    TooLarge,
    /// The message is not UTF-8.
    NotUtf8,
}
