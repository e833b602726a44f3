/** The page: a client and a server that talk to each other across one function call. */

import { Component, Connection, FunctionJobs, MemoryStore, loadServer } from './index.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'page', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What there is to run: `countdown N` says N numbers, two a second. */
const jobs = new FunctionJobs({
  async countdown({ words, signal, write }) {
    for (let left = Number(words[1] ?? 3); left > 0; left -= 1) {
      signal.throwIfAborted();
      write(`${left}\n`);
      await sleep(500);
    }
    write('lift-off\n');
  },
});

/** Replies that somebody waits for, by id. @type {Map<unknown, (reply: any) => void>} */
const expected = new Map();
let lastId = 0;

/** @param {string} id @returns {any} */
const element = (id) => document.getElementById(id);

/** @param {'sent' | 'received'} direction @param {string} message */
function show(direction, message) {
  const item = document.createElement('li');
  item.className = direction;
  item.textContent = message;
  element('log').append(item);
}

/** @param {string} message */
function receive(message) {
  show('received', message);
  const reply = JSON.parse(message);
  expected.get(reply.id)?.(reply);
  expected.delete(reply.id);
}

const component = new Component({
  code: await loadServer(),
  store: new MemoryStore(),
  jobs,
  config: { directLimitMs: 0 },
  log: console.error,
});
const connection = new Connection({ component, endings: jobs, principal: 'page', send: receive });

/** @param {string} message */
function send(message) {
  show('sent', message);
  connection.receive(message);
}

/** @param {string} method @param {object} params @returns {Promise<any>} the result */
async function request(method, params) {
  lastId += 1;
  const message = { jsonrpc: '2.0', id: lastId, method, params: { ...params, _meta: META } };
  const reply = await new Promise((resolve) => {
    expected.set(lastId, resolve);
    send(JSON.stringify(message));
  });
  if (reply.error) throw new Error(reply.error.message);
  return reply.result;
}

async function run() {
  let task = await request('tools/call', { name: 'run', arguments: { command: 'countdown 3' } });
  while (task.status === 'working') {
    element('status').value = `${task.status}: ${task.statusMessage}`;
    await sleep(500);
    task = await request('tasks/get', { taskId: task.taskId });
  }
  element('status').value = `${task.status}: ${task.statusMessage}`;
}

const example = { jsonrpc: '2.0', id: 'mine', method: 'tools/list', params: { _meta: META } };
element('message').value = JSON.stringify(example);
element('run').addEventListener('click', run);
element('form').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  send(element('message').value.replaceAll('\n', ' '));
});
for (const button of document.querySelectorAll('button')) button.disabled = false;
element('status').value = 'ready';
