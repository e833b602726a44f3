/** What a power failure would leave of a job's output: what is synchronised, when, and what is said if that fails. */

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { test } from 'node:test';

import { Recorder } from '../src/jobs/output.js';
import { FIRST_INDEX, FIRST_OUTPUT, jobsIn, talking } from './job-bench.js';
import { temporaryDirectory } from './support.js';

/** @import { TestContext } from 'node:test' */

/** What a supervisor is made to load: it notes what it synchronises and links, and fails as it is told. */
const NOTING = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
const note = (path) => fs.appendFileSync(process.env.NOTES, basename(path) + '\\n');
const { linkSync } = fs;
fs.fdatasyncSync = (file) => {
  const path = fs.readlinkSync('/proc/self/fd/' + file);
  note(path);
  if (path.includes(process.env.REFUSED)) throw new Error('no space');
};
fs.linkSync = (from, to) => {
  linkSync(from, to);
  note(to);
};
syncBuiltinESMExports();
`;

/**
 * Sets variables for the processes that are started in this test.
 *
 * @param {TestContext} cx
 * @param {Record<string, string>} added
 */
function setVariables(cx, added) {
  for (const [name, value] of Object.entries(added)) {
    const before = process.env[name];
    cx.after(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
    process.env[name] = value;
  }
}

for (const [refused, dropped] of /** @type {[string, bigint][]} */ ([
  ['nothing', 0n],
  ['out-', 4n],
  ['idx-', 4n],
])) {
  test(`an outcome counts as kept what was synchronised before it, where the disk refuses ${refused}`, async (cx) => {
    const directory = temporaryDirectory(cx);
    const [module, notes] = [join(directory, 'noting.mjs'), join(directory, 'notes')];
    fs.writeFileSync(module, NOTING);
    setVariables(cx, { NODE_OPTIONS: `--import=${module}`, NOTES: notes, REFUSED: refused });
    const { jobs, start } = jobsIn(cx);
    const id = start('echo', 'abc');
    await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
    const state = jobs.inspect(id);
    assert.ok(state.tag === 'ended');
    assert.deepEqual([state.val.outputBytes, state.val.droppedBytes], [4n, dropped]);
    const noted = fs.readFileSync(notes, 'utf8').trim().split('\n');
    // What cannot be kept needs no index.
    const files = refused === 'out-' ? [FIRST_OUTPUT] : [FIRST_OUTPUT, FIRST_INDEX];
    assert.deepEqual(noted, [...files, 'outcome.json']);
  });
}

/**
 * Notes which files this process synchronises.
 *
 * @param {TestContext} cx
 * @param {string} [refused] a part of the names for which it fails
 */
function noteSynced(cx, refused = 'nothing') {
  /** @type {string[]} */
  const names = [];
  cx.mock.method(fs, 'fdatasyncSync', (/** @type {number} */ file) => {
    const name = basename(fs.readlinkSync(`/proc/self/fd/${file}`));
    names.push(name);
    if (name.includes(refused)) throw new Error('no space');
  });
  syncBuiltinESMExports();
  cx.after(() => {
    cx.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return names;
}

test('each segment that is kept is synchronised, and what is refused or was deleted is dropped', (cx) => {
  const directory = temporaryDirectory(cx);
  const recorder = new Recorder(directory, 4096);
  const line = Buffer.from(`${'x'.repeat(99)}\n`);
  for (let number = 0; number < 100; number += 1) recorder.record('stdout', line);
  const kept = fs.readdirSync(directory).filter((name) => name.startsWith('out-')).sort();
  assert.ok(kept.length > 3, 'there is a beginning and an end');
  const sizes = kept.map((name) => fs.statSync(join(directory, name)).size);
  const [refused = '', deleted = ''] = kept.slice(1);
  const before = recorder.droppedBytes;
  fs.rmSync(join(directory, deleted));
  const names = noteSynced(cx, refused);
  recorder.sync();
  const wanted = kept.filter((name) => name !== deleted).flatMap((name) => [name, name.replace('out', 'idx')]);
  assert.deepEqual(names, wanted.filter((name) => name !== refused.replace('out', 'idx')));
  assert.equal(recorder.droppedBytes - before, (sizes[1] ?? 0) + (sizes[2] ?? 0));
});

for (const [refused, dropped] of /** @type {[string, bigint][]} */ ([
  ['nothing', 0n],
  ['out-', 4n],
])) {
  test(`who buries a job synchronises its output first, where the disk refuses ${refused}`, async (cx) => {
    const bench = jobsIn(cx);
    const { id, kill } = await talking(bench);
    await kill();
    const names = noteSynced(cx, refused);
    const state = bench.jobs.inspect(id);
    assert.ok(state.tag === 'ended');
    assert.deepEqual([state.val.outputBytes, state.val.droppedBytes], [4n, dropped]);
    assert.deepEqual(names, refused === 'out-' ? [FIRST_OUTPUT] : [FIRST_OUTPUT, FIRST_INDEX]);
  });
}
