/** Jobs as processes in a directory of their own, and other processes that look at them. For tests. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ProcessJobs } from '../src/index.js';
import { ifThere } from '../src/jobs/files.js';
import { look } from '../src/jobs/processes.js';
import { NODE_OPTIONS, eventually, temporaryDirectory } from './support.js';

/** @import { TestContext } from 'node:test' */
/** @import { Spec } from '../src/types.js' */

/** A job that ends at once. @type {Spec} */
export const TRUE = {
  command: { tag: 'program', val: ['true'] },
  environment: [],
  stdin: '',
  interactive: false,
  graceMs: 0n,
  outputLimitBytes: 4096n,
};

/** Jobs in a directory of their own. @param {TestContext} cx */
export function jobsIn(cx) {
  /** @type {string[]} */
  const started = [];
  const path = temporaryDirectory(cx, () => {
    for (const id of started) jobs.stop(id, 'cancelled');
    return Promise.all(started.map(whenEnded));
  });
  const jobs = new ProcessJobs(path);
  const whenEnded = (/** @type {string} */ id) =>
    new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
  const start = (/** @type {string[]} */ ...words) => {
    const id = crypto.randomUUID();
    jobs.start(id, { ...TRUE, command: { tag: 'program', val: words } });
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

/**
 * What a script prints as JSON, in a process of its own, since it may wait for ever.
 *
 * @param {string} script
 * @param {string} limit what a shell does before, such as a `ulimit`
 */
export function printed(script, limit = 'true') {
  const imports = ['index', 'jobs/directory', 'jobs/files', 'jobs/model', 'jobs/output'].map((name) => {
    const url = new URL(`../src/${name}.js`, import.meta.url).href;
    return `import * as ${name.split('/').at(-1)} from ${JSON.stringify(url)};`;
  });
  const options = [...NODE_OPTIONS, '--input-type=module', '--eval', [...imports, script].join('\n')];
  const words = ['-c', `${limit}; exec "$@"`, 'sh', process.execPath, ...options];
  const { stdout, stderr, signal } = spawnSync('sh', words, { encoding: 'utf8', timeout: 30_000 });
  assert.equal(signal, null, 'it waits for ever');
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout);
}

/**
 * What another process sees of a job. It may wait for ever, and then this fails.
 *
 * @param {string} path
 * @param {string} id
 */
export function seen(path, id) {
  return printed(`
    const jobs = new index.ProcessJobs(${JSON.stringify(path)});
    const { tag, val } = jobs.inspect('${id}');
    const fragments = jobs.read('${id}', 0n, 4096);
    const text = fragments.map(({ bytes }) => Buffer.from(bytes).toString()).join('');
    const ends = [0n, ...fragments.map(({ offset, bytes }) => offset + BigInt(bytes.length))];
    if (fragments.some(({ offset }, number) => offset < ends[number])) throw new Error('an offset goes backwards');
    console.log(JSON.stringify({ tag, end: val.end, text }));`);
}

/**
 * A job whose command runs and has written a line, and how to end its supervisor as a kernel short of memory does.
 *
 * @param {ReturnType<typeof jobsIn>} bench
 * @param {string} line for a shell, behind what writes the first line, `abc`
 */
export async function talking({ jobs, path, start }, line = 'exec sleep 300') {
  const id = start('sh', '-c', `echo abc; ${line}`);
  const job = join(path, id);
  const pid = await eventually('its output', () => {
    const written = ifThere(() => readFileSync(join(job, FIRST_OUTPUT), 'utf8'));
    const started = ifThere(() => readFileSync(join(job, 'started.json'), 'utf8'));
    return written === 'abc\n' && started ? Number(JSON.parse(started).content.pid) : undefined;
  });
  const supervisor = look(pid)?.parent ?? 0;
  // Neither this process's whole group nor everything.
  assert.ok(supervisor > 1, 'its command has a supervisor');
  const kill = async () => {
    process.kill(supervisor, 'SIGKILL');
    await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
  };
  const isGone = () => look(pid)?.isZombie ?? true;
  return { id, job, pid, supervisor, kill, isGone };
}

/** The files of the first of a job's output. */
export const FIRST_OUTPUT = `out-${'0'.repeat(20)}`;
export const FIRST_INDEX = `idx-${'0'.repeat(20)}`;
