/** Jobs as processes, where the conformance kit does not reach: records, requests, and what a start leaves. */

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Damaged, checkedOutcome, decode } from '../src/jobs/model.js';
import { TRUE, jobsIn, printed } from './job-bench.js';
import { eventually } from './support.js';

test('since when a job runs whose record was damaged is the same at each look', async (cx) => {
  const { jobs, path, running } = jobsIn(cx);
  const id = await running();
  const progress = () => {
    const state = jobs.inspect(id);
    assert.ok(state.tag === 'running');
    return state.val;
  };
  const { startedAt } = progress();
  for (const damage of ['nonsense', '{"format":1,"content":{"startedAt":"x"}}']) {
    writeFileSync(join(path, id, 'origin.json'), damage);
    const first = progress();
    assert.ok(Math.abs(Number(first.startedAt - startedAt)) < 60_000);
    const second = await eventually('time to pass', () => {
      const now = progress();
      return now.runningMs > first.runningMs ? now : undefined;
    });
    assert.equal(second.startedAt, first.startedAt);
  }
});

test('an outcome with other members than it has is damaged', () => {
  const whole = {
    startedAt: 1,
    endedAt: 2,
    durationMs: 1,
    end: { tag: 'exited', val: { code: 255 } },
    stopped: 'timed-out',
    outputBytes: 0,
    droppedBytes: 0,
    leftovers: [{ pid: 7, command: 'x' }],
  };
  for (const end of [
    whole.end,
    { tag: 'signalled', val: { signal: 'SIGKILL', coreDumped: false } },
    { tag: 'not-started', val: { detail: 'x' } },
    { tag: 'lost', val: { kind: 'machine' } },
  ]) {
    assert.deepEqual(checkedOutcome({ ...whole, end }).end, end);
  }
  for (const wrong of [
    { endedAt: -1 },
    { stopped: 'nonsense' },
    { leftovers: [{ pid: -7, command: 'x' }] },
    { leftovers: [null] },
    { end: { tag: 'exited', val: { code: 256 } } },
    { end: { tag: 'exited' } },
    { end: { tag: 'signalled', val: { signal: 9, coreDumped: false } } },
    { end: { tag: 'lost', val: { kind: 'nonsense' } } },
    { end: { tag: 'toString', val: {} } },
  ]) {
    assert.throws(() => checkedOutcome({ ...whole, ...wrong }), Damaged, JSON.stringify(wrong));
  }
});

test('whatever is put in the place of a request to stop is one', async (cx) => {
  const { jobs, path, running, stopped } = jobsIn(cx);
  for (const put of [
    (/** @type {string} */ stop) => symlinkSync('nonsense', stop),
    (/** @type {string} */ stop) => writeFileSync(stop, ''),
  ]) {
    const id = await running();
    put(join(path, id, 'stop'));
    const state = jobs.inspect(id);
    // Its supervisor may have been about to look for one.
    const cause = state.tag === 'running' ? state.val.stopping : state.tag === 'ended' && state.val.stopped;
    assert.equal(cause, 'cancelled');
    jobs.stop(id, 'expired');
    assert.equal(await stopped(id), 'cancelled');
  }
});

test('an outcome that only a newer version can read is left to it', async (cx) => {
  const { jobs, ended, end } = jobsIn(cx);
  const { id, file } = await ended();
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"format":1', '"format":2'));
  assert.throws(() => jobs.inspect(id), /has format 2/);
  jobs.stop(id, 'cancelled');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"format":2', '"format":1'));
  assert.deepEqual(end(id), { tag: 'exited', val: { code: 0 } });
});

test('when a job was asked for, as only a newer version can read it, is left to that', async (cx) => {
  const { jobs, path, ended, running, end } = jobsIn(cx);
  const newer = (/** @type {string} */ id) => {
    const file = join(path, id, 'origin.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"format":1', '"format":2'));
    return () => writeFileSync(file, text);
  };
  const { id, file } = await ended();
  rmSync(file);
  const mend = newer(id);
  assert.throws(() => jobs.inspect(id), ({ payload }) => /has format 2.*; use a newer version/.test(payload.detail));
  assert.ok(!existsSync(file), 'no outcome is made up');
  mend();
  assert.deepEqual(end(id), { tag: 'lost', val: { kind: 'supervisor' } });
  // Its supervisor has read it long ago.
  const alive = await running();
  newer(alive);
  assert.equal(jobs.inspect(alive).tag, 'running');
});

test('what is no number of a format is damage', () => {
  for (const format of ['"2"', '-1', '1.5', 'null', '4294967296']) {
    assert.throws(() => decode(`{"format":${format},"content":{}}`), Damaged, format);
  }
  for (const format of ['0', '2']) {
    assert.throws(() => decode(`{"format":${format},"content":{}}`), { name: 'Error' }, format);
  }
});

test('who waits for a job that cannot be looked at is called back, and its server goes on', async (cx) => {
  const { jobs, path, running } = jobsIn(cx);
  const id = await running();
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

test('a directory that cannot be used is refused in words that say why', (cx) => {
  const { jobs, path } = jobsIn(cx);
  const loop = join(path, 'loop');
  symlinkSync(loop, loop);
  writeFileSync(join(path, 'file'), '');
  for (const [directory, why] of /** @type {const} */ ([
    [join(path, 'missing'), 'does not exist'],
    [join(path, 'file'), 'is not a directory'],
    [join(path, 'file', 'below'), 'is not a directory'],
    [`/${'x'.repeat(300)}`, 'cannot be entered: name too long; name another one'],
    [loop, 'cannot be entered: too many symbolic links encountered; name another one'],
  ])) {
    const begin = () => jobs.start(crypto.randomUUID(), { ...TRUE, directory });
    assert.throws(begin, ({ payload }) => payload.detail.includes(`${directory} ${why}`), why);
  }
});

test('a start that fails leaves no descriptor, and nothing in the workshop', (cx) => {
  const { jobs, path, start } = jobsIn(cx);
  const id = start('sleep', '300');
  const before = readdirSync('/proc/self/fd').length;
  const again = () => jobs.start(id, TRUE);
  for (let time = 0; time < 10; time += 1) assert.throws(again, /was started or stopped before/);
  assert.ok(readdirSync('/proc/self/fd').length <= before);
  assert.deepEqual(readdirSync(join(path, '.workshop')), []);
});

test('a start for which there are too few descriptors fails as the WIT knows it, and leaves no job', (cx) => {
  const { path } = jobsIn(cx);
  const { kinds, left } = printed(`
    import { closeSync, openSync, readdirSync } from 'node:fs';
    const path = ${JSON.stringify(path)};
    const jobs = new index.ProcessJobs(path);
    const command = { tag: 'program', val: ['true'] };
    const spec = { command, environment: [], stdin: '', interactive: false, graceMs: 0n, outputLimitBytes: 4096n };
    const start = () => {
      try {
        jobs.start(crypto.randomUUID(), spec);
        return 'started';
      } catch (error) {
        return error.payload?.kind ?? String(error);
      }
    };
    const taken = [];
    try {
      for (;;) taken.push(openSync('/dev/null'));
    } catch {}
    const kinds = [start()];
    // With one more each time, another step is the one that fails.
    while (kinds.at(-1) !== 'started' && taken.length > 0) {
      closeSync(taken.pop());
      kinds.push(start());
    }
    for (const file of taken) closeSync(file);
    console.log(JSON.stringify({ kinds, left: readdirSync(path) }));`, 'ulimit -n 64');
  assert.deepEqual(new Set(kinds), new Set(['other', 'started']));
  assert.equal(left.length, 2, 'the workshop and the job that was started');
});
