//! Every limit and delay of this module, with its reason.

use std::time::Duration;

/// How long descendants may go on after the command ended by itself before they are stopped: long enough
/// for the tail of a pipeline to write its last line, short enough that `daemon & exit` is over at once.
pub(crate) const LINGER_MS: u64 = 500;

/// After how long the killing is repeated first while something is left, which is only so for a process that forks
/// faster than it is found, one in an uninterruptible system call, or one that may not be signalled.
pub(crate) const KILL_AGAIN_MS: u64 = 50;

/// After how long it is repeated at last, where nothing changes: each time reads the whole process table, and such a
/// process may stay for hours. Whatever ends wakes the supervisor at once.
pub(crate) const KILL_AGAIN_AT_MOST_MS: u64 = 2_000;

/// How many times in a row the process table is read to freeze what has been forked since the last time,
/// before what was found is killed.
pub(crate) const FREEZE_ROUNDS: usize = 20;

/// How long a caller of `inspect` waits for what is left of a lost job to disappear. Killing takes
/// microseconds; anybody waits so long only for a process that the kernel cannot end yet, for one that starts the next
/// one faster than it is killed, or where others start so many that nobody can look at them all.
pub(crate) const BURIAL: Duration = Duration::from_secs(2);

/// After how many looks in a row without a find nothing of a lost job is taken to run. One is enough but for a process
/// that executes one program after the other, and seems to have no environment each time that it is looked at.
pub(crate) const BURIAL_LOOKS: u32 = 3;

/// How often a process without an environment is looked at again in one look. Between two programs it takes a tenth of
/// a millisecond, more where the processor is given to others meanwhile; some processes never have any.
pub(crate) const UNCLEAR_LOOKS: u32 = 12;

/// How long to wait before such a process is looked at again: as long as that takes.
pub(crate) const UNCLEAR_PAUSE: Duration = Duration::from_micros(250);

/// How many new numbers are looked at in one turn. More than a machine gives out in the time of one look: they have
/// begun anew, or whoever looks stood still, and a new look at the table costs less than all of them.
pub(crate) const NEW_NUMBERS: i32 = 4096;

/// Pause between the first two looks at processes that were killed and are not gone, in a burial; each one is twice as
/// long as the one before it.
pub(crate) const BURIAL_PAUSE: Duration = Duration::from_millis(5);

/// How long a supervisor that cannot be reached may take to be gone before it is taken for one whose files were
/// changed: by far longer than the last instant of one that has written its outcome, also where others have the
/// processor.
pub(crate) const LAST_INSTANT: Duration = Duration::from_secs(1);

/// How long somebody waits who wants to know of a job's end and cannot be told, say for want of a descriptor, before it
/// is time to look.
pub(crate) const UNWAITED_PAUSE: Duration = Duration::from_secs(1);

/// How many leftovers an outcome names, so that it stays small whatever a job leaves behind.
pub(crate) const LEFTOVERS: usize = 20;

/// How many characters of a command line are shown.
#[cfg(target_os = "linux")]
pub(crate) const COMMAND_LINE_CHARS: usize = 200;

/// How much of a command line is read, enough for that many characters of four bytes.
#[cfg(target_os = "linux")]
pub(crate) const COMMAND_LINE_BYTES: u64 = 1024;

/// How much of an environment is read when a lost job's processes are looked for; the kernel allows a
/// process no more than this, whatever its limit on the stack is (three quarters of 8 MiB).
#[cfg(target_os = "linux")]
pub(crate) const ENVIRONMENT_BYTES: u64 = 6 * 1024 * 1024;

/// The longest file that is read whole, in bytes: more than a spec of which each byte is written as six, and than the
/// outcome with the longest names.
pub(crate) const FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The longest record of what to run, in bytes as it is written: what is read whole, less the line about the process.
pub(crate) const SPEC_BYTES: usize = FILE_BYTES as usize - 1024;

/// How long what a job asks may be, in bytes; from the contract of `jobs`.
pub(crate) const FORM_BYTES: usize = 64 * 1024;

/// How long an answer may be, in bytes; from the contract of `jobs`.
pub(crate) const ANSWER_BYTES: usize = 1024 * 1024;

