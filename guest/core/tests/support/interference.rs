//! Another server that does something in the middle of a call.

use backburner_core::{Context, Outcome, Server};

use super::FakeWorld;

/// How the other server is configured where that does not matter.
pub(crate) const CONFIG: &str =
    r#"{"directLimitMs":0,"confirm":[{"pattern":"guarded ...","reason":"it is guarded"}]}"#;

/// A call that another server handles as a whole, between two imports of the one that it interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interference {
    /// After how many further import calls, counted from 0, it happens.
    pub(crate) after_calls: u64,
    /// Who sends it, and what the other server takes for the present.
    pub(crate) cx: Context,
    /// How that server is configured.
    pub(crate) config: &'static str,
    /// What it does.
    pub(crate) call: Call,
}

/// What another server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Handles this message.
    Message(String),
    /// Looks after tasks.
    Sweep,
}

impl FakeWorld {
    /// Has it happen where it is due. Called before each import.
    pub(super) fn interfere(&mut self) {
        match &mut self.interference {
            Some(interference) if interference.after_calls > 0 => interference.after_calls -= 1,
            Some(_) => {
                let interference = self.interference.take().expect("matched above");
                self.interfered = Some(self.handle_elsewhere(&interference));
            }
            None => {}
        }
    }

    /// The other server is another process: what goes wrong in this one does not concern it.
    fn handle_elsewhere(&mut self, interference: &Interference) -> Outcome {
        let faults = std::mem::take(&mut self.faults);
        let server = Server::configure(interference.config).expect("a valid configuration");
        let cx = &interference.cx;
        let outcome = match &interference.call {
            Call::Message(body) => server.message(self, cx, body),
            Call::Sweep => {
                server.sweep(self, cx.now);
                Outcome::Nothing
            }
        };
        self.faults = faults;
        outcome
    }
}
