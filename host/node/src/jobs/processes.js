/**
 * Which processes belong to a job, as Linux's `/proc` shows them.
 *
 * A process belongs to a job if it is its supervisor, has the job's id in its environment, is its command or in the
 * command's session or group, or descends from one of these. One that left all of these behind is not found, nor one
 * that runs as another user.
 */

import { readFileSync, readdirSync } from 'node:fs';

import { COMMAND_LINE_CHARACTERS } from '../limits.js';

/** @import { Leftover, Started } from './model.js' */
/**
 * @typedef {object} Seen
 * @property {number} pid
 * @property {boolean} isZombie
 * @property {number} parent
 * @property {number} group
 * @property {number} session
 * @property {number} startTicks
 */

/** The variable that every process of a job has in its environment, with the job's id. */
export const TASK_VARIABLE = 'BACKBURNER_TASK_ID';

/** The program that a supervisor is, in the directory of this file; the job's id is all that it is given. */
export const SUPERVISOR = 'supervisor.js';

/**
 * What runs of a job, its supervisor first, and this process too where it is a part of it. Asks twice where there is
 * nothing, since a process that is being executed has no environment for an instant.
 *
 * @param {string} id
 * @param {Started | undefined} started
 * @param {'certain' | 'unproven'} group whether the command's group is certainly still the job's: its number may be
 *   another's after the last of it ended
 */
export function remains(id, started, group) {
  const found = remainsNow(id, started, group);
  return found.length > 0 ? found : remainsNow(id, started, group);
}

/**
 * @param {string} id
 * @param {Started | undefined} started
 * @param {'certain' | 'unproven'} group
 */
function remainsNow(id, started, group) {
  const all = allProcesses();
  const members = all.filter((seen) => isCommand(seen, started) || isMarked(seen.pid, id));
  const proven = new Set([...all.filter(({ pid }) => isSupervisor(pid, id)), ...members]);
  const isInGroup = (/** @type {Seen} */ { group, session }) =>
    started !== undefined && [group, session].includes(started.pid);
  if (group === 'certain' || [...proven].some(isInGroup)) {
    for (const seen of all.filter(isInGroup)) proven.add(seen);
  }
  // A set that is iterated also gives what is added meanwhile.
  for (const parent of proven) {
    for (const seen of all) if (seen.parent === parent.pid) proven.add(seen);
  }
  return [...proven].filter((seen) => !seen.isZombie);
}

/**
 * Whether a job's supervisor runs. One that was killed has no command line any more when its FIFO ends.
 *
 * @param {string} id
 */
export const hasSupervisor = (id) => allPids().some((pid) => isSupervisor(pid, id));

/** @param {number} pid @param {string} id */
const isSupervisor = (pid, id) => read(`/proc/${pid}/cmdline`).endsWith(`/${SUPERVISOR}\0${id}\0`);

/**
 * Whether anything is seen to run of a job: its command, its supervisor, or by its environment. One look, and no more
 * of each process than that takes: every start asks.
 *
 * @param {string} id
 * @param {Started} [started]
 */
export function isAnythingLeft(id, started) {
  const command = started && look(started.pid);
  if (command && isCommand(command, started) && !command.isZombie) return true;
  return allPids().some((pid) => isMarked(pid, id) || isSupervisor(pid, id));
}

/** Whether a process is not this one. @param {Seen} seen */
export const isOther = (seen) => seen.pid !== process.pid;

/** @param {Seen} seen @param {Started | undefined} started */
function isCommand(seen, started) {
  return seen.pid === started?.pid && seen.startTicks === started.startTicks;
}

/** @param {number} pid @param {string} id */
function isMarked(pid, id) {
  const environment = read(`/proc/${pid}/environ`);
  return `\0${environment}`.includes(`\0${TASK_VARIABLE}=${id}\0`);
}

const allPids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);

const allProcesses = () => allPids().map(look).filter((seen) => seen !== undefined);

/**
 * What the system says of a process; `undefined` where there is none.
 *
 * @param {number} pid
 * @returns {Seen | undefined}
 */
export function look(pid) {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  // The name of the program is in parentheses and may contain any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const number = (/** @type {number} */ index) => Number(fields[index]);
  return {
    pid,
    isZombie: ['Z', 'X'].includes(fields[0] ?? ''),
    parent: number(1),
    group: number(2),
    session: number(3),
    startTicks: number(19),
  };
}

/**
 * Sends a signal to processes, some of which may be gone.
 *
 * @param {Seen[]} processes
 * @param {NodeJS.Signals} signal
 */
export function signalAll(processes, signal) {
  for (const { pid } of processes) {
    try {
      // Never 0 or less, which would be a whole group or everything.
      if (pid > 1) process.kill(pid, signal);
    } catch {
      // It ended, or runs as somebody else: whoever sent this looks again.
    }
  }
}

/**
 * @param {Seen} seen
 * @returns {Leftover}
 */
export function describe({ pid }) {
  const words = Buffer.from(read(`/proc/${pid}/cmdline`), 'latin1').toString().replaceAll('\0', ' ').trim();
  return { pid, command: [...words].slice(0, COMMAND_LINE_CHARACTERS).join('') };
}

/** A file of `/proc`, empty where the process is gone or another user's. @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
