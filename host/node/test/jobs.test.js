/** Jobs as processes, where the conformance kit does not reach: damaged files, and what a start leaves. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { ProcessJobs } from '../src/index.js';
import { temporaryDirectory } from './support.js';

/** @import { TestContext } from 'node:test' */
/** @import { Command } from '../src/jobs/model.js' */

/** Jobs in a directory of their own. @param {TestContext} cx */
function jobsIn(cx) {
  /** @type {string[]} */
  const started = [];
  const path = temporaryDirectory(cx, () => {
    for (const id of started) jobs.stop(id, 'cancelled');
    return Promise.all(started.map(whenEnded));
  });
  const jobs = new ProcessJobs(path);
  const whenEnded = (/** @type {string} */ id) => new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
  const start = (/** @type {string[]} */ ...words) => {
    const id = crypto.randomUUID();
    /** @type {Command} */
    const command = { tag: 'program', val: words };
    jobs.start(id, { command, environment: [], stdin: '', graceMs: 0n, outputLimitBytes: 4096n });
    started.push(id);
    return id;
  };
  /** A job that has ended, and the file that says how. */
  const ended = async () => {
    const id = start('true');
    await whenEnded(id);
    return { id, file: join(path, id, 'outcome.json') };
  };
  const end = (/** @type {string} */ id) => {
    const state = jobs.inspect(id);
    assert.equal(state.tag, 'ended');
    return state.tag === 'ended' ? state.val.end : undefined;
  };
  return { jobs, path, start, ended, end };
}

test('a job whose outcome was damaged is lost with its files', async (cx) => {
  const { jobs, ended, end } = jobsIn(cx);
  for (const damage of ['', 'nonsense', 'null', '{}', '{"format":1}', '{"format":1,"content":{"end":{"tag":"exited"}}}']) {
    const { id, file } = await ended();
    writeFileSync(file, damage);
    assert.deepEqual(end(id), { tag: 'lost', val: { kind: 'files' } }, damage);
    jobs.forget(id);
    assert.equal(jobs.inspect(id).tag, 'unknown');
  }
});

test('an outcome that only a newer version can read is left to it', async (cx) => {
  const { jobs, ended, end } = jobsIn(cx);
  const { id, file } = await ended();
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"format":1', '"format":2'));
  assert.throws(() => jobs.inspect(id), /has format 2/);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"format":2', '"format":1'));
  assert.deepEqual(end(id), { tag: 'exited', val: { code: 0 } });
});

test('who waits for a job that cannot be looked at is called back, and its server goes on', async (cx) => {
  const { jobs, path, start } = jobsIn(cx);
  const id = start('sleep', '300');
  const alive = join(path, id, 'alive');
  renameSync(alive, `${alive}.away`);
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  for (const replace of [() => mkdirSync(alive), () => writeFileSync(alive, 'no FIFO')]) {
    replace();
    await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
    assert.equal(open(), before);
    rmSync(alive, { recursive: true });
  }
  renameSync(`${alive}.away`, alive);
  assert.equal(jobs.inspect(id).tag, 'running');
});

test('a start that fails leaves no descriptor, and nothing in the workshop', (cx) => {
  const { jobs, path, start } = jobsIn(cx);
  const id = start('sleep', '300');
  const before = readdirSync('/proc/self/fd').length;
  /** @type {Command} */
  const command = { tag: 'program', val: ['true'] };
  const again = () => jobs.start(id, { command, environment: [], stdin: '', graceMs: 0n, outputLimitBytes: 4096n });
  for (let time = 0; time < 10; time += 1) assert.throws(again, /was started or stopped before/);
  assert.ok(readdirSync('/proc/self/fd').length <= before);
  assert.deepEqual(readdirSync(join(path, '.workshop')), []);
});
