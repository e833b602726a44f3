/** Jobs of which somebody damaged or replaced the files, which any process of a job can do. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { look } from '../src/jobs/processes.js';
import { jobsIn, printed, seen } from './job-bench.js';
import { eventually, temporaryDirectory } from './support.js';

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

test('whatever is damaged of a lost job it ends, nothing of it is left, and it can be deleted', async (cx) => {
  const { jobs, path, start, end } = jobsIn(cx);
  const origin = (/** @type {object} */ wrong) => (/** @type {string} */ job) => {
    const file = join(job, 'origin.json');
    const { format, content } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ format, content: { ...content, ...wrong } }));
  };
  const out = (/** @type {string} */ job) => join(job, `out-${'0'.repeat(20)}`);
  for (const [kind, damage] of /** @type {[string, (job: string) => void][]} */ ([
    ['files', origin({ startedAt: 'x' })],
    ['files', origin({ startedAt: -1 })],
    ['files', origin({ monotonicMs: null })],
    ['files', origin({ bootId: undefined })],
    ['supervisor', (job) => copyFileSync(out(job), `${out(job).slice(0, -1)}1`)],
    ['supervisor', (job) => copyFileSync(out(job), join(job, `out-${'9'.repeat(20)}`))],
    ['supervisor', (job) => truncateSync(out(job), 2 ** 40)],
    ['supervisor', (job) => writeFileSync(join(job, 'out-x'), '')],
    ['supervisor', (job) => writeFileSync(join(job, 'out-00000000000000000NaN'), '')],
    ['supervisor', (job) => symlinkSync(`${out(job).slice(0, -1)}1`, `${out(job).slice(0, -1)}1`)],
    ['supervisor', (job) => writeFileSync(join(job, 'started.json'), '{"format":1,"content":{}}')],
  ])) {
    const id = start('sh', '-c', 'echo abc; exec sleep 300');
    const job = join(path, id);
    const pid = await eventually('its output', () => {
      const isThere = existsSync(out(job)) && readFileSync(out(job), 'utf8') === 'abc\n';
      return isThere ? Number(JSON.parse(readFileSync(join(job, 'started.json'), 'utf8')).content.pid) : undefined;
    });
    const supervisor = look(pid)?.parent ?? 0;
    damage(job);
    assert.equal(jobs.inspect(id).tag, 'running', String(damage));
    process.kill(supervisor, 'SIGKILL');
    await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
    assert.deepEqual(end(id), { tag: 'lost', val: { kind } }, String(damage));
    assert.ok(look(pid)?.isZombie ?? true);
    jobs.forget(id);
    assert.equal(jobs.inspect(id).tag, 'unknown');
  }
});

test('nobody waits for what a job puts in the place of its files, or reads it', async (cx) => {
  const { path, start } = jobsIn(cx);
  const number = '0'.repeat(20);
  const puts = /** @type {const} */ ({
    fifo: (/** @type {string} */ file) => void spawnSync('mkfifo', [file]),
    device: (/** @type {string} */ file) => symlinkSync('/dev/zero', file),
    link: (/** @type {string} */ file) => symlinkSync(`${file}.away`, file),
    directory: (/** @type {string} */ file) => mkdirSync(file),
  });
  const exited = { tag: 'exited', val: { code: 0 } };
  const lost = { tag: 'lost', val: { kind: 'files' } };
  const wanted = /** @type {const} */ ([
    ['outcome.json', { end: lost, text: 'abc\n' }],
    ['origin.json', { end: exited, text: 'abc\n' }],
    ['started.json', { end: exited, text: 'abc\n' }],
    ['alive', { end: exited, text: 'abc\n' }],
    ['report.json', { end: exited, text: 'abc\n' }],
    [`idx-${number}`, { end: exited, text: 'abc\n' }],
    [`out-${number}`, { end: exited, text: '' }],
  ]);
  const id = start('echo', 'abc');
  const job = join(path, id);
  await eventually('its end', () => existsSync(join(job, 'outcome.json')) || undefined);
  await eventually('its supervisor to end', () => (seen(path, id).tag === 'ended' ? true : undefined));
  for (const [kind, put] of Object.entries(puts)) {
    for (const [name, rest] of wanted) {
      const copy = crypto.randomUUID();
      cpSync(job, join(path, copy), { recursive: true, filter: (file) => !/\/(alive|control)$/.test(file) });
      spawnSync('mkfifo', [join(path, copy, 'alive'), join(path, copy, 'control')]);
      const file = join(path, copy, name);
      if (existsSync(file)) renameSync(file, `${file}.away`);
      put(file);
      assert.deepEqual(seen(path, copy), { tag: 'ended', ...rest }, `${kind} for ${name}`);
    }
  }
});

test('what is no FIFO keeps no job alive', async (cx) => {
  const { path, ended } = jobsIn(cx);
  const { id, file } = await ended();
  rmSync(file);
  rmSync(join(path, id, 'alive'));
  writeFileSync(join(path, id, 'alive'), 'as if somebody wrote');
  assert.deepEqual(seen(path, id), { tag: 'ended', end: { tag: 'lost', val: { kind: 'files' } }, text: '' });
});

test('no supervisor waits for what its job puts where it writes', (cx) => {
  for (const put of ['mkfifo', 'mkdir', 'ln -s /dev/full']) {
    const job = temporaryDirectory(cx);
    for (const name of ['started.json', 'reserve', `idx-${'0'.repeat(20)}`, `out-${'0'.repeat(19)}3`]) {
      spawnSync('sh', ['-c', `${put} '${join(job, name)}'`]);
    }
    const done = printed(`
      const path = ${JSON.stringify(job)};
      const job = new directory.JobDirectory(path);
      let isRefused = false;
      try { job.recordStarted({ pid: 1, startTicks: 1 }); } catch { isRefused = true; }
      const recorder = new output.Recorder(path, 4096);
      for (const text of ['abc', 'def']) recorder.record('stdout', Buffer.from(text));
      job.conclude(model.outcome({ tag: 'exited', val: { code: 7 } }, {}), 'reserve');
      console.log(JSON.stringify({ isRefused, dropped: recorder.droppedBytes, end: job.outcome().end }));`);
    assert.deepEqual(done, { isRefused: true, dropped: 6, end: { tag: 'exited', val: { code: 7 } } }, put);
  }
});
