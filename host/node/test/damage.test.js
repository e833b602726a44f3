/** Jobs of which somebody damaged or replaced the files, which any process of a job can do. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { JobDirectory } from '../src/jobs/directory.js';
import { modifiedAt } from '../src/jobs/files.js';
import { ProcessJobs } from '../src/jobs/jobs.js';
import { encode, outcome } from '../src/jobs/model.js';
import { look } from '../src/jobs/processes.js';
import { jobsIn, printed, seen, talking } from './job-bench.js';
import { eventually, temporaryDirectory } from './support.js';

/** What may be in the place of a file, and how it gets there. @type {Record<string, (file: string) => void>} */
const PUTS = {
  fifo: (file) => void spawnSync('mkfifo', [file]),
  device: (file) => symlinkSync('/dev/zero', file),
  'link to what is not there': (file) => symlinkSync(`${file}.away`, file),
  'link to itself': (file) => symlinkSync(file, file),
  directory: (file) => mkdirSync(file),
  'directory with files': (file) => {
    mkdirSync(join(file, 'x'), { recursive: true });
    writeFileSync(join(file, 'x', 'y'), '');
  },
};

const OUTCOMES = {
  nothing: '',
  nonsense: 'nonsense',
  null: 'null',
  'no format': '{}',
  'no content': '{"format":1}',
  'half an end': '{"format":1,"content":{"end":{"tag":"exited"}}}',
};

for (const [name, put] of Object.entries({
  ...Object.fromEntries(
    Object.entries(OUTCOMES).map(([name, text]) => [name, (/** @type {string} */ file) => writeFileSync(file, text)]),
  ),
  ...PUTS,
})) {
  test(`a job whose outcome is ${name} is lost with its files, and can be deleted`, async (cx) => {
    const { jobs, path, ended, end } = jobsIn(cx);
    const { id, file } = await ended();
    rmSync(file);
    put(file);
    const lost = { tag: 'lost', val: { kind: 'files' } };
    assert.deepEqual(seen(path, id), { tag: 'ended', end: lost, text: '' });
    assert.deepEqual(end(id), lost, 'it stays so');
    jobs.forget(id);
    assert.equal(jobs.inspect(id).tag, 'unknown');
    assert.deepEqual(readdirSync(join(path, '.workshop')), []);
  });
}

test('what is in the place of the workshop is neither followed nor in the way', async (cx) => {
  const { path, ended } = jobsIn(cx);
  await ended();
  const workshop = join(path, '.workshop');
  const theirs = join(path, 'theirs');
  const below = join(theirs, 'below');
  mkdirSync(below, { recursive: true });
  utimesSync(below, 0, 0);
  for (const put of [() => symlinkSync(theirs, workshop), () => writeFileSync(workshop, '')]) {
    rmSync(workshop, { recursive: true });
    put();
    new ProcessJobs(path);
    assert.deepEqual(readdirSync(workshop), []);
    assert.deepEqual(readdirSync(theirs), ['below']);
  }
});

test('what is told of a damaged outcome is not replaced by who saw the damage before', async (cx) => {
  const { jobs, path, ended } = jobsIn(cx);
  const { id, file } = await ended();
  writeFileSync(file, '');
  const told = jobs.inspect(id);
  const late = outcome({ tag: 'lost', val: { kind: 'supervisor' } }, { startedAt: 1 });
  new JobDirectory(join(path, id)).conclude(late, 'draft');
  assert.deepEqual(jobs.inspect(id), told);
  assert.equal(readFileSync(file, 'utf8'), '', 'nothing is moved, by which another one could be');
  // The next one is damaged too.
  writeFileSync(join(path, id, 'outcome.1.json'), '');
  const again = jobs.inspect(id);
  assert.equal(again.tag === 'ended' && again.val.end.tag, 'lost');
  assert.deepEqual(jobs.inspect(id), again);
});

