/** Jobs that are to stop, whatever became of their directory, their supervisor and what that listens to. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { encode, outcome } from '../src/jobs/model.js';
import { isAnythingLeft, look } from '../src/jobs/processes.js';
import { TRUE, jobsIn, talking } from './job-bench.js';
import { eventually, temporaryDirectory } from './support.js';

const FILES = { tag: 'lost', val: { kind: 'files' } };

/** What becomes of a job's directory, in the place of which nothing or something else is then. */
/** @type {Record<string, (job: string) => void>} */
const LOSSES = {
  deleted: () => undefined,
  'replaced by an empty directory': (job) => mkdirSync(job),
  'replaced by a directory with files': (job) => {
    mkdirSync(job);
    writeFileSync(join(job, 'x'), '');
  },
  'replaced by a file': (job) => writeFileSync(job, ''),
};
for (const [name, put] of Object.entries(LOSSES)) {
  test(`a job whose directory is ${name} is not started again, and ends when it is stopped`, async (cx) => {
    const bench = jobsIn(cx);
    const { jobs, end } = bench;
    const { id, job, isGone } = await talking(bench);
    rmSync(job, { recursive: true });
    put(job);
    assert.throws(() => jobs.start(id, TRUE), ({ payload }) => payload.kind === 'already-known');
    assert.ok(!isGone());
    jobs.stop(id, 'cancelled');
    assert.ok(isGone());
    assert.deepEqual(end(id), FILES);
    assert.throws(() => jobs.start(id, TRUE), ({ payload }) => payload.kind === 'already-known');
    jobs.forget(id);
    assert.equal(jobs.inspect(id).tag, 'unknown');
  });
}

test('a job whose directory was renamed is killed when it is stopped', async (cx) => {
  const bench = jobsIn(cx);
  const { id, job, isGone } = await talking(bench);
  renameSync(job, join(temporaryDirectory(cx), 'renamed'));
  bench.jobs.stop(id, 'cancelled');
  assert.ok(isGone());
  assert.deepEqual(bench.end(id), FILES);
});

test('what is left of a job whose supervisor is dead is killed when it is stopped', async (cx) => {
  const bench = jobsIn(cx);
  const { id, kill, isGone } = await talking(bench);
  await kill();
  assert.ok(!isGone());
  bench.jobs.stop(id, 'cancelled');
  assert.ok(isGone());
  assert.deepEqual(bench.end(id), { tag: 'lost', val: { kind: 'supervisor' } });
});

test('also where a process of the job holds the FIFO that keeps it alive', async (cx) => {
  const bench = jobsIn(cx);
  const line = 'exec 9<>$BACKBURNER_JOB_DIRECTORY/alive; touch $BACKBURNER_JOB_DIRECTORY/held; exec sleep 300';
  const { id, job, supervisor, isGone } = await talking(bench, line);
  await eventually('it to hold that', () => existsSync(join(job, 'held')) || undefined);
  process.kill(supervisor, 'SIGKILL');
  await eventually('its supervisor to be gone', () => (look(supervisor)?.isZombie ?? true) || undefined);
  bench.jobs.stop(id, 'cancelled');
  assert.ok(isGone());
  assert.deepEqual(bench.end(id), { tag: 'lost', val: { kind: 'supervisor' } });
});

test('also where what holds that is a stranger, and the stranger lives on', async (cx) => {
  const bench = jobsIn(cx);
  const { id, job, pid, supervisor } = await talking(bench);
  const stranger = spawn('sh', ['-c', 'exec 9<>alive; touch held; exec sleep 300'], { cwd: job });
  try {
    await eventually('it to hold that', () => existsSync(join(job, 'held')) || undefined);
    process.kill(pid, 'SIGINT');
    await eventually('its supervisor to be gone', () => (look(supervisor)?.isZombie ?? true) || undefined);
    assert.equal(bench.jobs.inspect(id).tag, 'running', 'nobody can tell');
    bench.jobs.stop(id, 'cancelled');
    assert.deepEqual(bench.end(id), { tag: 'signalled', val: { signal: 'SIGINT', coreDumped: false } });
    assert.equal(look(stranger.pid ?? 0)?.isZombie, false);
  } finally {
    // Here, since the bench waits for the end of that.
    stranger.kill('SIGKILL');
  }
});

test('what runs of a job that was told to have ended is killed when it is stopped', async (cx) => {
  const { jobs, ended, end } = jobsIn(cx);
  const { id } = await ended();
  const told = end(id);
  // Nobody saw it, say.
  const hidden = spawn('sleep', ['300'], { env: { BACKBURNER_TASK_ID: id } });
  cx.after(() => hidden.kill('SIGKILL'));
  const isGone = () => look(hidden.pid ?? 0)?.isZombie ?? true;
  await eventually('it to run', () => isAnythingLeft(id) || undefined);
  assert.deepEqual(end(id), told);
  assert.ok(!isGone());
  jobs.stop(id, 'cancelled');
  assert.ok(isGone());
  assert.deepEqual(end(id), told);
});

for (const format of [1, 2]) {
  test(`a process of a job ends it by no outcome of format ${format}`, async (cx) => {
    for (const line of ['exec sleep 300', 'exec env -i sleep 300']) {
      const bench = jobsIn(cx);
      const { id, job, kill, isGone } = await talking(bench, line);
      await kill();
      const text = encode(outcome({ tag: 'exited', val: { code: 0 } }, {}));
      writeFileSync(join(job, 'outcome.json'), text.replace('"format":1', `"format":${format}`));
      if (format === 2) bench.jobs.stop(id, 'cancelled');
      else assert.deepEqual(bench.end(id), { tag: 'exited', val: { code: 0 } });
      assert.ok(isGone(), line);
    }
  });
}

test('a request to stop is found where nothing is left by which its supervisor could be told', async (cx) => {
  const bench = jobsIn(cx);
  const { id, job, isGone } = await talking(bench);
  for (const name of ['control', 'started.json']) rmSync(join(job, name));
  bench.jobs.stop(id, 'expired');
  assert.equal(await bench.stopped(id), 'expired');
  assert.ok(isGone());
  assert.equal(bench.end(id)?.tag, 'signalled', 'its supervisor has seen its end');
});

test('a job that was stopped before it was started never will be, and says so for ever', (cx) => {
  const { jobs, path } = jobsIn(cx);
  const id = crypto.randomUUID();
  jobs.stop(id, 'expired');
  const state = jobs.inspect(id);
  assert.ok(state.tag === 'ended');
  assert.deepEqual([state.val.end, state.val.stopped], [{ tag: 'lost', val: { kind: 'never-started' } }, 'expired']);
  assert.throws(() => jobs.start(id, TRUE), ({ payload }) => payload.kind === 'already-known');
  // Whoever reserved it was killed before it could say so.
  rmSync(join(path, id, 'outcome.json'));
  const again = jobs.inspect(id);
  assert.deepEqual(again.tag === 'ended' && again.val.end, state.val.end);
});
