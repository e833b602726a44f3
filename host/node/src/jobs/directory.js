/**
 * The directory of one job: what is in it, who writes it, and how it is read.
 *
 * | name | what it is |
 * |---|---|
 * | `origin.json` | when and in which boot the job was asked for |
 * | `spec.json` | what to run |
 * | `alive` | a FIFO that the supervisor holds open for as long as it lives |
 * | `control` | a FIFO; a byte in it makes the supervisor look for `stop` at once |
 * | `stop` | a symbolic link whose target is the cause: made in one step, the first one wins |
 * | `started.json` | which process the command is |
 * | `out-…`, `idx-…` | the output, see `output.js` |
 * | `questions/` | what it asks and is answered, see `questions.js` |
 * | `report.json` | what it last said of itself |
 * | `reserve` | room for the outcome, until there is one |
 * | `outcome.json` | how it ended; there before the supervisor ends, and never changed |
 * | `outcome.1.json`, … | the same, where somebody has damaged all before it: nobody ever takes an outcome away |
 * | `outcome.json.damaged-…` | what the job itself had put in the place of its outcome |
 * | `reserved` | a symbolic link: it was stopped before anybody had started it |
 * | `found` | a symbolic link: something of a job without a supervisor was found, and killed |
 * | `supervisor.log` | what Node said where the supervisor failed |
 */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';

import { OUTCOME_RESERVE_BYTES, RECORD_BYTES, STALE } from '../limits.js';
import {
  codeOf,
  deleteAll,
  ifKnown,
  ifThere,
  makeFifos,
  modifiedAt,
  openFifo,
  overwriteFile,
  putAside,
  syncDirectory,
  wake,
  whenWoken,
} from './files.js';
import { Damaged, checkedOrigin, checkedOutcome, checkedStarted, encode, isStopCause, readWhole } from './model.js';

/** @import { Origin, Outcome, Spec, Started, StopCause } from './model.js' */

const { O_NONBLOCK, O_RDWR } = constants;
const PRIVATE = { mode: 0o600 };

const OUTCOME = 'outcome.json';
const RESERVE = 'reserve';