test('what a job says of its end while its supervisor cannot be found is not replaced once it is told', async (cx) => {
  const bench = jobsIn(cx);
  const { id, job, supervisor, isGone } = await talking(bench);
  const alive = join(job, 'alive');
  renameSync(alive, `${alive}.away`);
  // Which would show that its supervisor has not said yet how it ended.
  rmSync(join(job, 'reserve'));
  const forged = outcome({ tag: 'exited', val: { code: 0 } }, { startedAt: 1 });
  writeFileSync(join(job, 'outcome.json'), encode(forged));
  const told = bench.jobs.inspect(id);
  renameSync(`${alive}.away`, alive);
  await eventually('its supervisor to be gone', () => (look(supervisor)?.isZombie ?? true) || undefined);
  assert.ok(isGone());
  // Its other threads may hold the FIFO for a moment more.
  const again = await eventually('its end', () => {
    const state = bench.jobs.inspect(id);
    return state.tag === 'running' ? undefined : state;
  });
  assert.deepEqual(again, told);
});

test('an outcome that cannot be written whole is none', (cx) => {
  const path = temporaryDirectory(cx);
  const directory = new JobDirectory(path);
  directory.reserve();
  const long = { tag: 'not-started', val: { detail: 'x'.repeat(100_000) } };
  const limited = (/** @type {string} */ draft) => `
    const written = new directory.JobDirectory(${JSON.stringify(path)});
    try {
      written.conclude(model.outcome(${JSON.stringify(long)}, {})${draft});
    } catch (error) {
      console.log(JSON.stringify(error.code));
    }`;
  for (const draft of ['', ', "draft"']) {
    // Each write takes what there is room for, and only the next one fails: as on a full disk.
    assert.equal(printed(limited(draft), 'ulimit -f 64'), 'EFBIG');
    assert.equal(directory.outcome(), undefined);
    assert.deepEqual(readdirSync(path), ['reserve']);
  }
  assert.equal(printed(`${limited('')} console.log('"written"')`), 'written');
  assert.equal(directory.outcome()?.end.tag, 'not-started');
});

/** @param {object} wrong members of an origin */
const origin = (wrong) => (/** @type {string} */ job) => {
  const file = join(job, 'origin.json');
  const { format, content } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ format, content: { ...content, ...wrong } }));
};
/** @param {object} content of the record of a command */
const started = (content) => (/** @type {string} */ job) =>
  writeFileSync(join(job, 'started.json'), JSON.stringify({ format: 1, content }));
/** @param {string} job @param {number} [start] @param {'out' | 'idx'} [what] */
const output = (job, start = 0, what = 'out') => join(job, `${what}-${String(start).padStart(20, '0')}`);

/** What it is, how the job is lost then, what its output is, and what does it to the job's directory. */
/** @type {[string, string, string, (job: string) => void][]} */
const DAMAGES = [
  ['no time of its start', 'files', 'abc\n', origin({ startedAt: 'x' })],
  ['a time of its start before 1970', 'files', 'abc\n', origin({ startedAt: -1 })],
  ['no time on the other clock', 'files', 'abc\n', origin({ monotonicMs: null })],
  ['no boot', 'files', 'abc\n', origin({ bootId: undefined })],
  ['a boot that is no text', 'files', 'abc\n', origin({ bootId: 5 })],
  ['another boot', 'files', 'abc\n', origin({ bootId: 'another' })],
  ['the same segment twice', 'supervisor', 'abc\n\n', (job) => copyFileSync(output(job), output(job, 1))],
  ['the same segment and index twice', 'supervisor', 'abc\n\n', (job) => {
    copyFileSync(output(job), output(job, 1));
    copyFileSync(output(job, 0, 'idx'), output(job, 1, 'idx'));
  }],
  ['a segment beyond all numbers', 'supervisor', 'abc\n', (job) => {
    copyFileSync(output(job), join(job, `out-${'9'.repeat(20)}`));
  }],
  ['a segment of a terabyte', 'supervisor', `abc\n${'\0'.repeat(4092)}`, (job) => truncateSync(output(job), 2 ** 40)],
  ['an index of a terabyte', 'supervisor', 'abc\n', (job) => truncateSync(output(job, 0, 'idx'), 2 ** 40)],
  ['an index of nothing but zeros', 'supervisor', 'abc\n', (job) => {
    truncateSync(output(job, 0, 'idx'), 0);
    truncateSync(output(job, 0, 'idx'), 2 ** 40);
  }],
  ['an index of zeros wherever nobody searches', 'supervisor', 'abc\n', (job) => {
    const index = output(job, 0, 'idx');
    const entry = readFileSync(index);
    truncateSync(index, 2 ** 40);
    const file = openSync(index, 'r+');
    // Where one looks who halves what is left.
    for (let number = 2 ** 35; number >= 1; number /= 2) writeSync(file, entry, 0, entry.length, number * entry.length);
    closeSync(file);
  }],
  ['an index of half an entry', 'supervisor', 'abc\n', (job) => truncateSync(output(job, 0, 'idx'), 8)],
  ['no index', 'supervisor', 'abc\n', (job) => rmSync(output(job, 0, 'idx'))],
  ['a segment without a number', 'supervisor', 'abc\n', (job) => writeFileSync(join(job, 'out-x'), '')],
  ['a segment of no number', 'supervisor', 'abc\n', (job) => writeFileSync(join(job, 'out-00000000000000000NaN'), '')],
  ['a segment that is a link', 'supervisor', 'abc\n', (job) => symlinkSync(output(job, 1), output(job, 1))],
  // On a file system that keeps such times.
  ['output of the far future', 'supervisor', 'abc\n', (job) => {
    spawnSync('touch', ['-d', '@9000000000000000', output(job)]);
  }],
  ['a command without a process', 'supervisor', 'abc\n', started({})],
  ['a command that is everything', 'supervisor', 'abc\n', started({ pid: 1, startTicks: 0 })],
  ['a command that is text', 'supervisor', 'abc\n', started({ pid: 'x', startTicks: 'x' })],
  ['a reserve that is a directory', 'supervisor', 'abc\n', (job) => {
    rmSync(join(job, 'reserve'));
    mkdirSync(join(job, 'reserve'));
  }],
];

