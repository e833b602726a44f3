/**
 * Jobs as asynchronous functions, for places without processes, such as a page. They end with the page.
 *
 * A function cannot be killed: one that is asked to stop and goes on keeps its job running, also when it is told that
 * its grace is over. That is the truth, so nothing here pretends otherwise.
 */

import { ANSWER_BYTES, LONGEST_TIMER, READ_BYTES } from '../limits.js';
import { WitError } from '../wit-error.js';
import { badSpec, checkSpec, isEnd, noDirectory, startError } from './contract.js';
import { Questions, isTooLong, reportOf } from './function-questions.js';
import { NO_JOB_ID, isJobId } from './id.js';

/** @import * as wit from '#server/interfaces/backburner-server-jobs.js' */

/**
 * What a function is given.
 *
 * @typedef {object} Call
 * @property {string[]} words what the job is: the function's name and its arguments
 * @property {string | undefined} line the same as it was written, where that was a line for a shell: a function that is
 *   a shell reads this, with the blanks and quotes that `words` has lost
 * @property {string} stdin
 * @property {Record<string, string>} environment the variables of the call; there are no others
 * @property {string | undefined} directory where the call says that it runs; what that means is the function's to know
 * @property {AbortSignal} signal aborted when the job is to stop
 * @property {AbortSignal} killed aborted where it still runs when its grace is over: a function that has a worker
 *   terminates it
 * @property {(text: string, stream?: wit.Stream) => void} write does nothing when the job has ended
 * @property {(form: string) => Promise<string>} ask asks a person something: a form and its answer, as the README of
 *   the WIT has them. No answer comes when the job is to stop, or has ended, and no rejection either: a function that
 *   waits for one listens to `signal` too
 * @property {(said: { percent?: number, text?: string }) => void} report says how far the job is
 *
 * @typedef {(call: Call) => Promise<number | void | wit.End>} Run gives the exit code, 0 where it gives none; or how
 *   else it ended, where it runs programs of its own: by a signal, say, or not at all
 *
 * @typedef {object} Surroundings what else there is where the functions run
 * @property {(path: string) => boolean} [isDirectory] whether a call may name this directory; any one without it
 */

/** Jobs that are functions. */
export class FunctionJobs {
  #find;
  #isDirectory;
  /** @type {Map<string, Job>} */
  #jobs = new Map();

  /**
   * @param {Record<string, Run> | Run} functions by name, or one that is called whatever the name is, such as a shell
   * @param {Surroundings} [surroundings]
   */
  constructor(functions, { isDirectory } = {}) {
    const table = typeof functions === 'function' ? undefined : new Map(Object.entries(functions));
    this.#find = (/** @type {string} */ name) => (typeof functions === 'function' ? functions : table?.get(name));
    this.#isDirectory = isDirectory ?? (() => true);
  }

