//! The bounds of a policy and of how it is applied, each with its reason.

/// How many rules a policy may have: more than anybody reads, few enough that each command is compared with all.
pub(super) const RULES: usize = 100;

/// How long a pattern may be, in characters: a few words. With it a comparison costs little however long the
/// command is.
pub(super) const PATTERN_CHARS: usize = 200;

/// How long the reason of a rule may be, in characters: a person reads it before every such command.
pub(super) const REASON_CHARS: usize = 300;

/// How much of one word of a command is compared, in characters; of a longer one the rest counts as unknown. No pattern
/// names such a word.
pub(super) const WORD_CHARS: usize = 4_096;

/// How deep command substitutions, groups and lines within lines may be nested: much deeper than a person writes, and
/// shallow enough for an instance's stack. A line that goes deeper counts as one that cannot be read.
pub(super) const DEPTH: u32 = 20;

/// As how many levels a command that a runner runs counts, of [`DEPTH`]: it may be read in several ways, so that a
/// chain of many would take long. Six of them are more than a person writes.
pub(super) const RUNNER_LEVELS: u32 = 3;

/// In how many ways it is read which of the arguments of a runner are its own. More would take long behind one another.
pub(super) const READINGS: usize = 2;

/// How far a look ahead in a line goes, in characters: further than most sets of characters and lists of words that a
/// person writes, and near enough that a line of nothing but brackets is read in time. Where it ends first, there may
/// be such a set or list.
pub(super) const AHEAD_CHARS: usize = 64;
