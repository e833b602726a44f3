/** What is wrong with a spec, found before anything of the job exists. */

import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { getSystemErrorMessage } from 'node:util';

import { ownDirectory } from '../own-directory.js';
import { badSpec, checkSpec, noDirectory, startError } from './contract.js';

/** @import { Spec as WitSpec } from '#server/interfaces/backburner-server-jobs.js' */
/** @import { Spec } from './model.js' */

/** Why nothing runs in the server's own directory. Node starts no process in one whose name it cannot write. */
const NO_DIRECTORY =
  "the server's own is gone, was renamed, or has a name that is no text, and nothing can be started there; " +
  'name another one';

/**
 * Makes a spec the whole truth, in the form that is written to disk.
 *
 * @param {WitSpec} spec
 * @returns {Spec}
 */
export function complete(spec) {
  checkSpec(spec);
  const directory = spec.directory ?? ownDirectory();
  if (directory === undefined) throw startError('bad-directory', NO_DIRECTORY);
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

/**
 * The directory may change until the command starts in it; the supervisor says so then.
 *
 * @param {string} path
 */
function checkDirectory(path) {
  if (!isAbsolute(path) || path.includes('\0')) {
    throw badSpec(`the directory ${path} is not an absolute path; give it in full`);
  }
  try {
    if (!statSync(path).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(path, constants.X_OK);
  } catch (error) {
    throw unusable(path, error);
  }
}

/** @param {string} path @param {any} error */
function unusable(path, { code, errno }) {
  if (code === 'ENOENT') return noDirectory(path);
  if (code === 'ENOTDIR') return startError('bad-directory', `${path} is not a directory; name a directory`);
  const why = ['EACCES', 'EPERM'].includes(code)
    ? 'may not be entered; change its permissions or name another one'
    : `cannot be entered: ${getSystemErrorMessage(errno)}; name another one`;
  return startError('bad-directory', `the directory ${path} ${why}`);
}