  /**
   * @param {string} id
   * @param {wit.Spec} spec
   */
  start(id, spec) {
    if (!isJobId(id)) throw badSpec(NO_JOB_ID);
    checkSpec(spec);
    if (this.#jobs.has(id)) throw startError('already-known', 'this job was started or stopped before');
    const words = spec.command.tag === 'program' ? spec.command.val : spec.command.val.trim().split(/\s+/);
    if (!words[0]) throw badSpec('the name of the function is missing');
    if (spec.directory !== undefined && !this.#isDirectory(spec.directory)) throw noDirectory(spec.directory);
    const job = new Job(spec);
    this.#jobs.set(id, job);
    job.run(words, this.#find(words[0]));
  }

  /**
   * @param {string} id
   * @param {wit.StopReason} reason
   */
  stop(id, reason) {
    if (!isJobId(id)) throw new WitError({ detail: NO_JOB_ID });
    const job = this.#jobs.get(id);
    if (job) job.stop(reason);
    else this.#jobs.set(id, Job.neverStarted(reason));
  }

  /**
   * @param {string} id
   * @returns {wit.State}
   */
  inspect(id) {
    return this.#jobs.get(id)?.state() ?? { tag: 'unknown' };
  }

  /**
   * @param {string} id
   * @param {bigint} offset
   * @param {number} limit
   * @returns {wit.Fragment[]}
   */
  read(id, offset, limit) {
    return this.#jobs.get(id)?.output.read(offset, Math.min(Math.max(limit, 1), READ_BYTES)) ?? [];
  }

  /**
   * @param {string} id
   * @param {string} key
   * @param {string} answer
   */
  answer(id, key, answer) {
    if (isTooLong(answer)) throw new WitError({ detail: `an answer may have ${ANSWER_BYTES} bytes` });
    this.#jobs.get(id)?.questions.answer(key, answer);
  }

  /** @param {string} id */
  forget(id) {
    if (this.inspect(id).tag === 'running') throw new WitError({ detail: `job ${id} runs; stop it first` });
    this.#jobs.delete(id);
  }

  /**
   * Calls back, later, when a job does not run or not any more.
   *
   * @param {string} id
   * @param {() => void} callback
   * @returns {() => void} takes it back
   */
  whenEnded(id, callback) {
    let isWanted = true;
    Promise.resolve(this.#jobs.get(id)?.ended).then(() => isWanted && callback());
    return () => {
      isWanted = false;
    };
  }
}

/** One job. */
class Job {
  #startedAt = Date.now();
  #started = performance.now();
  #abort = new AbortController();
  #kill = new AbortController();
  questions = new Questions();
  /** @type {wit.Report | undefined} */
  #report;
  /** @type {ReturnType<typeof setTimeout>[]} */
  #timers = [];
  #spec;
  /** @type {wit.StopCause | undefined} */
  #stopping;
  /** @type {wit.Outcome | undefined} */
  #outcome;
  /** Resolved when the function has ended. @type {Promise<void>} */
  ended = Promise.resolve();

  /** @param {wit.Spec} spec */
  constructor(spec) {
    this.#spec = spec;
    this.output = new Output(Number(spec.outputLimitBytes));
    this.#after(spec.timeoutMs, () => this.stop('timed-out'));
    this.#after(spec.lifetimeMs, () => this.stop('expired'));
  }

  /** A job that never will be started. @param {wit.StopReason} reason */
  static neverStarted(reason) {
    const job = new Job({
      command: { tag: 'shell', val: '' },
      environment: [],
      stdin: '',
      interactive: false,
      graceMs: 0n,
      outputLimitBytes: 0n,
    });
    job.#stopping = reason;
    job.#conclude({ tag: 'lost', val: { kind: 'never-started' } });
    return job;
  }

  /**
   * @param {string[]} words
   * @param {Run | undefined} run
   */
  run(words, run) {
    this.ended = this.#endOf(words, run).then((end) => this.#conclude(end));
  }

  /** @param {wit.StopCause} cause the first one stays */
  stop(cause) {
    if (this.#outcome || this.#stopping) return;
    this.#stopping = cause;
    this.#abort.abort();
    this.questions.close();
    this.#after(this.#spec.graceMs, () => this.#kill.abort());
  }

  /** @returns {wit.State} */
  state() {
    if (this.#outcome) return { tag: 'ended', val: this.#outcome };
    return {
      tag: 'running',
      val: {
        startedAt: BigInt(this.#startedAt),
        runningMs: this.#runningMs(),
        outputBytes: BigInt(this.output.writtenBytes),
        lastOutputAt: this.output.lastAt,
        stopping: this.#stopping,
        questions: this.questions.all(),
        report: this.#report,
      },
    };
  }

  /**
   * @param {string[]} words
   * @param {Run | undefined} run
   * @returns {Promise<wit.End>}
   */
  async #endOf(words, run) {
    if (!run) return { tag: 'not-started', val: { detail: `there is no function ${words[0]}` } };
    try {
      // Later: whoever starts a job is told so before it does anything.
      await Promise.resolve();
      return endOf(await run(this.#call(words)));
    } catch (error) {
      if (this.#abort.signal.aborted) {
        const signal = this.#kill.signal.aborted ? 'SIGKILL' : 'SIGTERM';
        return { tag: 'signalled', val: { signal, coreDumped: false } };
      }
      this.output.write(`${textOf(error)}\n`, 'stderr');
      return { tag: 'exited', val: { code: 1 } };
    }
  }

  /** @param {string[]} words @returns {Call} */
  #call(words) {
    const { command, stdin, directory, environment } = this.#spec;
    return {
      words,
      line: command.tag === 'shell' ? command.val : undefined,
      stdin,
      environment: Object.fromEntries(environment),
      directory,
      signal: this.#abort.signal,
      killed: this.#kill.signal,
      // The outcome says how much there is, and never changes.
      write: (text, stream = 'stdout') => {
        if (!STREAMS.includes(stream)) throw new TypeError(`a stream is ${STREAMS.join(' or ')}, and not ${stream}`);
        if (!this.#outcome) this.output.write(text, stream);
      },
      ask: (form) => this.questions.ask(form),
      report: (said) => {
        this.#report = reportOf(said);
      },
    };
  }

  /** @param {wit.End} end */
  #conclude(end) {
    for (const timer of this.#timers) clearTimeout(timer);
    this.questions.close();
    this.#outcome = {
      startedAt: BigInt(this.#startedAt),
      endedAt: BigInt(Date.now()),
      durationMs: this.#runningMs(),
      end,
      stopped: this.#stopping,
      outputBytes: BigInt(this.output.writtenBytes),
      droppedBytes: BigInt(this.output.droppedBytes),
      leftovers: [],
    };
  }

  #runningMs() {
    return BigInt(Math.floor(performance.now() - this.#started));
  }

  /**
   * A time beyond what a timer takes is longer than a page lives. None at all is at once, and not later.
   *
   * @param {bigint | undefined} ms
   * @param {() => void} action
   */
  #after(ms, action) {
    if (ms === undefined || ms > LONGEST_TIMER) return;
    if (ms === 0n) action();
    else this.#timers.push(setTimeout(action, Number(ms)));
  }
}

/** @type {wit.Stream[]} */
const STREAMS = ['stdout', 'stderr'];

/**
 * How a job ended whose function gave this: its exit code, of which a system keeps a byte, nothing for 0, or an end.
 *
 * @param {unknown} given
 * @returns {wit.End}
 */
function endOf(given) {
  const isCode = Number.isSafeInteger(given ?? 0);
  const end = isCode ? { tag: 'exited', val: { code: Number(given ?? 0) & 0xff } } : given;
  if (isEnd(end)) return end;
  throw new TypeError(`a function gives an exit code or an end, and not ${JSON.stringify(given)}`);
}

/** What was thrown, as text: it may be anything, also what has none. @param {unknown} thrown */
function textOf(thrown) {
  try {
    return String(thrown);
  } catch {
    return 'what the function threw cannot be told: throw an Error';
  }
}

/** What a job wrote: the beginning, up to half of the limit, and as much of the end. */
class Output {
  #half;
  /** @type {wit.Fragment[]} */
  #head = [];
  #headBytes = 0;
  /** @type {wit.Fragment[]} */
  #tail = [];
  #tailBytes = 0;
  writtenBytes = 0;
  droppedBytes = 0;
  /** @type {bigint | undefined} */
  lastAt;

  /** @param {number} limitBytes */
  constructor(limitBytes) {
    this.#half = Math.max(Math.floor(limitBytes / 2), 1);
  }

  /**
   * @param {string} text
   * @param {wit.Stream} stream
   */
  write(text, stream) {
    const bytes = new TextEncoder().encode(text);
    this.lastAt = BigInt(Date.now());
    for (let start = 0; start < bytes.length; ) {
      const isHead = this.#headBytes < this.#half;
      const room = isHead ? this.#half - this.#headBytes : this.#half;
      const piece = bytes.subarray(start, start + room);
      const fragment = { offset: BigInt(this.writtenBytes), at: this.lastAt, stream, bytes: piece };
      (isHead ? this.#head : this.#tail).push(fragment);
      if (isHead) this.#headBytes += piece.length;
      else this.#tailBytes += piece.length;
      this.writtenBytes += piece.length;
      start += piece.length;
      this.#trim();
    }
  }

  #trim() {
    while (this.#tailBytes > this.#half) {
      const oldest = this.#tail.shift();
      if (!oldest) return;
      const kept = oldest.bytes.subarray(this.#tailBytes - this.#half);
      const dropped = oldest.bytes.length - kept.length;
      this.#tailBytes -= dropped;
      this.droppedBytes += dropped;
      if (kept.length > 0) this.#tail.unshift({ ...oldest, offset: oldest.offset + BigInt(dropped), bytes: kept });
    }
  }

  /**
   * @param {bigint} offset
   * @param {number} limit
   * @returns {wit.Fragment[]}
   */
  read(offset, limit) {
    const found = [];
    let left = limit;
    for (const fragment of [...this.#head, ...this.#tail]) {
      const skip = offset > fragment.offset ? offset - fragment.offset : 0n;
      if (skip >= fragment.bytes.length || left === 0) continue;
      const bytes = fragment.bytes.subarray(Number(skip), Number(skip) + left);
      found.push({ ...fragment, offset: fragment.offset + skip, bytes });
      left -= bytes.length;
    }
    return found;
  }
}