for (const [name, kind, text, damage] of DAMAGES) {
  test(`a job that is lost ends, whole or with ${name}, and nothing of it is left`, async (cx) => {
    const bench = jobsIn(cx);
    const { jobs, path, end } = bench;
    const { id, job, kill, isGone } = await talking(bench);
    damage(job);
    assert.equal(jobs.inspect(id).tag, 'running');
    await kill();
    const lost = { tag: 'lost', val: { kind } };
    assert.deepEqual(seen(path, id), { tag: 'ended', end: lost, text });
    assert.ok(isGone());
    assert.deepEqual(end(id), lost, 'it stays so');
    jobs.forget(id);
    assert.equal(jobs.inspect(id).tag, 'unknown');
  });
}

/** @type {Record<string, (alive: string, elsewhere: string) => void>} */
const NOT_ITS_FIFO = {
  nothing: () => undefined,
  ...PUTS,
  'link to a FIFO that is held': (alive, elsewhere) => {
    spawnSync('mkfifo', [elsewhere]);
    symlinkSync(elsewhere, alive);
  },
  'file with something in it': (alive) => writeFileSync(alive, 'as if somebody wrote'),
};
for (const [name, put] of Object.entries(NOT_ITS_FIFO)) {
  test(`a job that has ${name} in the place of its FIFO is killed, and lost with its files`, async (cx) => {
    const bench = jobsIn(cx);
    const { jobs, path, end } = bench;
    const { id, job, supervisor, isGone } = await talking(bench);
    const [alive, elsewhere] = [join(job, 'alive'), join(temporaryDirectory(cx), 'fifo')];
    rmSync(alive);
    put(alive, elsewhere);
    const held = existsSync(elsewhere) ? openSync(elsewhere, 'r+') : undefined;
    cx.after(() => held && closeSync(held));
    const lost = { tag: 'lost', val: { kind: 'files' } };
    assert.deepEqual(seen(path, id), { tag: 'ended', end: lost, text: 'abc\n' });
    assert.ok(isGone());
    // Killed it was; it is gone a moment later. It would say something else, or execute the command just now.
    await eventually('the supervisor to be gone', () => (look(supervisor)?.isZombie ?? true) || undefined);
    assert.deepEqual(end(id), lost, 'it stays so');
    jobs.forget(id);
    assert.equal(jobs.inspect(id).tag, 'unknown');
  });
}

