/** What measures the costs can be run. What it measures on a machine that does other things is not looked at. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { NODE_OPTIONS } from './support.js';

/** The rows. */
const ROWS = [
  'load and compile',
  'the first instance, configured',
  'a further instance, configured',
  '`tools/list`, which reads no store',
  '`tasks/get`, 1 KiB, store in memory',
  '`tools/call` that makes a task, store in memory',
  '`tasks/get`, 1 KiB, store in SQLite',
  '`tools/call` that makes a task, store in SQLite',
  'a job as a process, start to end',
  'a server, from its start over the first reply to its end',
];

test('everything that the README has figures of is measured', () => {
  const program = fileURLToPath(new URL('measure.js', import.meta.url));
  const options = { encoding: /** @type {const} */ ('utf8') };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...NODE_OPTIONS, program, '--quick'], options);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^transpiled: \d{7} bytes, \d+ of JavaScript and \d{7} of core modules$/m);
  const rows = [...stdout.matchAll(/^\| (.+) \| \d+(?:\.\d)? (?:µs|ms) \| \d+(?:\.\d)? (?:µs|ms) \|$/gm)];
  assert.deepEqual(rows.map(([, what]) => what), ROWS, stdout);
});
