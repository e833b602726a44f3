/** What the host does around the component: traps, configuration, WASI, and jobs that are functions. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { WASIShim } from '@bytecodealliance/preview2-shim/instantiation';

import { Component, Connection, FunctionJobs, MemoryStore, loadServer } from '../src/index.js';
import { CALLS_PER_INSTANCE } from '../src/limits.js';
import { wasi } from '../src/wasi.js';
import { meta } from './client.js';
import { eventually } from './support.js';

const code = await loadServer();
const context = () => ({ now: BigInt(Date.now()), principal: 'somebody' });

/** @param {number} id @param {string} method @param {object} params @param {import('./client.js').Kind} client */
const request = (id, method, params, client = 'tasks') =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta(client) } });

/** @param {number} id @param {string} command @param {object} rest */
const call = (id, command, rest = {}) =>
  request(id, 'tools/call', { name: 'run', arguments: { command, ...rest } });

/**
 * A client and a server in this process.
 *
 * @param {ConstructorParameters<typeof FunctionJobs>[0]} functions
 */
function connect(functions) {
  const jobs = new FunctionJobs(functions);
  const component = new Component({ code, store: new MemoryStore(), jobs, config: { directLimitMs: 0 } });
  /** @type {any[]} */
  const received = [];
  const send = (/** @type {string} */ message) => received.push(JSON.parse(message));
  const connection = new Connection({ component, endings: jobs, principal: 'somebody', send });
  const ask = (/** @type {string} */ message) => {
    connection.receive(message);
    return eventually('a reply', () => received.shift());
  };
  const ended = (/** @type {string} */ taskId) =>
    eventually('the end of the task', async () => {
      const { result } = await ask(request(1, 'tasks/get', { taskId }));
      return result.status === 'working' ? undefined : result;
    });
  return { ask, ended, connection };
}

test('an instance that traps is dropped, its request answered, and the next one served', () => {
  const store = new MemoryStore();
  let isBroken = true;
  store.commit = (changes) => {
    if (isBroken) throw new RangeError('a mistake of the host');
    MemoryStore.prototype.commit.call(store, changes);
  };
  /** @type {string[]} */
  const log = [];
  const jobs = new FunctionJobs({ async echo() {} });
  const component = new Component({ code, store, jobs, log: (text) => log.push(text) });
  const refused = component.message(context(), call(7, 'echo'));
  assert.equal(refused.tag, 'reply');
  assert.match(refused.tag === 'reply' ? refused.val : '', /"id":7.*"error".*-32603/);
  assert.match(log.join(), /a mistake of the host/);
  isBroken = false;
  assert.notEqual(component.message(context(), call(8, 'echo')).tag, 'nothing');
});