test('what a hasty command puts in the place of what its supervisor listens to does not end that', async (cx) => {
  const { jobs, start, end } = jobsIn(cx);
  for (const put of ['mkdir', 'touch', 'ln -s control', 'true']) {
    const id = start('sh', '-c', `cd $BACKBURNER_JOB_DIRECTORY && rm control && ${put} control && exit 3`);
    await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
    assert.deepEqual(end(id), { tag: 'exited', val: { code: 3 } }, put);
    jobs.forget(id);
  }
});

for (const [name, put] of Object.entries({ ...PUTS, nothing: (/** @type {string} */ _file) => undefined })) {
  test(`a job is stopped that has ${name} in the place of what its supervisor listens to`, async (cx) => {
    const bench = jobsIn(cx);
    const { id, job, isGone } = await talking(bench);
    rmSync(join(job, 'control'));
    put(join(job, 'control'));
    bench.jobs.stop(id, 'expired');
    assert.equal(await bench.stopped(id), 'expired');
    assert.ok(isGone());
    assert.deepEqual(bench.end(id)?.tag, 'signalled', 'its supervisor has seen its end');
  });
}

test('how a job ended is not what its own processes have written', async (cx) => {
  const { jobs, start, end } = jobsIn(cx);
  const forged = JSON.stringify({
    format: 1,
    content: outcome({ tag: 'exited', val: { code: 0 } }, { startedAt: 1, endedAt: 1 }),
  });
  const puts = ['mkdir outcome.json', 'mkfifo outcome.json', 'ln -s x outcome.json'];
  for (const line of [`echo '${forged}' > outcome.json`, ...puts]) {
    const id = start('sh', '-c', `cd $BACKBURNER_JOB_DIRECTORY && ${line} && exit 3`);
    await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
    assert.deepEqual(end(id), { tag: 'exited', val: { code: 3 } }, line);
  }
});

test('when a job was made is seen at its FIFO, and at nothing else that is in the place of that', (cx) => {
  const [path, elsewhere] = [temporaryDirectory(cx), temporaryDirectory(cx)];
  const directory = new JobDirectory(path);
  const alive = directory.file('alive');
  spawnSync('mkfifo', [alive]);
  utimesSync(alive, 7, 7);
  assert.equal(directory.madeAt(), 7000);
  utimesSync(elsewhere, 7, 7);
  rmSync(alive);
  for (const put of [() => undefined, () => symlinkSync(elsewhere, alive), () => writeFileSync(alive, '')]) {
    put();
    if (existsSync(alive)) utimesSync(alive, 7, 7);
    utimesSync(path, 9, 9);
    assert.equal(directory.madeAt(), 9000);
    rmSync(alive, { force: true });
  }
});

test('the time of a file is a number that is exact, whatever it is', () => {
  for (const [mtimeMs, wanted] of /** @type {const} */ ([
    [9e18, Number.MAX_SAFE_INTEGER],
    [-1.5, 0],
    [1.9, 1],
  ])) {
    assert.equal(modifiedAt(/** @type {import('node:fs').Stats} */ ({ mtimeMs })), wanted);
  }
});

test('which process a command is, is two numbers, or is not known', (cx) => {
  const path = temporaryDirectory(cx);
  const directory = new JobDirectory(path);
  assert.equal(directory.started(), undefined);
  const whole = { pid: 7, startTicks: 0 };
  started(whole)(path);
  assert.deepEqual(directory.started(), whole);
  const pids = [0, 1, -7, '7', 7.5, 2 ** 31, null].map((pid) => ({ pid }));
  for (const wrong of [...pids, { startTicks: -1 }, { startTicks: null }]) {
    started({ ...whole, ...wrong })(path);
    assert.equal(directory.started(), undefined, JSON.stringify(wrong));
  }
});

test('a job of another boot of which nothing runs was lost with the machine, and no stranger is killed', async (cx) => {
  const bench = jobsIn(cx);
  const { id, job, pid, kill, isGone } = await talking(bench);
  await kill();
  process.kill(pid, 'SIGKILL');
  await eventually('the end of its command', () => isGone() || undefined);
  // Which happens to have the number now.
  const stranger = spawn('sleep', ['300'], { detached: true });
  cx.after(() => stranger.kill('SIGKILL'));
  const number = stranger.pid ?? 0;
  started({ pid: number, startTicks: look(number)?.startTicks })(job);
  origin({ bootId: 'another' })(job);
  assert.deepEqual(bench.end(id), { tag: 'lost', val: { kind: 'machine' } });
  assert.equal(look(number)?.isZombie, false);
});