/// How long a question may be as it is written, in bytes: JSON in JSON, where a quote is two bytes and a control
/// character six, and what is put around it.
pub(crate) const WRITTEN_FORM_BYTES: u64 = 6 * FORM_BYTES as u64 + 1024;

/// The same of an answer.
pub(crate) const WRITTEN_ANSWER_BYTES: u64 = 6 * ANSWER_BYTES as u64 + 1024;

/// How many questions of a job may be open; from the contract of `jobs`.
pub(crate) const OPEN_QUESTIONS: usize = 32;

/// How many files of questions are looked at: of far more askers that were killed than can be at work at once.
pub(crate) const QUESTION_FILES: usize = 4096;

/// How old the files of a killed asker are before another one deletes them: by far older than it takes to make them.
pub(crate) const QUESTION_STALE_NS: u64 = 60_000_000_000;

/// How long what a job says of itself may be, in bytes; from the contract of `jobs`.
pub(crate) const REPORT_BYTES: usize = 1000;

/// How many bytes are reserved for the outcome: more than one with 20 leftovers of ordinary text needs.
pub(crate) const OUTCOME_RESERVE_BYTES: usize = 8 * 1024;

/// How long to wait until an outcome that could not be written is tried again.
pub(crate) const OUTCOME_RETRY: Duration = Duration::from_secs(1);

/// How long an outcome is tried to be written where the file system seems to be gone: the connection to a server, or a
/// disk, may come back, and somebody who mends that needs some minutes. Longer only a process is kept that nobody hears
/// of.
pub(crate) const LOST_PATIENCE_MS: u64 = 30 * 60 * 1000;

/// How long the outcome of a command is tried to be written that was not executed since outcomes cannot be written: for
/// a hindrance that passes by itself. All that is lost with it is the reason.
pub(crate) const UNSTARTED_PATIENCE_MS: u64 = 5_000;

/// How long output is dropped after a failed write before the disk is tried again; a chatty job on a full
/// disk must not cost a failing system call for each of its lines.
pub(crate) const OUTPUT_RETRY_MS: u64 = 250;

/// The capacity asked for each of a job's output pipes on Linux. There each write, however short, takes a page,
/// so this is 32 writes that a supervisor may be behind before the job waits for it. More would be better for that,
/// but the pipes of one user may have 64 MiB in all before all of the user's new pipes get small ones.
#[cfg(target_os = "linux")]
pub(crate) const PIPE_BYTES: usize = 128 * 1024;

/// How many bytes of a stream are kept in memory before they are recorded, at most: twice what a pipe holds.
pub(crate) const TAKEN_BYTES: usize = 256 * 1024;

/// How many writes are taken out of a pipe before they are recorded, at most.
pub(crate) const TAKEN_WRITES: usize = 4096;

/// How many changes between the streams may be waiting to be recorded before their order is given up: more than
/// both pipes hold writes, so only senders of false signals get there.
pub(crate) const WAITING_TURNS: usize = 8192;

/// How often in a row pipes and signals are read until they agree, before other things are looked after.
pub(crate) const TAKING_PASSES: usize = 256;

/// How often in a row 128 announced writes are taken before the pipes are read: as often as both pipes, full of
/// the shortest writes, with the largest capacity need it, and more.
#[cfg(target_os = "linux")]
pub(crate) const HEARINGS: usize = 16;

/// How many times the pipes are emptied after the last process of the job has ended, at most: enough for the
/// largest capacity that an ordinary user can give a pipe on Linux, 1 MiB.
pub(crate) const DRAIN_ROUNDS: usize = 32;

/// How young the last index entry may be for more output of the same stream to be added to it. It bounds
/// the error of a fragment's time, and the index of a job that writes single bytes.
pub(crate) const ENTRY_SPAN_MS: u64 = 50;

/// The smallest limit for output: a tail segment of an eighth must hold some index entries and data.
pub(crate) const LEAST_OUTPUT_LIMIT_BYTES: u64 = 1024;

/// How many tail segments are kept; with the head's half, four eighths make up the limit.
pub(crate) const TAIL_SEGMENTS: usize = 4;

/// What one call of `read` gives at most.
pub(crate) const READ_BYTES: u32 = 262_144;