test('what the jobs of an embedder wait for at a terminal is asked, and typed', async () => {
  const functions = new FunctionJobs({
    async read({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });
  /** @type {any[]} */
  const typed = [];
  const jobs = {
    start: (/** @type {string} */ id, /** @type {any} */ spec) => functions.start(id, { ...spec, interactive: false }),
    stop: functions.stop.bind(functions),
    read: functions.read.bind(functions),
    answer: functions.answer.bind(functions),
    forget: functions.forget.bind(functions),
    inspect: (/** @type {string} */ id) => {
      const state = functions.inspect(id);
      if (state.tag !== 'running' || typed.length > 0) return state;
      const prompt = { key: 'p1', text: 'Which branch?', hidden: false, askedAt: state.val.startedAt };
      return { tag: state.tag, val: { ...state.val, prompt } };
    },
    enter: (/** @type {any[]} */ ...line) => void typed.push(line),
  };
  const config = { directLimitMs: 0, terminals: true };
  const component = new Component({ code, store: new MemoryStore(), jobs, config });
  const result = (/** @type {string} */ method, /** @type {object} */ params) => {
    const outcome = component.message(context(), request(1, method, params, 'person'));
    assert.ok(outcome.tag === 'reply');
    return JSON.parse(outcome.val).result;
  };
  const { taskId } = result('tools/call', { name: 'run', arguments: { command: 'read', interactive: true } });
  const asked = result('tasks/get', { taskId });
  assert.equal(asked.status, 'input_required');
  const key = Object.keys(asked.inputRequests).join();
  assert.equal(asked.inputRequests[key].params.message, 'Which branch?');
  const inputResponses = { [key]: { action: 'accept', content: { answer: 'main' } } };
  result('tasks/update', { taskId, inputResponses });
  assert.deepEqual(typed, [[taskId, 'p1', 'main']]);
  result('tasks/cancel', { taskId });
});

test('a configuration that is wrong is refused with the member that is', () => {
  const parts = { code, store: new MemoryStore(), jobs: new FunctionJobs({}) };
  assert.throws(() => new Component({ ...parts, config: { graceMs: -1 } }), { name: 'ConfigError', at: '/graceMs' });
  assert.throws(() => new Component({ ...parts, config: { nothing: 1 } }), /^ConfigError: \/nothing: /);
  const schema = { type: 'object', properties: { n: { minimum: '1' } } };
  const tools = [{ name: 't', description: 'd', shell: 'true', inputSchema: schema }];
  const wrong = { at: '/tools/0/inputSchema/properties/n/minimum' };
  assert.throws(() => new Component({ ...parts, config: { tools } }), wrong);
});

test('instances are replaced after some calls, and nobody notices', () => {
  let instances = 0;
  const counted = {
    ...code,
    /** @type {typeof code.instantiate} */
    instantiate: (modules, imports) => {
      instances += 1;
      return code.instantiate(modules, imports);
    },
  };
  const component = new Component({ code: counted, store: new MemoryStore(), jobs: new FunctionJobs({}) });
  for (let id = 0; id < 2.5 * CALLS_PER_INSTANCE; id += 1) {
    assert.equal(component.message(context(), request(id, 'tools/list', {})).tag, 'reply');
  }
  assert.equal(instances, 3);
});

test('preview2-shim can stand in for our own WASI', () => {
  const shim = new WASIShim().getImportObject();
  for (const name of Object.keys(wasi)) assert.ok(name in shim, name);
  const jobs = new FunctionJobs({});
  const withShim = {
    ...code,
    /** @type {typeof code.instantiate} */
    instantiate: (modules, imports) => code.instantiate(modules, { ...imports, ...shim }),
  };
  const component = new Component({ code: withShim, store: new MemoryStore(), jobs });
  assert.equal(component.message(context(), call(1, 'nothing')).tag, 'wait');
});

test('a function is a job: its output, its exit code, its input', async () => {
  const { ask, ended } = connect({
    async shout({ words, stdin, write }) {
      write(`${words.slice(1).join(' ').toUpperCase()} ${stdin}`);
      return 3;
    },
  });
  const { result } = await ask(call(1, 'shout it out', { stdin: 'now' }));
  const task = await ended(result.taskId);
  assert.equal(task.result.structuredContent.exitCode, 3);
  assert.match(task.result.content[0].text, /IT OUT now/);
});

test('a function that fails says why, and one that there is not was never started', async () => {
  const { ask, ended } = connect({
    async fail() {
      throw new Error('out of luck');
    },
  });
  const failed = await ended((await ask(call(1, 'fail'))).result.taskId);
  assert.match(failed.result.content[0].text, /exit code 1[^]*out of luck/);
  const absent = await ended((await ask(call(1, 'absent'))).result.taskId);
  assert.match(absent.result.content[0].text, /could not be started[^]*absent/);
});

test('a function that is asked to stop is cancelled when it has ended, and not before', async () => {
  /** @type {() => void} */
  let finish = () => undefined;
  const { ask, ended } = connect({
    async wait({ signal }) {
      await new Promise((resolve) => (finish = () => resolve(undefined)));
      signal.throwIfAborted();
    },
  });
  const { taskId } = (await ask(call(1, 'wait'))).result;
  await ask(request(2, 'tasks/cancel', { taskId }));
  assert.equal((await ask(request(3, 'tasks/get', { taskId }))).result.status, 'working');
  finish();
  assert.equal((await ended(taskId)).status, 'cancelled');
});

test('of much output the beginning and the end are kept', async () => {
  const jobs = new FunctionJobs({
    async count({ write }) {
      for (let number = 0; number < 100; number += 1) write(`${String(number).padStart(9)}\n`);
    },
  });
  const id = crypto.randomUUID();
  const command = /** @type {const} */ ({ tag: 'shell', val: 'count' });
  jobs.start(id, { command, environment: [], stdin: '', interactive: false, graceMs: 0n, outputLimitBytes: 100n });
  await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
  const state = jobs.inspect(id);
  assert.ok(state.tag === 'ended');
  assert.equal(state.val.outputBytes, 1000n);
  assert.equal(state.val.droppedBytes, 900n);
  const fragments = jobs.read(id, 0n, 1000);
  const text = fragments.map(({ bytes }) => new TextDecoder().decode(bytes)).join('');
  assert.match(text, /^ +0\n[^]* +4\n +95\n[^]* +99\n$/);
  assert.equal(fragments.find(({ offset }) => offset >= 50n)?.offset, 950n);
});

test('what a function writes when its job has ended is not of the job', async () => {
  /** @type {(text: string) => void} */
  let write = () => undefined;
  const jobs = new FunctionJobs({
    async talk(call) {
      write = call.write;
      write('in time');
    },
  });
  const id = crypto.randomUUID();
  const command = /** @type {const} */ ({ tag: 'shell', val: 'talk' });
  jobs.start(id, { command, environment: [], stdin: '', interactive: false, graceMs: 0n, outputLimitBytes: 100n });
  await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
  write(', and late');
  const state = jobs.inspect(id);
  assert.ok(state.tag === 'ended' && state.val.outputBytes === 7n);
  assert.equal(jobs.read(id, 0n, 100).map(({ bytes }) => new TextDecoder().decode(bytes)).join(''), 'in time');
});
