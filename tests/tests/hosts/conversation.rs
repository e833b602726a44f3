//! What both sides of a transcript say, line for line.

use backburner_tests::party::{InProcess, Party, core};
use backburner_tests::transcript::{AFTER_SILENCE, Transcript, play};

/// All that was said in a play, but for the request by which it sees that nothing came.
pub(crate) struct Conversation {
    /// What the client sent, in order.
    pub(crate) sent: Vec<String>,
    /// What it received, in order.
    pub(crate) received: Vec<String>,
}

impl Conversation {
    /// Plays a transcript against the core.
    ///
    /// # Panics
    /// Where the core does not answer as it says.
    pub(crate) fn with_core(transcript: &Transcript) -> Self {
        let mut recorder = Recorder {
            party: core(&transcript.config.to_string()),
            said: Self {
                sent: Vec::new(),
                received: Vec::new(),
            },
        };
        if let Err(failure) = play(transcript, &mut recorder) {
            panic!("the core: {}", failure.message);
        }
        recorder.said
    }
}

/// A party that writes down what it carries.
struct Recorder {
    party: InProcess,
    said: Conversation,
}

impl Party for Recorder {
    fn send(&mut self, line: &str) {
        if !line.contains(AFTER_SILENCE) {
            self.said.sent.push(line.to_owned());
        }
        self.party.send(line);
    }

    fn receive(&mut self) -> Option<String> {
        let line = self.party.receive()?;
        if !line.contains(AFTER_SILENCE) {
            self.said.received.push(line.clone());
        }
        Some(line)
    }

    fn pass(&mut self, ms: u64) {
        self.party.pass(ms);
    }

    fn reopen(&mut self) {
        self.party.reopen();
    }

    fn finish(&mut self) -> Vec<String> {
        // A play that goes well leaves nothing.
        self.party.finish()
    }
}
