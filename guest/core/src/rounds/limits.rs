//! How much a person is shown of a command that they have to confirm, each with its reason.

/// How much of the command, and of the value of each variable that has something run, is shown, in characters: a
/// screen. Of what is longer the beginning and the end are.
pub(super) const COMMAND_CHARS: usize = 1_600;

/// How much of all such values together is shown, in characters: some screens, which is more than anybody sets for one
/// command.
pub(super) const VALUES_CHARS: usize = 16_000;

/// How many reasons are shown: a command that cannot be taken apart has as many as there are rules, and nobody would read
/// them.
pub(super) const REASONS: usize = 3;

/// How much of the directory, the label and the names of all other variables is shown, in characters each: a few lines.
pub(super) const LINE_CHARS: usize = 300;
