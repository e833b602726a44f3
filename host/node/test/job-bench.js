/** Jobs as processes in a directory of their own, and other processes that look at them. For tests. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ProcessJobs } from '../src/index.js';
import { NODE_OPTIONS, eventually, temporaryDirectory } from './support.js';

/** @import { TestContext } from 'node:test' */
/** @import { Command } from '../src/jobs/model.js' */

/** Jobs in a directory of their own. @param {TestContext} cx */
export function jobsIn(cx) {
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

/** What a script prints as JSON, in a process of its own, since it may wait for ever. @param {string} script */
export function printed(script) {
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
export function seen(path, id) {
  return printed(`
    const jobs = new index.ProcessJobs(${JSON.stringify(path)});
    const { tag, val } = jobs.inspect('${id}');
    const text = jobs.read('${id}', 0n, 4096).map(({ bytes }) => Buffer.from(bytes).toString()).join('');
    console.log(JSON.stringify({ tag, end: val.end, text }));`);
}
