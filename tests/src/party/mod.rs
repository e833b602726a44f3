//! Whatever answers messages: the core, the component, the host as a library, the binary, the servers of other hosts, a
//! page. To a transcript they look alike.

mod component;
mod core;
mod in_process;
mod library;
mod real;

pub use self::core::{core, fresh_core};
pub use component::component;
pub use in_process::InProcess;
pub use library::Library;
pub use real::Real;

/// A server on data of its own, as one client sees it.
pub trait Party {
    /// Sends one line, without its line break.
    fn send(&mut self, line: &str);

    /// The next message, whatever it answers; `None` where none will come any more.
    ///
    /// # Panics
    /// Where none comes although one might.
    fn receive(&mut self) -> Option<String>;

    /// Lets this many milliseconds pass where time is virtual, and none where it passes by itself.
    fn pass(&mut self, ms: u64);

    /// Ends the server and begins another one on the same data. What the first one still answers is received.
    fn reopen(&mut self);

    /// Ends the server and gives what it sent and nobody received.
    fn finish(&mut self) -> Vec<String>;
}
