/** The store in SQLite, where the conformance kit does not reach: several in a process, and their files. */

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import { SqliteStore, serve } from '../src/index.js';
import { temporaryDirectory } from './support.js';

/** The locks of this process on files, without their numbers in the list. */
function locks() {
  const lines = readFileSync('/proc/locks', 'utf8').split('\n');
  return lines.map((line) => line.replace(/^\d+: /, '')).filter((line) => line.split(/ +/)[3] === String(process.pid));
}

test('a store that is opened again lets go of no lock', (cx) => {
  const path = join(temporaryDirectory(cx), 'store');
  const open = () => {
    const store = new SqliteStore(path);
    cx.after(() => store.close());
  };
  open();
  const held = locks();
  // One on the file, which says that the log is in use, and one on what is beside it.
  assert.ok(held.length >= 2, held.join('\n'));
  open();
  assert.deepEqual(held.filter((lock) => !locks().includes(lock)), []);
});

/** The files of a directory that this process has open. @param {string} directory */
function openFiles(directory) {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // The one of the list itself.
      return '';
    }
  });
  return links.filter((path) => path.startsWith(directory));
}

test('a server that has ended has nothing open', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const input = new PassThrough();
  const served = serve({ dataDir, input, output: new PassThrough() });
  input.end();
  await served;
  assert.deepEqual(openFiles(dataDir), []);
});

test('a server that cannot begin has nothing open', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  await assert.rejects(serve({ dataDir, config: { graceMs: -1 }, input: new PassThrough() }), { name: 'ConfigError' });
  assert.deepEqual(openFiles(dataDir), []);
  const newer = new DatabaseSync(join(dataDir, 'node.db'));
  newer.exec('PRAGMA user_version = 2');
  newer.close();
  await assert.rejects(serve({ dataDir, input: new PassThrough() }), /newer version/);
  assert.deepEqual(openFiles(dataDir), []);
});
