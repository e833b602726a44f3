//! Why a `requestState` is not accepted.

use crate::rpc::RpcError;

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// No server of this store made it, or somebody changed it.
    Foreign,
    /// It was given to another caller.
    OtherCaller,
    /// It belongs to a call of another tool.
    OtherTool,
    /// It belongs to a call with other arguments.
    OtherArguments,
    /// It is too old.
    Expired,
}

impl From<Rejected> for RpcError {
    fn from(rejected: Rejected) -> Self {
        let why = match rejected {
            Rejected::Foreign => "is not one that this server gave, or was changed",
            Rejected::OtherCaller => "was given to another caller",
            Rejected::OtherTool => "belongs to a call of another tool",
            Rejected::OtherArguments => "belongs to a call with other arguments",
            Rejected::Expired => "has expired",
        };
        Self::InvalidParams(format!(
            "`requestState` {why}, so nothing was run: make the call again without `requestState` and \
             `inputResponses`, and its questions are asked anew"
        ))
    }
}
