"""Every limit and delay of this host, with its reason.

Imported by supervisors too, which have to start fast: numbers only.
"""

GUEST_SECONDS = 10
"""How long the component may compute for one call, not counting its imports. An honest call takes milliseconds."""

EPOCH_TICK_SECONDS = 0.1
"""How often a running component's time is looked at."""

GUEST_MEMORY_BYTES = 128 * 1024 * 1024
"""How much linear memory an instance may have: the largest message and excerpt take a few times their size."""

GUEST_TABLE_ELEMENTS = 100_000
"""How many elements a table of an instance may have: many times as many as the component has functions."""

CALLS_PER_INSTANCE = 256
"""After how many calls an instance is replaced: linear memory never shrinks, so what one call took would stay."""

KEY_BYTES_MAX = 512
"""The longest key of the store, in bytes of UTF-8. Of the contract."""

VALUE_BYTES_MAX = 1 << 20
"""The longest value of the store, in bytes of UTF-8. Of the contract."""

CHANGES_MAX = 64
"""The most changes of one commit. Of the contract."""

SCAN_ENTRIES_MAX = 1000
"""The most entries of one scan. Of the contract."""

SCAN_BYTES_MAX = 4 << 20
"""After how many bytes of keys and values a scan stops: a full scan of the greatest values would be 1 GiB."""

STORE_BUSY_SECONDS = 30
"""How long a call waits for another process's lock: many servers on a slow disk queue up."""

READ_BYTES_MAX = 262_144
"""What one `read` of output gives at most. Of the contract."""

READ_FRAGMENTS_MAX = 4096
"""How many fragments one `read` gives at most: a job that alternates its streams byte by byte must not cost more."""

LINGER_MS = 500
"""How long descendants may go on after the command ended by itself: long enough for the tail of a pipeline."""

KILL_AGAIN_MS = 50
"""How often the killing is repeated while something is left, say a process that forks faster than it is found."""

FREEZE_ROUNDS = 20
"""How often the process table is read to freeze what was forked since the last time, before it is killed."""

BURIAL_SECONDS = 2
"""How long `inspect` waits for what is left of a lost job to disappear. Killing takes microseconds."""

LAST_INSTANT_SECONDS = 1
"""How long a supervisor that cannot be reached may take to be gone before it is taken for one whose files were changed:
by far longer than the last instant of one that has written its outcome, also where others have the processor."""

LEFTOVERS_MAX = 20
"""How many leftovers an outcome names. Of the contract."""

COMMAND_LINE_CHARS = 200
"""How many characters of a leftover's command line are shown. Of the contract."""

SIGNAL_NAME_CHARS = 32
"""How long a signal's name may be: longer than any has."""

DETAIL_CHARS = 4000
"""How much is said of a command that could not be executed: its name may be as long as a spec."""

OUTCOME_RETRY_SECONDS = 1
"""How long to wait until an outcome that could not be written is tried again."""

OUTPUT_RETRY_MS = 250
"""How long output is dropped after a failed write before the disk is tried again."""

PIPE_READ_BYTES = 65_536
"""How much is taken out of a pipe at once: what a pipe holds."""

DRAIN_ROUNDS = 32
"""How often the pipes are emptied after the job's last process has ended; a stranger may hold them for ever."""

ENTRY_SPAN_MS = 50
"""How young an index entry may be for more output of its stream to join it: bounds the error of its time."""

OUTPUT_LIMIT_LEAST_BYTES = 1024
"""The smallest limit for output: an eighth of it has to hold some index entries and data."""

TAIL_SEGMENTS = 4
"""How many segments of the end are kept, an eighth of the limit each; the beginning has the other half."""

STALE_SECONDS = 600
"""After how long something unfinished in the workshop is rubbish: building a job takes milliseconds."""

FORM_BYTES_MAX = 64 << 10
"""How long what a job asks may be, in bytes of UTF-8. Of the contract."""

ANSWER_BYTES_MAX = 1 << 20
"""How long an answer may be, in bytes of UTF-8. Of the contract."""

QUESTIONS_MAX = 32
"""How many questions of a job may be open. Of the contract."""

REPORT_TEXT_BYTES_MAX = 1000
"""How long what a job says of itself may be, in bytes of UTF-8. Of the contract."""

ESCAPED_BYTES = 6
"""How many bytes a byte of text takes at most where it is written as JSON: a control character, as `\\u` and digits."""

RECORD_BYTES_MAX = 16 << 20
"""How much of a job's file is read, and written: JSON of 2 MiB of text, which a spec may have by the contract, whatever
is in it. As in the native host."""

RECORD_BYTES = 1024
"""How much is written around a text: more than the names and numbers of any record."""

FIRST_SWEEP_SECONDS = 1
"""How long after the start the first sweep runs: the first replies go first."""

LONGEST_SWEEP_PAUSE_SECONDS = 600
"""The longest pause between two sweeps: another process may have made a task that expires."""

SHORTEST_SWEEP_PAUSE_SECONDS = 0.1
"""The shortest pause between two sweeps, so that one that gets nothing done does not spin."""

SHORTEST_WAIT_SECONDS = 0.1
"""The shortest pause between two looks of one open request at its job, so that it does not spin."""

WORK_PATIENCE_SECONDS = 1
"""How long the requests that are open at the end of input may not get on, before the server ends all the same: longer
than a commit takes on a slow disk, shorter than clients wait before they send signals."""

UNTAKEN_PATIENCE_SECONDS = 5
"""How long a client that closed its end of the input may take nothing of the replies that wait for it, before the
server ends all the same. One that reads is kept from it for a second by what it does with a reply; one that never reads
must not keep a server for ever."""

ASKED_PATIENCE_SECONDS = 1
"""How long all of that may take where the server is asked to end by a signal: clients kill what has not ended two
seconds later."""

PIECE_BYTES = 16_384
"""In pieces of how many bytes replies are written. A piece that was taken shows that the client reads, if slowly: a
whole megabyte would hide that for longer than `UNTAKEN_PATIENCE_SECONDS`."""

UNREAD_REPLIES_BYTES = 1024 * 1024
"""How many bytes of replies wait for a client that does not read, before its requests are not worked on."""
