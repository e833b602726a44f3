/** A package of somebody else that uses this one. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { temporaryDirectory } from './support.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/**
 * A directory with the sources of `test/consumer`, that finds this package and Node's types as installed ones.
 *
 * @param {import('node:test').TestContext} cx
 */
export function consumer(cx) {
  const directory = temporaryDirectory(cx);
  cpSync(join(ROOT, 'test/consumer'), directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }));
  const installed = join(directory, 'node_modules');
  mkdirSync(installed);
  symlinkSync(ROOT, join(installed, 'backburner-node'));
  symlinkSync(join(ROOT, 'node_modules/@types'), join(installed, '@types'));
  return directory;
}

/** Checks all of its TypeScript, and gives what is wrong with it. @param {string} directory */
export function compile(directory) {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const done = spawnSync(tsc, ['--project', directory], { cwd: directory, encoding: 'utf8' });
  if (done.error) throw done.error;
  const found = done.stdout + done.stderr;
  // Else one that was killed, or fails without a word, would have found nothing wrong.
  assert.equal(done.status === 0, found === '', `tsc ended with ${done.status ?? done.signal}, and said: ${found}`);
  return found;
}