/// How many fragments one call of `read` gives at most, so that a job that alternates between its streams
/// byte by byte does not cost a reader sixty times its output.
pub(crate) const READ_FRAGMENTS: usize = 4096;

/// How often a reader starts over because the segments that it had listed were deleted meanwhile.
pub(crate) const READ_ATTEMPTS: usize = 4;

/// After how long something unfinished in the workshop, without anybody alive in it, is rubbish. Building
/// a job takes a millisecond; the rest is for a machine that was suspended in the middle of it.
pub(crate) const STALE: Duration = Duration::from_secs(600);

/// How long what somebody put in the place of a job is kept aside, for whoever wants to know what it was.
pub(crate) const ASIDE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The pause before the first look whether a process that starts a supervisor has ended: it takes about as long. Each
/// further one is twice as long as the one before it.
pub(crate) const REAP_PAUSE: Duration = Duration::from_millis(2);

/// The longest of these pauses. Such a process stays only where it hangs, and costs no more than an entry in the table.
pub(crate) const LONGEST_REAP_PAUSE: Duration = Duration::from_secs(1);

/// How often a platform without subreapers looks whether the command's process group is empty.
pub(crate) const GROUP_LOOK_MS: u64 = 50;

/// How long a supervisor that hears nothing waits before it looks whether its job has ended: where memory is short, a
/// signal may leave nothing behind that would wake it. Seldom enough to cost nothing, and a caller that waits for the
/// end gets it.
pub(crate) const UNHEARD_LOOK_MS: u64 = 10_000;

/// How long a job with a terminal has written nothing before it is looked at whether it waits there. A person does not
/// mind a second, and hardly a program pauses so long in the middle of a line.
pub(crate) const SILENCE_MS: u64 = 1_000;

/// How long it has written nothing behind an unfinished line that is shown before that is taken for a prompt where
/// nobody can see what it does: some programs write half a line and work on it.
pub(crate) const UNSEEN_SILENCE_MS: u64 = 4_000;

/// How long the pauses between two looks become, each twice as long as the one before it. A job that goes on writes,
/// mostly, and before something is typed it is looked at anyway.
pub(crate) const LOOK_AT_MOST_MS: u64 = 15_000;

/// How many descriptors of one `poll` or `select` are looked at: as many as a `select` can have.
#[cfg(target_os = "linux")]
pub(crate) const POLLED: usize = 1024;

/// After how long it is looked at again when it has written something although it was seen to wait: somebody else of
/// the job may have written that.
pub(crate) const HEARD_LOOK_MS: u64 = 200;

/// After how long a look is made again that did not find what was found before: a process may be between two system
/// calls, which takes microseconds, more where the processor is given to others.
pub(crate) const DOUBT_MS: u64 = 50;

/// How many times it is looked whether a job still waits for what was answered, before that is thrown away.
pub(crate) const ANSWER_LOOKS: usize = 4;

/// The pause between two of these looks: longer than a program takes from one call to the next, and short enough that a
/// supervisor may do nothing else meanwhile.
pub(crate) const ANSWER_PAUSE: Duration = Duration::from_millis(10);

/// How much of what was written to a terminal is kept to find a prompt in it: some screen lines with colours.
pub(crate) const TAIL_BYTES: usize = 4096;

/// How long a prompt may be, in characters, of which the contract of `jobs` allows four times as many; of a longer one
/// the end is told.
pub(crate) const PROMPT_CHARS: usize = 1000;

/// How long a prompt may be as it is written, in bytes: characters of four bytes, or control characters of six.
pub(crate) const WRITTEN_PROMPT_BYTES: u64 = 6 * PROMPT_CHARS as u64 + 1024;

/// How many lines are told where the last one alone says nothing, such as a menu.
pub(crate) const PROMPT_LINES: usize = 12;

/// How long a secret that is typed may be, in bytes, its end included: what a FIFO takes in one piece everywhere.
pub(crate) const SECRET_BYTES: usize = 512;

/// How long a line may be that is typed, in characters; from the contract of `jobs`. A terminal takes 4095 bytes.
pub(crate) const TYPED_CHARS: usize = 1000;