export class JobDirectory {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
  }

  /**
   * Writes what a job needs before it is known.
   *
   * @param {Origin} origin
   * @param {Spec} spec
   */
  furnish(origin, spec) {
    writeFileSync(this.file('origin.json'), encode(origin), PRIVATE);
    writeFileSync(this.file('spec.json'), encode(spec), PRIVATE);
    this.reserve();
    makeFifos(this.file('alive'), this.file('control'));
  }

  /** Takes room for the outcome, so that a full disk cannot keep the job from ending. */
  reserve() {
    writeFileSync(this.file(RESERVE), Buffer.alloc(OUTCOME_RESERVE_BYTES, ' '), PRIVATE);
  }

  /**
   * Writes what keeps everybody from starting a job that nobody has started yet; power-safe on return, but for the name
   * of the directory itself.
   *
   * @param {Origin} origin
   * @param {StopCause} cause
   */
  reserveId(origin, cause) {
    this.requestStop(cause);
    symlinkSync('reserved', this.file('reserved'));
    writeFileSync(this.file('origin.json'), encode(origin), { ...PRIVATE, flush: true });
    syncDirectory(this.path);
  }

  /** Whether this is a job that was stopped before anybody had started it, as far as its directory shows. */
  isReserved() {
    return this.#isLink('reserved');
  }

  /** Opens `alive` for the supervisor: as long as anybody holds it, the job counts as running. */
  holdAlive() {
    return openSync(this.file('alive'), O_RDWR | O_NONBLOCK);
  }

  /** Whether the supervisor lives. Ask this first: an outcome that is missing after its death will never come. */
  isAlive() {
    const fifo = this.#openHeld();
    if (fifo !== undefined) closeSync(fifo);
    return fifo !== undefined;
  }

  /**
   * Calls back, later, when the supervisor has ended, or at once where nobody can tell: that is for `inspect` to say.
   *
   * @param {() => void} callback
   * @returns {() => void} takes it back
   */
  whenDead(callback) {
    try {
      const fifo = this.#openHeld();
      if (fifo !== undefined) return whenClosed(fifo, callback);
    } catch {
      // There is no descriptor left, for example, or the job put something else in the FIFO's place.
    }
    const soon = setImmediate(callback);
    return () => clearImmediate(soon);
  }

  /** Whether `alive` is what it was made as. */
  hasAlive() {
    return ifThere(() => lstatSync(this.file('alive')))?.isFIFO() ?? false;
  }

  /** `alive` for reading, where somebody holds it: something else in its place keeps nothing alive. */
  #openHeld() {
    const fifo = ifKnown(() => openFifo(this.file('alive')));
    if (fifo === undefined) return undefined;
    let held = false;
    try {
      held = isHeld(fifo);
    } finally {
      if (!held) closeSync(fifo);
    }
    return held ? fifo : undefined;
  }

  /** Makes a supervisor look for a request to stop, if one reads it. Where none does yet, it will look first. */
  wake() {
    return wake(this.file('control'));
  }

  /**
   * Calls back whenever somebody wakes the supervisor, which this process is.
   *
   * @param {() => void} callback
   */
  whenWoken(callback) {
    whenWoken(this.file('control'), callback);
  }

  /**
   * Records why the job is to stop, and gives the cause in force: the first that was recorded.
   *
   * @param {StopCause} cause
   */
  requestStop(cause) {
    try {
      symlinkSync(cause, this.file('stop'));
      return cause;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      return this.stopCause() ?? cause;
    }
  }

  /**
   * Why the job is to stop, if it is. Whatever else is in the place of that cancels it: a process of the job put it
   * there, and nobody else could stop the job any more.
   *
   * @returns {StopCause | undefined}
   */
  stopCause() {
    try {
      const cause = readlinkSync(this.file('stop'));
      return isStopCause(cause) ? cause : 'cancelled';
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      // It is no link.
      if (codeOf(error) === 'EINVAL') return 'cancelled';
      throw error;
    }
  }

  /**
   * @returns {Origin}
   * @throws {Damaged} where somebody damaged the file
   */
  origin() {
    return checkedOrigin(this.#read('origin.json'));
  }

  /** When the job was asked for as far as its directory shows: for where the record of that was damaged. */
  madeAt() {
    const alive = ifThere(() => lstatSync(this.file('alive')));
    // Nobody writes into the FIFO, so that its time never changes. That of the directory may, where the FIFO is gone.
    return modifiedAt(alive?.isFIFO() ? alive : lstatSync(this.path));
  }

  /** @returns {Spec} */
  spec() {
    // The supervisor reads it, before anybody else can write: it is as long as its server wrote it.
    return this.#read('spec.json', Infinity);
  }

  /** @returns {Started | undefined} where it was recorded and is readable */
  started() {
    try {
      return checkedStarted(this.#read('started.json'));
    } catch {
      return undefined;
    }
  }

  /** @param {Started} started */
  recordStarted(started) {
    // What a hasty command has put there is not written to: a FIFO would have the supervisor wait.
    writeFileSync(this.file('started.json'), encode(started), { ...PRIVATE, flag: 'wx' });
  }

  /**
   * How the job ended, where that is known.
   *
   * @returns {Outcome | undefined}
   */
  outcome() {
    return this.#outcomeIn(this.#outcomeName());
  }

  /** @param {string} name */
  #outcomeIn(name) {
    const record = ifThere(() => this.#read(name));
    return record && checkedOutcome(record);
  }

  /** The first name that an outcome may have and nothing damaged has: what cannot be read for now is no damage. */
  #outcomeName() {
    let name = OUTCOME;
    for (let number = 1; isDamaged(() => this.#outcomeIn(name)); number += 1) name = `outcome.${number}.json`;
    return name;
  }

  /** Whether somebody damaged the outcome. */
  isOutcomeDamaged() {
    return this.#outcomeName() !== OUTCOME;
  }

  /** Moves an outcome out of the way that the job itself has written: for the supervisor, before it writes its own. */
  disownOutcome() {
    putAside(this.file(OUTCOME));
  }

  /** Takes note that something of the job was found. It is killed then, and who looks afterwards finds nothing more. */
  markFound() {
    try {
      symlinkSync('found', this.file('found'));
    } catch {
      // It is noted. On a full disk it is not, and what was found is killed all the same: only why may be lost.
    }
  }

  /** Whether that was noted. */
  wasFound() {
    return this.#isLink('found');
  }

  /**
   * Writes the outcome, power-safe on return, unless there is one.
   *
   * @param {Outcome} outcome
   * @param {string} [draft] a file that nobody else writes: the supervisor's is the room that was taken for it
   * @throws what kept it from being written whole: then it has no name that anybody reads
   */
  conclude(outcome, draft = RESERVE) {
    const path = this.file(draft);
    const text = Buffer.from(encode(outcome));
    const file = overwriteFile(path);
    try {
      writeFileSync(file, text);
      ftruncateSync(file, text.length);
      fsyncSync(file);
      linkOnce(path, this.file(this.#outcomeName()));
    } finally {
      closeSync(file);
      // The room stays until there is an outcome.
      if (draft !== RESERVE) rmSync(path, { force: true });
    }
    deleteAll(this.file(RESERVE));
    syncDirectory(this.path);
    // Nobody has waited for the job's own name so far.
    syncDirectory(dirname(this.path));
  }

  /** Whether this was never finished and nobody is at work in it. */
  isStale() {
    return Date.now() - lstatSync(this.path).mtimeMs > STALE && !this.isAlive();
  }

  /** Whether an open file is the FIFO that keeps this job alive. @param {number} file */
  isAliveFile(file) {
    const [given, wanted] = [fstatSync(file), ifThere(() => lstatSync(this.file('alive')))];
    return given.ino === wanted?.ino && given.dev === wanted.dev;
  }

  /** @param {string} name */
  file(name) {
    return join(this.path, name);
  }

  /** @param {string} name */
  #isLink(name) {
    return ifThere(() => lstatSync(this.file(name)))?.isSymbolicLink() ?? false;
  }

  /** @param {string} name @param {number} [limitBytes] */
  #read(name, limitBytes = RECORD_BYTES) {
    return readWhole(this.file(name), limitBytes);
  }
}

/** Gives a file another name, unless something has that. @param {string} path @param {string} name */
function linkOnce(path, name) {
  try {
    linkSync(path, name);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Whether what `read` reads was damaged. @param {() => unknown} read */
function isDamaged(read) {
  try {
    read();
    return false;
  } catch (error) {
    return error instanceof Damaged;
  }
}

/**
 * Calls back, later, when a FIFO that somebody holds is let go of.
 *
 * @param {number} fifo opened for reading, not to wait; it is closed here
 * @param {() => void} callback
 * @returns {() => void} takes it back
 */
function whenClosed(fifo, callback) {
  /** @type {Socket} */
  let socket;
  try {
    socket = new Socket({ fd: fifo, readable: true, writable: false });
  } catch (error) {
    closeSync(fifo);
    throw error;
  }
  // Nobody ever writes into it; it ends when the last that holds it has ended.
  socket.on('error', () => undefined).on('close', callback).resume();
  return () => socket.removeAllListeners('close').destroy();
}

/** Whether somebody holds the writing side. @param {number} fifo opened for reading, not to wait */
function isHeld(fifo) {
  try {
    return readSync(fifo, Buffer.alloc(1)) > 0;
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return true;
    throw error;
  }
}
