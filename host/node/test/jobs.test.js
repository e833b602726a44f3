/** Jobs as processes, where the conformance kit does not reach: damaged files, and what a start leaves. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { ProcessJobs } from '../src/index.js';
import { Damaged, checkedOutcome, decode } from '../src/jobs/model.js';
import { look } from '../src/jobs/processes.js';
import { NODE_OPTIONS, eventually, temporaryDirectory } from './support.js';

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
    jobs.start(id, { command, environment: [], stdin: '', interactive: false, graceMs: 0n, outputLimitBytes: 4096n });
    started.push(id);
    return id;
  };
  /** A job whose command runs: its supervisor has found what it needs in its directory. */
  const running = async () => {
    const id = start('sleep', '300');
    await eventually('the record of its command', () => existsSync(join(path, id, 'started.json')) || undefined);
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
  /** Why a job was stopped, when it has ended. */
  const stopped = async (/** @type {string} */ id) => {
    await whenEnded(id);
    const state = jobs.inspect(id);
    return state.tag === 'ended' ? state.val.stopped : undefined;
  };
  return { jobs, path, start, running, ended, end, stopped };
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
    const second = await eventually('time to pass', () => (progress().runningMs > first.runningMs ? progress() : undefined));
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
    assert.equal(state.tag === 'running' ? state.val.stopping : state.tag === 'ended' && state.val.stopped, 'cancelled');
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

test('a start that fails leaves no descriptor, and nothing in the workshop', (cx) => {
  const { jobs, path, start } = jobsIn(cx);
  const id = start('sleep', '300');
  const before = readdirSync('/proc/self/fd').length;
  /** @type {Command} */
  const command = { tag: 'program', val: ['true'] };
  const again = () => jobs.start(id, { command, environment: [], stdin: '', interactive: false, graceMs: 0n, outputLimitBytes: 4096n });
  for (let time = 0; time < 10; time += 1) assert.throws(again, /was started or stopped before/);
  assert.ok(readdirSync('/proc/self/fd').length <= before);
  assert.deepEqual(readdirSync(join(path, '.workshop')), []);
});

/** What a script prints as JSON, in a process of its own, since it may wait for ever. @param {string} script */
function printed(script) {
  const imports = ['index', 'jobs/directory', 'jobs/model', 'jobs/output'].map((name) => {
    const url = new URL(`../src/${name}.js`, import.meta.url).href;
    return `import * as ${name.split('/').at(-1)} from ${JSON.stringify(url)};`;
  });
  const options = [...NODE_OPTIONS, '--input-type=module', '--eval', [...imports, script].join('\n')];
  const { stdout, stderr, signal } = spawnSync(process.execPath, options, { encoding: 'utf8', timeout: 30_000 });
  assert.equal(signal, null, 'it waits for ever');
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout);
}

/** What another process sees of a job. @param {string} path @param {string} id */
function seen(path, id) {
  return printed(`
    const jobs = new index.ProcessJobs(${JSON.stringify(path)});
    const { tag, val } = jobs.inspect('${id}');
    const text = jobs.read('${id}', 0n, 4096).map(({ bytes }) => Buffer.from(bytes).toString()).join('');
    console.log(JSON.stringify({ tag, end: val.end, text }));`);
}

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
