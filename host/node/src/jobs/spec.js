/** What is wrong with a spec, found before anything of the job exists. */

import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';

import { WitError } from '../wit-error.js';

/** @import { Spec as WitSpec, StartErrorKind } from '../../dist/server/interfaces/backburner-server-jobs.js' */
/** @import { Command, Spec } from './model.js' */

/**
 * @param {StartErrorKind} kind
 * @param {string} detail
 */
export const startError = (kind, detail) => new WitError({ kind, detail });

/**
 * Makes a spec the whole truth, in the form that is written to disk.
 *
 * @param {WitSpec} spec
 * @returns {Spec}
 */
export function complete(spec) {
  checkCommand(spec.command);
  for (const [name, value] of spec.environment) checkVariable(name, value);
  const directory = spec.directory ?? process.cwd();
  checkDirectory(directory);
  return {
    command: spec.command,
    directory,
    environment: spec.environment,
    stdin: spec.stdin,
    timeoutMs: spec.timeoutMs === undefined ? null : number(spec.timeoutMs),
    lifetimeMs: spec.lifetimeMs === undefined ? null : number(spec.lifetimeMs),
    graceMs: number(spec.graceMs),
    outputLimitBytes: number(spec.outputLimitBytes),
  };
}

/** A `u64`, or the greatest number that is exact: 285 000 years of milliseconds. @param {bigint} value */
function number(value) {
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}

/** @param {Command} command */
function checkCommand(command) {
  const words = command.tag === 'shell' ? [command.val] : command.val;
  if (words.some((word) => word.includes('\0'))) {
    throw bad('a command cannot contain a NUL character; remove it');
  }
  if (command.tag === 'program' && !words[0]) throw bad('the name of the program is missing');
}

/**
 * @param {string} name
 * @param {string} value may be a secret, so it is not shown
 */
function checkVariable(name, value) {
  if (name === '' || name.includes('=') || name.includes('\0')) {
    throw bad('the name of an environment variable is empty or contains = or NUL');
  }
  if (value.includes('\0')) throw bad(`the value of the environment variable ${name} contains NUL`);
}

/**
 * The directory may change until the command starts in it; the supervisor says so then.
 *
 * @param {string} path
 */
function checkDirectory(path) {
  if (!isAbsolute(path) || path.includes('\0')) {
    throw bad(`the directory ${path} is not an absolute path; give it in full`);
  }
  try {
    const isDirectory = statSync(path).isDirectory();
    if (!isDirectory) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(path, constants.X_OK);
  } catch (error) {
    throw startError('bad-directory', unusable(path, error));
  }
}

/** @param {string} path @param {any} error */
function unusable(path, { code }) {
  if (code === 'ENOENT') return `the directory ${path} does not exist; create it or name another one`;
  if (code === 'ENOTDIR') return `${path} is not a directory; name a directory`;
  return `the directory ${path} may not be entered; change its permissions or name another one`;
}

/** @param {string} detail */
const bad = (detail) => startError('bad-spec', detail);
