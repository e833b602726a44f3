/** Every limit and delay of this host, with its reason. Durations are in milliseconds. */

/** After how many calls an instance is replaced: linear memory never shrinks, and a new instance costs a few calls. */
export const CALLS_PER_INSTANCE = 1000;

/** How long after the start the first sweep runs: the first replies go first. */
export const FIRST_SWEEP_DELAY = 1000;

/** The longest pause between two sweeps: a task that another process created meanwhile may have expired. */
export const LONGEST_SWEEP_PAUSE = 600_000;

/** The shortest pause between two sweeps, so that one that gets nothing done does not spin. */
export const SHORTEST_SWEEP_PAUSE = 100;

/** The shortest pause between two looks of one open request at its job, so that it does not spin. */
export const SHORTEST_WAIT = 100;

/**
 * How long a client that closed its end may take nothing of the replies that are left: one that reads, if slowly, gets
 * all of them, and one that never reads does not keep the server for ever.
 */
export const UNTAKEN_PATIENCE = 5000;

/**
 * How long it may take for all of them where the server is asked to end by a signal: clients kill what has not ended
 * two seconds later.
 */
export const ASKED_PATIENCE = 1000;

/**
 * In pieces of how many bytes messages are written. A piece that was taken shows that the client reads, if slowly:
 * a whole megabyte would hide that for longer than `UNTAKEN_PATIENCE`.
 */
export const PIECE = 16 * 1024;

/** How many requests are kept open at the same time, each with a descriptor; more are answered as at shutdown. */
export const OPEN_REQUESTS = 500;

/** The longest delay that a timer of JavaScript takes; a longer one would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** The longest key of a store, in bytes of UTF-8. Of the contract. */
export const KEY_BYTES = 512;

/** The longest value of a store, in bytes of UTF-8. Of the contract. */
export const VALUE_BYTES = 1 << 20;

/** The most changes of one commit. Of the contract. */
export const CHANGES = 64;

/** The most entries of one scan. Of the contract. */
export const SCAN_ENTRIES = 1000;

/** After how many bytes a scan stops: 1000 values of the greatest size would be 1 GiB. */
export const SCAN_BYTES = 4 << 20;

/** How long a commit waits for another process's lock. The process does nothing else meanwhile. */
export const BUSY_TIMEOUT = 10_000;

/** How long descendants may go on after the command ended by itself: long enough for the tail of a pipeline. */
export const LINGER = 500;

/** How often a supervisor looks for processes that are not its children, whose end nobody announces. */
export const LOOK_AGAIN = 50;

/** How often a supervisor looks for a request to stop that nobody could tell it: the job took away its FIFO, say. */
export const REQUEST_LOOK = 1000;

/** How long a supervisor reads the pipes of a job of which nothing runs any more; somebody else may hold them. */
export const DRAIN = 1000;

/** Pause before an outcome that could not be written is tried again. */
export const OUTCOME_RETRY = 1000;

/** How long a record of a job may be, but for its spec, in bytes: the outcome may name a command of a few megabytes. */
export const RECORD_BYTES = 16 << 20;

/** How many bytes are reserved for the outcome, so that a full disk cannot keep a job from ending. */
export const OUTCOME_RESERVE_BYTES = 8192;

/** How long a look or a stop waits for what is left of a lost job to disappear, which takes microseconds usually. */
export const BURIAL = 2000;

/** Pause between two looks at processes that were killed. */
export const BURIAL_PAUSE = 5;

/** Of how many ended jobs a process knows that nothing runs: that takes about a megabyte, and a look 2 ms or more. */
export const CLEAN_JOBS = 10_000;

/** After how long something unfinished in the workshop is rubbish; building a job takes milliseconds. */
export const STALE = 600_000;

/** How many leftovers an outcome names. Of the contract. */
export const LEFTOVERS = 20;

/** How many characters of a command line are shown. Of the contract. */
export const COMMAND_LINE_CHARACTERS = 200;

/** How long output is dropped after a failed write, before the disk is tried again. */
export const OUTPUT_RETRY = 250;

/** How young an index entry may be for more bytes of its stream to be added to it. */
export const ENTRY_SPAN = 50;

/** The least limit for output: a segment of an eighth of it must hold some entries and bytes. */
export const LEAST_OUTPUT_BYTES = 1024;

/** How many segments are the end of the output; with the beginning's half, four eighths make up the limit. */
export const TAIL_SEGMENTS = 4;

/** What one `read` gives at most, in bytes. Of the contract. */
export const READ_BYTES = 262_144;

/** What one `read` gives at most, in fragments, for a job that alternates between its streams. */
export const READ_FRAGMENTS = 4096;

/** How often a reader starts over because what it had listed was deleted meanwhile. */
export const READ_ATTEMPTS = 4;

/** How long what a job asks may be, in bytes. Of the contract. */
export const FORM_BYTES = 64 << 10;

/** How long an answer may be, in bytes. Of the contract. */
export const ANSWER_BYTES = 1 << 20;

/** How many questions of a job may be open. Of the contract. */
export const OPEN_QUESTIONS = 32;

/** How long what a job says of itself may be, in bytes. Of the contract. */
export const REPORT_BYTES = 1000;

/** The same as they are written: JSON in JSON, where a control character takes six bytes, and what is put around it. */
export const WRITTEN_FORM_BYTES = 6 * FORM_BYTES + 1024;
export const WRITTEN_ANSWER_BYTES = 6 * ANSWER_BYTES + 1024;
export const WRITTEN_REPORT_BYTES = 6 * REPORT_BYTES + 1024;
