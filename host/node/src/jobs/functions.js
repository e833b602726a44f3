/**
 * Jobs as asynchronous functions, for places without processes, such as a page. They end with the page.
 *
 * A function cannot be killed: one that is asked to stop and goes on keeps its job running. That is the truth, so
 * nothing here pretends otherwise, and `grace-ms` has no effect.
 */

import { LONGEST_TIMER, READ_BYTES } from '../limits.js';
import { WitError } from '../wit-error.js';
import { badSpec, checkSpec, startError } from './contract.js';
import { NO_JOB_ID, isJobId } from './id.js';

/** @import * as wit from '#server/interfaces/backburner-server-jobs.js' */

/**
 * What a function is given.
 *
 * @typedef {object} Call
 * @property {string[]} words what the job is: the function's name and its arguments
 * @property {string} stdin
 * @property {Record<string, string>} environment the variables of the call; there are no others
 * @property {string | undefined} directory where the call says that it runs; what that means is the function's to know
 * @property {AbortSignal} signal aborted when the job is to stop
 * @property {(text: string, stream?: wit.Stream) => void} write does nothing when the job has ended
 *
 * @typedef {(call: Call) => Promise<number | void>} Run gives the exit code, 0 where it gives none
 */

/** Jobs that are run by these functions, by name. */
export class FunctionJobs {
  #functions;
  /** @type {Map<string, Job>} */
  #jobs = new Map();

  /** @param {Record<string, Run>} functions */
  constructor(functions) {
    this.#functions = new Map(Object.entries(functions));
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
    const job = new Job(spec);
    this.#jobs.set(id, job);
    job.run(words, this.#functions.get(words[0]));
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
   * Does nothing: these jobs have no way to ask.
   *
   * @param {string} _id
   * @param {string} _key
   * @param {string} _answer
   */
  answer(_id, _key, _answer) {}

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
    this.#stopAfter(spec.timeoutMs, 'timed-out');
    this.#stopAfter(spec.lifetimeMs, 'expired');
  }

  /** A job that never will be started. @param {wit.StopReason} reason */
  static neverStarted(reason) {
    const job = new Job({ command: { tag: 'shell', val: '' }, environment: [], stdin: '', graceMs: 0n, outputLimitBytes: 0n });
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
    if (this.#outcome) return;
    this.#stopping ??= cause;
    this.#abort.abort();
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
        questions: [],
        report: undefined,
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
    const { signal } = this.#abort;
    const { stdin, directory } = this.#spec;
    const environment = Object.fromEntries(this.#spec.environment);
    /** @type {Call['write']} */
    const write = (text, stream) => {
      // The outcome says how much there is, and never changes.
      if (!this.#outcome) this.output.write(text, stream);
    };
    try {
      // Later: whoever starts a job is told so before it does anything.
      await Promise.resolve();
      const code = await run({ words, stdin, environment, directory, signal, write });
      return { tag: 'exited', val: { code: Number(code ?? 0) & 0xff } };
    } catch (error) {
      if (signal.aborted) return { tag: 'signalled', val: { signal: 'SIGTERM', coreDumped: false } };
      this.output.write(`${error}\n`, 'stderr');
      return { tag: 'exited', val: { code: 1 } };
    }
  }

  /** @param {wit.End} end */
  #conclude(end) {
    for (const timer of this.#timers) clearTimeout(timer);
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

  /** A limit beyond what a timer takes is longer than a page lives. @param {bigint | undefined} ms @param {wit.StopCause} cause */
  #stopAfter(ms, cause) {
    if (ms === undefined || ms > LONGEST_TIMER) return;
    this.#timers.push(setTimeout(() => this.stop(cause), Number(ms)));
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
  write(text, stream = 'stdout') {
    const bytes = new TextEncoder().encode(text);
    this.lastAt = BigInt(Date.now());
    for (let start = 0; start < bytes.length; ) {
      const isHead = this.#headBytes < this.#half;
      const room = isHead ? this.#half - this.#headBytes : this.#half;
      const piece = bytes.subarray(start, start + room);
      (isHead ? this.#head : this.#tail).push({ offset: BigInt(this.writtenBytes), at: this.lastAt, stream, bytes: piece });
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
