//! The imports of the component: look up, convert, delegate.
//!
//! What comes from the guest is not trusted: a length is clamped, an id is parsed, by these functions or by the
//! engine behind them. An expected failure goes back as a value; none of these functions traps.

mod jobs;
mod store;
