/**
 * The same as in the WIT, as it is written to disk: numbers instead of `u64`, which JSON does not have.
 *
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').Command} Command
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').StopCause} StopCause
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').Stream} Stream
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').End} End
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').LossKind} LossKind
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').Process} Leftover
 *
 * @typedef {object} Spec
 * @property {Command} command
 * @property {string} directory
 * @property {[string, string][]} environment
 * @property {string} stdin
 * @property {number | null} timeoutMs
 * @property {number | null} lifetimeMs
 * @property {number} graceMs
 * @property {number} outputLimitBytes
 *
 * @typedef {object} Origin when a job was asked for, and in which boot
 * @property {number} startedAt
 * @property {number} monotonicMs
 * @property {string} bootId
 *
 * @typedef {object} Outcome
 * @property {number} startedAt
 * @property {number} endedAt
 * @property {number} durationMs
 * @property {End} end
 * @property {StopCause | null} stopped
 * @property {number} outputBytes
 * @property {number} droppedBytes
 * @property {Leftover[]} leftovers
 *
 * @typedef {object} Started the process that the command is; both numbers are one process, in one boot
 * @property {number} pid also that of its group and session
 * @property {number} startTicks when the kernel started it, in ticks since boot
 */

import { closeSync } from 'node:fs';

import { isEnd, isWithin } from './contract.js';
import { OtherKind, openFile, readBytes } from './files.js';

/** The version of everything that is written to disk. */
const FORMAT = 1;

/** @param {object} content */
export function encode(content) {
  return JSON.stringify({ format: FORMAT, content });
}

/** A file is not what was written as it. */
export class Damaged extends Error {}

/** Only another version can read a file, which is no damage. */
export class Newer extends Error {}

/**
 * @param {string} text
 * @throws {Damaged} where it is no record
 * @throws {Newer}
 */
export function decode(text) {
  const { format, content } = parsed(text);
  if (!isWithin(format, 2 ** 32 - 1)) throw new Damaged('a record has the number of its format');
  if (format !== FORMAT) {
    throw new Newer(`a job's file has format ${format}, and this version knows ${FORMAT}; use a newer version`);
  }
  if (typeof content !== 'object' || content === null) throw new Damaged('a record has members');
  return content;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch (error) {
    throw new Damaged(`a job's file is no record: ${error}`);
  }
}

/**
 * What is in a file that somebody else may have written; `undefined` where there is none, or it is no record or too
 * long.
 *
 * @param {string} path
 * @param {number} limitBytes
 * @returns {any}
 */
export function readRecord(path, limitBytes) {
  try {
    return readWhole(path, limitBytes);
  } catch {
    return undefined;
  }
}

/**
 * What is in a file of a job.
 *
 * @param {string} path
 * @param {number} limitBytes what is longer is none of ours
 * @returns {any}
 * @throws {Damaged} where somebody damaged or replaced it; as `decode`, too
 */
export function readWhole(path, limitBytes) {
  const file = opened(path);
  try {
    const bytes = readBytes(file, 0, limitBytes + 1);
    if (bytes.length > limitBytes) throw new Damaged(`${path} is longer than anything that was written there`);
    return decode(bytes.toString());
  } finally {
    closeSync(file);
  }
}

/** @param {string} path */
function opened(path) {
  try {
    return openFile(path);
  } catch (error) {
    throw error instanceof OtherKind ? new Damaged(error.message) : error;
  }
}

/** @type {readonly string[]} */
const STOP_CAUSES = ['timed-out', 'cancelled', 'expired', 'shut-down'];

/** Whether this is why a job was stopped. @param {unknown} value @returns {value is StopCause} */
export const isStopCause = (value) => STOP_CAUSES.includes(/** @type {string} */ (value));

/**
 * Refuses what is no outcome: any process of the job may have written it, and the component could not take it.
 *
 * @param {any} it
 * @returns {Outcome}
 * @throws {Damaged}
 */
export function checkedOutcome(it) {
  const numbers = [it.startedAt, it.endedAt, it.durationMs, it.outputBytes, it.droppedBytes];
  const areNumbers = numbers.every((number) => isWithin(number));
  const isStopped = it.stopped === null || isStopCause(it.stopped);
  const areLeftovers = Array.isArray(it.leftovers) && it.leftovers.every(isLeftover);
  if (areNumbers && isEnd(it.end) && isStopped && areLeftovers) return it;
  throw new Damaged('an outcome has other members');
}

/**
 * Refuses what does not say when a job was asked for: any process of the job may have written it.
 *
 * @param {any} it
 * @returns {Origin}
 * @throws {Damaged}
 */
export function checkedOrigin(it) {
  if (isWithin(it.startedAt) && isWithin(it.monotonicMs) && typeof it.bootId === 'string') return it;
  throw new Damaged('an origin has other members');
}

/**
 * Refuses what does not say which process a command is: any process of the job may have written it.
 *
 * @param {any} it
 * @returns {Started}
 * @throws {Damaged}
 */
export function checkedStarted(it) {
  // Neither 0, the group of what has none, nor 1, the session of everything in a container.
  if (isWithin(it.pid, 2 ** 31 - 1) && it.pid > 1 && isWithin(it.startTicks)) return it;
  throw new Damaged('the record of a command has other members');
}

/** @param {any} it */
const isLeftover = (it) => isWithin(it?.pid, 2 ** 32 - 1) && typeof it.command === 'string';

/** @param {End} end @param {Partial<Outcome>} known @returns {Outcome} */
export function outcome(end, known) {
  return {
    startedAt: 0,
    endedAt: Date.now(),
    durationMs: 0,
    end,
    stopped: null,
    outputBytes: 0,
    droppedBytes: 0,
    leftovers: [],
    ...known,
  };
}
