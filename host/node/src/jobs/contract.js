/** What all jobs have to refuse alike, whatever they are, and what may be told of them. Pure, and good for browsers. */

import { WitError } from '../wit-error.js';

/** @import { End, Spec, StartErrorKind } from '#server/interfaces/backburner-server-jobs.js' */

/**
 * An error as the WIT has it.
 *
 * @param {StartErrorKind} kind
 * @param {string} detail
 */
export const startError = (kind, detail) => new WitError({ kind, detail });

/** @param {string} detail */
export const badSpec = (detail) => startError('bad-spec', detail);

/** For a directory that is not there. @param {string} path */
export const noDirectory = (path) =>
  startError('bad-directory', `the directory ${path} does not exist; create it or name another one`);

/** Whether this is a whole number from 0 on. @param {unknown} value @param {number} [most] */
export function isWithin(value, most = Number.MAX_SAFE_INTEGER) {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;
}

/** @type {readonly string[]} */
const LOSS_KINDS = ['supervisor', 'machine', 'files', 'never-started'];

/** Whether this is what each end has beside its tag. @type {Map<unknown, (val: any) => boolean>} */
const ENDS = new Map([
  ['exited', ({ code }) => isWithin(code, 255)],
  ['signalled', ({ signal, coreDumped }) => typeof signal === 'string' && typeof coreDumped === 'boolean'],
  ['not-started', ({ detail }) => typeof detail === 'string'],
  ['lost', ({ kind }) => LOSS_KINDS.includes(kind)],
]);

/** Whether this is how a job may end: the component can take nothing else. @param {any} it @returns {it is End} */
export const isEnd = (it) => ENDS.get(it?.tag)?.(it.val ?? {}) ?? false;

/**
 * Refuses a command or variables that no job can be given, and a terminal.
 *
 * @param {Spec} spec
 */
export function checkSpec({ command, environment, interactive }) {
  if (interactive) {
    throw badSpec('this host has no terminals; leave out `interactive`, and give the command what it asks by `stdin`');
  }
  const words = command.tag === 'shell' ? [command.val] : command.val;
  if (words.some((word) => word.includes('\0'))) {
    throw badSpec('a command cannot contain a NUL character; remove it');
  }
  if (command.tag === 'program' && !words[0]) throw badSpec('the name of the program is missing');
  for (const [name, value] of environment) checkVariable(name, value);
}

/**
 * @param {string} name
 * @param {string} value may be a secret, so it is not shown
 */
function checkVariable(name, value) {
  if (name === '' || name.includes('=') || name.includes('\0')) {
    throw badSpec('the name of an environment variable is empty or contains = or NUL');
  }
  if (value.includes('\0')) throw badSpec(`the value of the environment variable ${name} contains NUL`);
}
