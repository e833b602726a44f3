/**
 * Jobs as processes under a supervisor each, which go on when this process ends.
 *
 * There is no daemon. A job is a directory, `<id>`, see `directory.js`; servers and supervisors find each other
 * through it. A supervisor holds the FIFO `alive` there for as long as it lives, and the kernel closes that whatever
 * ended it: liveness is never a process id, and a reader's end of file is a wake-up.
 */

import { spawn } from 'node:child_process';
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ANSWER_BYTES, CLEAN_JOBS, READ_BYTES } from '../limits.js';
import { WitError } from '../wit-error.js';
import { bury } from './burial.js';
import { bootId, monotonicMs } from './clock.js';
import { startError } from './contract.js';
import { JobDirectory } from './directory.js';
import { codeOf, deleteAll, ifThere, openUp, syncDirectory } from './files.js';
import { NO_JOB_ID, isJobId } from './id.js';
import { Newer } from './model.js';
import { readOutput, usage } from './output.js';
import { SUPERVISOR, hasSupervisor, isAnythingLeft, isOther, remains } from './processes.js';
import { answerQuestion, openQuestions } from './questions.js';
import { readReport } from './report.js';
import { complete } from './spec.js';

/** @import * as wit from '#server/interfaces/backburner-server-jobs.js' */
/** @import { Origin, Outcome, Spec } from './model.js' */

const PROGRAM = fileURLToPath(new URL(SUPERVISOR, import.meta.url));

/** Where jobs are built and taken apart. Not an id, so never a job. */
const WORKSHOP = '.workshop';

/** Makes a directory, or opens one to its owner, which a job may have closed. @param {string} path */
function makePrivate(path) {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  openUp(path);
}

/** Jobs below one directory. Any number of these, in any number of processes, may use the same one. */
export class ProcessJobs {
  #path;
  #workshop;
  #bootId;
  #names = 0;
  /** Jobs without a supervisor of which this process has seen that nothing runs. @type {Set<string>} */
  #clean = new Set();

  /** @param {string} path an absolute path on a local disk; the directory is created where it is missing */
  constructor(path) {
    if (process.platform !== 'linux') {
      throw new Error('jobs as processes need /proc, which is there on Linux only: bring your own jobs');
    }
    this.#path = path;
    this.#workshop = join(path, WORKSHOP);
    this.#bootId = bootId();
    makePrivate(path);
    const found = ifThere(() => lstatSync(this.#workshop));
    // What somebody put in its place: behind a link everything would be taken for rubbish.
    if (found && !found.isDirectory()) ifThere(() => unlinkSync(this.#workshop));
    makePrivate(this.#workshop);
    this.#tidy();
  }

  /**
   * @param {string} id
   * @param {wit.Spec} spec
   */
  start(id, spec) {
    if (!isJobId(id)) throw startError('bad-spec', NO_JOB_ID);
    const completed = complete(spec);
    // Held before anybody can know the job, so that it never looks dead before it lives.
    /** @type {number[]} */
    const held = [];
    try {
      if (!this.#furnish(id, completed, held)) {
        throw startError('already-known', 'this job was started or stopped before; look at it instead');
      }
      this.#spawnSupervisor(id, held);
    } finally {
      for (const file of held) closeSync(file);
    }
  }

  /**
   * @param {string} id
   * @param {wit.StopReason} reason
   */
  stop(id, reason) {
    return this.#reporting(id, 'stopped', () => {
      if (!isJobId(id)) throw new Error(NO_JOB_ID);
      const directory = this.#find(id) ?? this.#reserved(id, reason);
      if (directory.isAlive()) {
        directory.requestStop(reason);
        // Where somebody took away what its supervisor listens to, it looks by itself, a little later.
        directory.wake();
      }
      this.#endRest(id, directory);
    });
  }

  /**
   * Where a supervisor ended without an outcome this kills what is left of its job first.
   *
   * @param {string} id
   * @returns {wit.State}
   */
  inspect(id) {
    return this.#reporting(id, 'inspected', () => {
      const directory = this.#find(id);
      if (!directory) return { tag: 'unknown' };
      const ended = this.#ended(id, directory);
      return ended ? { tag: 'ended', val: toWit(ended) } : { tag: 'running', val: this.#progress(directory) };
    });
  }

  /**
   * @param {string} id
   * @param {bigint} offset
   * @param {number} limit
   * @returns {wit.Fragment[]}
   */
  read(id, offset, limit) {
    return this.#reporting(id, 'read', () => {
      const directory = this.#find(id);
      if (!directory || offset > Number.MAX_SAFE_INTEGER) return [];
      const fragments = readOutput(directory.path, {
        offset: Number(offset),
        limit: Math.min(Math.max(limit, 1), READ_BYTES),
        isGrowing: directory.isAlive(),
      });
      return fragments.map((it) => ({ ...it, offset: BigInt(it.offset), at: BigInt(it.at) }));
    });
  }

