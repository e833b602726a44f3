/**
 * A `backburner.toml`, the configuration file of the native server, as the members of the WIT's `configure`. For Node.
 */

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { TomlError, parse } from 'smol-toml';

import { ConfigError } from './component.js';

/**
 * Reads a file, one to one: what a member means is the component's. Paths in it begin where the file is.
 *
 * @param {string} path
 * @returns {object}
 * @throws {ConfigError} where it cannot be read, is not TOML, or has a value that JSON has not
 */
export function readConfig(path) {
  const members = parsed(path);
  check(members, '');
  const file = resolve(path);
  // What people call it has to be one line.
  const name = /\p{Cc}/u.test(file) ? {} : { configurationFile: file };
  return { baseDirectory: dirname(file), ...name, ...members };
}

/** @param {string} path */
function parsed(path) {
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)));
  } catch (/** @type {any} */ error) {
    // The message of the parser goes on with the lines around the place.
    const [reason = ''] = error.message.split('\n');
    const place = error instanceof TomlError ? `line ${error.line}, column ${error.column}: ` : '';
    throw new ConfigError({ at: '', reason: place + reason });
  }
}

/**
 * Refuses what JSON has not.
 *
 * @param {unknown} value
 * @param {string} at its place, a JSON pointer
 */
function check(value, at) {
  if (value instanceof Date) throw new ConfigError({ at, reason: 'a date or time is written as a string, in quotes' });
  if (typeof value === 'number' && !Number.isFinite(value)) throw new ConfigError({ at, reason: 'a number is finite' });
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    check(member, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}
