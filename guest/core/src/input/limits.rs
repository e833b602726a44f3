//! The limits of what is asked and answered, each with its reason.

/// How long a form may be, in bytes; from the contract of `jobs`.
pub(super) const FORM_BYTES: usize = 64 * 1024;

/// How long an answer may be, in bytes; from the contract of `jobs`.
pub(super) const ANSWER_BYTES: usize = 1024 * 1024;

/// How many questions of a job are read; from the contract of `jobs`.
pub(super) const QUESTIONS: usize = 32;

/// How many fields a form may have: more than anybody fills in at once.
pub(super) const FIELDS: usize = 32;

/// How long a message to a person may be, in characters: a screen, and what is shown of a plan before it is agreed to.
pub(super) const MESSAGE_CHARS: usize = 4_000;

/// How long the name of a field may be, in characters: one word, which a person may have to type.
pub(super) const NAME_CHARS: usize = 100;

/// How long the address of a page may be, in characters: what browsers are sure to take.
pub(super) const URL_CHARS: usize = 2_000;

/// How long a line may be that is typed into a terminal, in characters; from the contract of `jobs`.
pub(super) const TYPED_CHARS: u64 = 1_000;

/// How many of the values to choose from are named to who gave another one.
pub(super) const NAMED: usize = 10;
