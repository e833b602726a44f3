/** Measures what the component costs in Node: `npm run measure`, after a build, on a machine that does nothing else. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Component, FunctionJobs, MemoryStore, ProcessJobs, SqliteStore, instantiate, loadServer } from '../src/index.js';
import { meta } from './client.js';
import { NODE_OPTIONS } from './support.js';

const BIN = fileURLToPath(new URL('../bin/backburner-node.js', import.meta.url));
const server = new URL('../dist/server/', import.meta.url);
const context = () => ({ now: BigInt(Date.now()), principal: 'somebody' });

/** @param {string} method @param {object} params */
const request = (method, params = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta('tasks') } });

/**
 * Does something often, and prints what it took: the median of the time that passed, which a busy machine makes longer,
 * and the mean of this process's processor time, which it hardly does.
 *
 * @param {string} what
 * @param {number} count
 * @param {() => unknown} action
 */
async function measure(what, count, action) {
  const times = [];
  const before = process.cpuUsage();
  for (let number = 0; number < count; number += 1) {
    const start = performance.now();
    await action();
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(before);
  const median = times.sort((a, b) => a - b)[count >> 1] ?? NaN;
  console.log(`| ${what} | ${duration(median)} | ${duration((user + system) / 1000 / count)} |`);
}

/** @param {number} ms */
const duration = (ms) => (ms < 1 ? `${(ms * 1000).toFixed(0)} µs` : `${ms.toFixed(1)} ms`);

/** Starts a server, asks one thing, and ends it. @param {string} directory */
async function firstReply(directory) {
  const child = spawn(process.execPath, [...NODE_OPTIONS, BIN, '--data-dir', directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(`${request('server/discover')}\n`);
  await once(child.stdout, 'data');
  await once(child, 'close');
}

/** @param {ProcessJobs} jobs */
async function runJob(jobs) {
  const id = crypto.randomUUID();
  /** @type {import('../src/jobs/model.js').Command} */
  const command = { tag: 'program', val: ['true'] };
  jobs.start(id, { command, environment: [], stdin: '', graceMs: 0n, outputLimitBytes: 4096n });
  await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
}

/** @param {Component} component */
function create(component) {
  const created = component.message(context(), request('tools/call', { name: 'run', arguments: { command: 'true' } }));
  return JSON.parse(created.tag === 'reply' ? created.val : '{}').result.taskId;
}

const directory = mkdtempSync(join(tmpdir(), 'backburner-measure-'));
const names = ['component.js', ...JSON.parse(readFileSync(new URL('modules.json', server), 'utf8'))];
const bytes = names.map((name) => statSync(new URL(name, server)).size);
console.log(`transpiled: ${bytes[0]} bytes of JavaScript, ${bytes.slice(1).reduce((a, b) => a + b)} of core modules`);

const code = await loadServer();
const jobs = new FunctionJobs({ async true() {} });
const parts = { code, jobs, config: { directLimitMs: 0 } };
await measure('load and compile', 9, loadServer);
await measure('a new instance', 99, () => instantiate(code, new MemoryStore(), jobs));
for (const [name, store] of /** @type {const} */ ([
  ['in memory', new MemoryStore()],
  ['in SQLite', new SqliteStore(join(directory, 'node.db'))],
])) {
  const component = new Component({ ...parts, store });
  const taskId = create(component);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const get = request('tasks/get', { taskId });
  await measure(`\`tools/list\`, store ${name}`, 5000, () => component.message(context(), request('tools/list')));
  await measure(`\`tasks/get\`, store ${name}`, 5000, () => component.message(context(), get));
  await measure(`\`tools/call\` to a task, store ${name}`, 500, () => create(component));
}
await measure('a job as a process, start to end', 15, () => runJob(new ProcessJobs(join(directory, 'jobs'))));
await measure('process start to the first reply and the end', 15, () => firstReply(directory));
rmSync(directory, { recursive: true, force: true });