test('who buries a job after another process has killed it, and was killed, says the same', async (cx) => {
  const bench = jobsIn(cx);
  const { id, job, pid, kill, isGone } = await talking(bench);
  origin({ bootId: 'another' })(job);
  await kill();
  new JobDirectory(job).markFound();
  process.kill(pid, 'SIGKILL');
  await eventually('the end of its command', () => isGone() || undefined);
  assert.deepEqual(bench.end(id), { tag: 'lost', val: { kind: 'files' } });
});

/**
 * What a server says that is itself a part of a job, once `go` is there: the tag of the job's state, or why there is
 * none. It goes on afterwards.
 *
 * @param {import('node:test').TestContext} cx
 * @param {string} path where the jobs are
 */
function inside(cx, path) {
  const directory = temporaryDirectory(cx);
  const [said, go, script] = [join(directory, 'said'), join(directory, 'go'), join(directory, 'inside.mjs')];
  writeFileSync(script, `
    import { existsSync, writeFileSync } from 'node:fs';
    import { ProcessJobs } from ${JSON.stringify(new URL('../src/index.js', import.meta.url).href)};
    const id = process.env.BACKBURNER_TASK_ID;
    const jobs = new ProcessJobs(${JSON.stringify(path)});
    const looking = setInterval(() => {
      if (!existsSync(${JSON.stringify(go)})) return;
      clearInterval(looking);
      let said;
      try { said = jobs.inspect(id).tag; } catch (error) { said = error.payload.detail; }
      writeFileSync(${JSON.stringify(said)}, said, { flush: true });
      setInterval(() => undefined, 1000);
    }, 20);`);
  // Node warns of what it calls experimental.
  const line = `'${process.execPath}' '${script}' > ${said}.log 2>&1 & exec sleep 300`;
  const answer = () => {
    writeFileSync(go, '');
    return eventually('what it says', () => (existsSync(said) && readFileSync(said, 'utf8')) || undefined);
  };
  return { line, answer };
}

test('a process of a lost job does not say that it has ended, and kills the others', async (cx) => {
  const bench = jobsIn(cx);
  const { line, answer } = inside(cx, bench.path);
  const { id, kill, isGone } = await talking(bench, line);
  await kill();
  const text = await answer();
  assert.match(text, /^job .* cannot be inspected: .*this process is a part of it and runs; ask from outside/);
  assert.ok(isGone(), 'the rest has been killed');
  assert.ok(!existsSync(join(bench.path, id, 'outcome.json')));
  assert.deepEqual(bench.end(id), { tag: 'lost', val: { kind: 'supervisor' } });
});

test('a process of a job that is stopping and whose supervisor it does not see kills nothing', async (cx) => {
  const bench = jobsIn(cx);
  const { line, answer } = inside(cx, bench.path);
  const held = `exec 9<>$BACKBURNER_JOB_DIRECTORY/alive; touch $BACKBURNER_JOB_DIRECTORY/held; ${line}`;
  const { id, job, supervisor, isGone } = await talking(bench, held);
  await eventually('it to hold its FIFO', () => existsSync(join(job, 'held')) || undefined);
  process.kill(supervisor, 'SIGKILL');
  await eventually('its supervisor to be gone', () => (look(supervisor)?.isZombie ?? true) || undefined);
  new JobDirectory(job).requestStop('cancelled');
  assert.equal(await answer(), 'running');
  assert.ok(!isGone());
  assert.deepEqual(bench.end(id), { tag: 'lost', val: { kind: 'supervisor' } });
  assert.ok(isGone());
});

test('nobody waits for what a job puts in the place of its files, or reads it', async (cx) => {
  const { path, start } = jobsIn(cx);
  const number = '0'.repeat(20);
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
  for (const [kind, put] of Object.entries(PUTS)) {
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

test('what is no FIFO keeps no job alive that has ended', async (cx) => {
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