  /**
   * @param {string} id
   * @param {string} key
   * @param {string} answer
   */
  answer(id, key, answer) {
    this.#reporting(id, 'answered', () => {
      if (Buffer.byteLength(answer) > ANSWER_BYTES) throw new Error(`an answer may have ${ANSWER_BYTES} bytes`);
      const directory = this.#find(id);
      if (directory?.isAlive()) answerQuestion(directory.path, key, answer);
    });
  }

  /** @param {string} id */
  forget(id) {
    const { tag } = this.inspect(id);
    if (tag === 'running') throw failure(`job ${id} cannot be deleted: it runs; stop it first`);
    if (tag === 'ended') this.#reporting(id, 'deleted', () => this.#remove(id));
  }

  /**
   * Calls back, later, when a job does not run or not any more. Not of the WIT: the host's own wake-up.
   *
   * @param {string} id
   * @param {() => void} callback
   * @returns {() => void} takes it back
   */
  whenEnded(id, callback) {
    return new JobDirectory(join(this.#path, isJobId(id) ? id : WORKSHOP)).whenDead(callback);
  }

  /** @param {string} id @returns {JobDirectory | undefined} */
  #find(id) {
    if (!isJobId(id)) return undefined;
    const path = join(this.#path, id);
    const found = ifThere(() => lstatSync(path));
    if (found?.isDirectory()) {
      openUp(path);
      return new JobDirectory(path);
    }
    // What somebody put in its place is nobody's job.
    if (found) ifThere(() => renameSync(path, join(this.#workshop, this.#unique('damaged', id))));
    return undefined;
  }

  /**
   * The directory of a job that was unknown: what keeps everybody from starting it, unless somebody has just done that.
   *
   * @param {string} id
   * @param {wit.StopReason} reason
   */
  #reserved(id, reason) {
    this.#establish(id, (directory) => directory.reserveId(this.#origin(), reason));
    syncDirectory(this.#path);
    return new JobDirectory(join(this.#path, id));
  }

  /**
   * Makes the job known, and puts what makes it count as running into `held`. False where the id is known.
   *
   * @param {string} id
   * @param {Spec} spec
   * @param {number[]} held
   */
  #furnish(id, spec, held) {
    try {
      // Somebody may have deleted the directory of a job that runs.
      if (isAnythingLeft(id)) return false;
      return this.#establish(id, (directory) => {
        directory.furnish(this.#origin(), spec);
        held.push(directory.holdAlive());
      });
    } catch (error) {
      if (isFull(error)) throw startError('no-space', 'the disk that holds the jobs is full; make room and try again');
      throw startError('other', `the job's files cannot be written: ${error}`);
    }
  }

  /**
   * Builds a directory and makes it the job's in one step, which succeeds for one caller only: this is what makes an
   * id start at most once, whoever asks and whoever is killed. False where the id is known.
   *
   * @param {string} id
   * @param {(directory: JobDirectory) => void} furnish
   */
  #establish(id, furnish) {
    const path = join(this.#workshop, this.#unique('new', id));
    try {
      mkdirSync(path, { mode: 0o700 });
      furnish(new JobDirectory(path));
      renameSync(path, join(this.#path, id));
      return true;
    } catch (error) {
      rmSync(path, { recursive: true, force: true });
      // A job's directory is never empty, so it is never replaced.
      if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) return false;
      throw error;
    }
  }

  /**
   * @param {string} id
   * @param {number[]} held what is to be its standard output; its standard error is added
   */
  #spawnSupervisor(id, held) {
    const directory = new JobDirectory(join(this.#path, id));
    try {
      held.push(openSync(directory.file('supervisor.log'), 'a', 0o600));
      const supervisor = spawn(process.execPath, [PROGRAM, id], {
        cwd: directory.path,
        detached: true,
        stdio: ['ignore', ...held],
      });
      supervisor.on('error', () => undefined).unref();
      if (supervisor.pid === undefined) throw new Error('no process can be created');
    } catch (error) {
      this.#remove(id);
      throw startError('other', `the job's supervisor cannot be started: ${error}`);
    }
  }

  /** @returns {Origin} */
  #origin() {
    return { startedAt: Date.now(), monotonicMs: monotonicMs(), bootId: this.#bootId };
  }

  /**
   * How a job ended; `undefined` where its supervisor lives, or what was killed has not disappeared yet.
   *
   * @param {string} id
   * @param {JobDirectory} directory
   */
  #ended(id, directory) {
    // In this order: an outcome is written while the supervisor lives.
    if (directory.isAlive() && !isAbandoned(id, directory)) return undefined;
    const known = this.#isClean(id, directory) ? directory.outcome() : undefined;
    return known ?? bury({ id, directory, bootId: this.#bootId, draft: this.#unique('draft', id) });
  }

  /**
   * Whether nothing runs of a job that seems to have ended. Its outcome does not show that, which a process of the job
   * may have written, and no supervisor is needed to keep it, where the job has moved its FIFO away. Each process looks
   * once, since that costs as much as a start.
   *
   * @param {string} id
   * @param {JobDirectory} directory
   */
  #isClean(id, directory) {
    if (this.#clean.has(id)) return true;
    if (isAnythingLeft(id, directory.started())) return false;
    if (this.#clean.size >= CLEAN_JOBS) this.#clean.clear();
    this.#clean.add(id);
    return true;
  }

  /**
   * Ends what is left of a job that nobody else would end.
   *
   * @param {string} id
   * @param {JobDirectory} directory
   */
  #endRest(id, directory) {
    this.#clean.delete(id);
    try {
      this.#ended(id, directory);
    } catch (error) {
      // How it ended is for a newer version to say, where nothing of it runs.
      if (!(error instanceof Newer && this.#isClean(id, directory))) throw error;
    }
  }

  /**
   * @param {JobDirectory} directory
   * @returns {wit.Progress}
   */
  #progress(directory) {
    const { startedAt, runningMs } = this.#duration(directory);
    const { writtenBytes, lastAt } = usage(directory.path);
    const report = readReport(directory.path);
    return {
      startedAt: BigInt(startedAt),
      runningMs: BigInt(runningMs),
      outputBytes: BigInt(writtenBytes),
      lastOutputAt: lastAt === undefined ? undefined : BigInt(lastAt),
      stopping: directory.stopCause(),
      questions: openQuestions(directory.path).map((it) => ({ ...it, askedAt: BigInt(it.askedAt) })),
      report: report && { percent: report.percent ?? undefined, text: report.text, at: BigInt(report.at) },
    };
  }

  /**
   * Since when a job runs, and how long that is. It runs all the same where somebody damaged the record of it.
   *
   * @param {JobDirectory} directory
   */
  #duration(directory) {
    const origin = readable(() => directory.origin());
    const startedAt = origin?.startedAt ?? directory.madeAt();
    if (!origin) return { startedAt, runningMs: Math.max(Date.now() - startedAt, 0) };
    const isThisBoot = origin.bootId === this.#bootId;
    return { startedAt, runningMs: isThisBoot ? Math.max(monotonicMs() - origin.monotonicMs, 0) : 0 };
  }

  /** Takes a job's directory away in one step, so that the id is unknown, and then deletes it. @param {string} id */
  #remove(id) {
    const path = join(this.#workshop, this.#unique('gone', id));
    this.#clean.delete(id);
    ifThere(() => renameSync(join(this.#path, id), path));
    deleteAll(path);
  }

  /** Deletes what other processes left in the workshop and cannot be at work on any more. */
  #tidy() {
    for (const name of readdirSync(this.#workshop)) {
      const path = join(this.#workshop, name);
      try {
        if (new JobDirectory(path).isStale()) deleteAll(path);
      } catch {
        // What cannot be looked at or deleted stays: it is in nobody's way.
      }
    }
  }

  /** A file name that nobody else uses. @param {string} what @param {string} id */
  #unique(what, id) {
    this.#names += 1;
    return `${what}-${id}-${process.pid}-${this.#names}-${crypto.randomUUID()}`;
  }

  /**
   * Turns what the system refuses into the failure that the WIT knows.
   *
   * @template Result
   * @param {string} id
   * @param {string} what
   * @param {() => Result} action
   */
  #reporting(id, what, action) {
    try {
      return action();
    } catch (error) {
      if (error instanceof WitError) throw error;
      throw failure(`job ${id} cannot be ${what}: ${error}`);
    }
  }
}

/**
 * Whether nobody will carry out that a job is to stop: its supervisor is dead, and something holds its FIFO. What runs
 * of it, and its outcome, had a supervisor before: only one that is not there afterwards is dead. A process that is a
 * part of the job cannot tell: in a PID namespace of its own it does not see a supervisor that lives.
 *
 * @param {string} id
 * @param {JobDirectory} directory
 */
function isAbandoned(id, directory) {
  if (directory.stopCause() === undefined || hasSupervisor(id)) return false;
  const left = remains(id, directory.started(), 'unproven');
  const hadSupervisor = left.length > 0 || readable(() => directory.outcome()) !== undefined;
  return hadSupervisor && left.every(isOther) && !hasSupervisor(id);
}

/** @param {Outcome} it @returns {wit.Outcome} */
function toWit(it) {
  return {
    startedAt: BigInt(it.startedAt),
    endedAt: BigInt(it.endedAt),
    durationMs: BigInt(it.durationMs),
    end: it.end,
    stopped: it.stopped ?? undefined,
    outputBytes: BigInt(it.outputBytes),
    droppedBytes: BigInt(it.droppedBytes),
    leftovers: it.leftovers,
  };
}

/**
 * What `action` gives, or `undefined` where it fails.
 *
 * @template Result
 * @param {() => Result} action
 */
function readable(action) {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** @param {string} detail */
const failure = (detail) => new WitError({ detail });

/** @param {unknown} error */
const isFull = (error) => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error));
