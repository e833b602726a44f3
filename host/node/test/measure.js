/**
 * Measures what the component costs in Node: `npm run measure`, after a build, on a machine that does nothing else.
 *
 * The calls are those of `cargo bench -- component`, with the same payload. With `--quick` everything is done once,
 * which shows that it can be measured, and says nothing of the costs.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Component, FunctionJobs, MemoryStore, ProcessJobs, SqliteStore, loadServer } from '../src/index.js';
import { BIN, meta } from './client.js';
import { TRUE } from './job-bench.js';
import { NODE_OPTIONS } from './support.js';

/** @import { Store } from '../src/index.js' */

const server = new URL('../dist/server/', import.meta.url);
const isQuick = process.argv.includes('--quick');
const context = () => ({ now: BigInt(Date.now()), principal: 'somebody' });

/** What the job wrote whose task is read: 1 KiB with its line break. */
const OUTPUT = 'x'.repeat(1023);

/** @param {string} method @param {object} params */
const request = (method, params = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta('tasks') } });

/**
 * Does something often, and prints what it took: the median of the time that passed, which a busy machine makes longer,
 * and the mean of the processor time of this process with all its threads, which it hardly does.
 *
 * @param {string} what
 * @param {number} often
 * @param {() => unknown} action
 */
async function measure(what, often, action) {
  const count = isQuick ? 1 : often;
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

/** Prints what the build made of the component. What an engine makes of that in turn, it does not tell. */
function printSizes() {
  const names = ['component.js', ...JSON.parse(readFileSync(new URL('modules.json', server), 'utf8'))];
  const [script = 0, ...modules] = names.map((name) => statSync(new URL(name, server)).size);
  const code = modules.reduce((sum, bytes) => sum + bytes, 0);
  console.log(`transpiled: ${script + code} bytes, ${script} of JavaScript and ${code} of core modules\n`);
  console.log('| what | time, median | processor time, mean |\n|---|---|---|');
}

/** The reply to a message. @param {Component} component @param {string} message */
function ask(component, message) {
  const outcome = component.message(context(), message);
  assert.equal(outcome.tag, 'reply');
  return outcome.tag === 'reply' ? outcome.val : '';
}

/** Makes a task, and gives its id. @param {Component} component @param {string} command */
const create = (component, command) =>
  JSON.parse(ask(component, request('tools/call', { name: 'run', arguments: { command } }))).result.taskId;

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
  jobs.start(id, TRUE);
  await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
}

/** Asks the same, each time with the reply of the first one. @param {Component} component @param {string} message */
function repeated(component, message) {
  const { length } = ask(component, message);
  return () => assert.equal(ask(component, message).length, length);
}

/**
 * What has to do with tasks.
 *
 * @param {Component} component
 * @param {string} store
 */
async function measureCalls(component, store) {
  const taskId = create(component, `echo ${OUTPUT}`);
  // The function has ended when its promises have been kept.
  await new Promise((resolve) => setImmediate(resolve));
  const get = request('tasks/get', { taskId });
  const task = JSON.parse(ask(component, get)).result;
  assert.ok(task.status === 'completed' && task.result.content[0].text.includes(OUTPUT), JSON.stringify(task));
  await measure(`\`tasks/get\`, 1 KiB, store ${store}`, 5000, repeated(component, get));
  await measure(`\`tools/call\` that makes a task, store ${store}`, 500, () => create(component, 'true'));
}

/** @param {string} directory */
async function measureAll(directory) {
  const code = await loadServer();
  const jobs = new FunctionJobs({
    async echo({ words, write }) {
      write(`${words.slice(1).join(' ')}\n`);
    },
    async true() {},
  });
  const parts = { code, jobs, config: { directLimitMs: 0 } };
  const start = (/** @type {Store} */ store) => new Component({ ...parts, store });
  await measure('load and compile', 9, loadServer);
  // What the engine does once for all instances is in this one.
  await measure('the first instance, configured', 1, () => start(new MemoryStore()));
  await measure('a further instance, configured', 99, () => start(new MemoryStore()));
  const inMemory = start(new MemoryStore());
  await measure('`tools/list`, which reads no store', 5000, repeated(inMemory, request('tools/list')));
  await measureCalls(inMemory, 'in memory');
  await measureCalls(start(new SqliteStore(join(directory, 'node.db'))), 'in SQLite');
  await measure('a job as a process, start to end', 15, () => runJob(new ProcessJobs(join(directory, 'jobs'))));
  await measure('a server, from its start over the first reply to its end', 15, () => firstReply(directory));
}

const directory = mkdtempSync(join(tmpdir(), 'backburner-measure-'));
try {
  printSizes();
  await measureAll(directory);
} finally {
  rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
