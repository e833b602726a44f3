//! What a job asks a person, and what it is answered.
//!
//! Knows the forms that MCP allows and which answers fit them; knows no task and no JSON-RPC message. What a job asks
//! comes from a process of it, and is nothing but text until it has been parsed here: what cannot be parsed is asked of
//! nobody, and what is sent to a client is written anew from what was understood.
//!
//! *Source:* MCP 2026-07-28, Elicitation.

mod answer;
mod asked;
mod choice;
mod field;
mod form;
mod format;
mod limits;
mod number;

pub(crate) use answer::{fitting, typed};
pub(crate) use asked::{Asked, Modes, Open, Requests};
pub(crate) use form::Form;
