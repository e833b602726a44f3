/** A client of the stdio server, for tests: a child process that is spoken to over its standard streams. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { NODE_OPTIONS, eventually } from './support.js';

export const BIN = fileURLToPath(new URL('../bin/backburner-node.js', import.meta.url));
const VERSION = '2026-07-28';

/** A client that has the Tasks extension, the same with a person who can be asked, or one that has nothing. */
/** @typedef {'tasks' | 'person' | 'plain'} Kind */

/** The `_meta` of a client. @param {Kind} client */
export function meta(client) {
  const extensions = { 'io.modelcontextprotocol/tasks': {} };
  const capabilities = { tasks: { extensions }, person: { extensions, elicitation: {} }, plain: {} };
  return {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': capabilities[client],
  };
}

/** A running server. It is killed after the test; its jobs are stopped with `cancel` by whoever started them. */
export class Client {
  #nextId = 0;
  /** @type {any[]} */
  #received = [];
  #ended;

  /**
   * @param {import('node:test').TestContext} cx
   * @param {string} dataDir
   * @param {string[]} options
   * @param {string[]} launcher what executes the server: a program and its first arguments
   * @param {string} script the server
   */
  constructor(cx, dataDir, options = ['--direct-limit', '0'], launcher = [process.execPath], script = BIN) {
    const [program = '', ...first] = launcher;
    this.child = spawn(program, [...first, ...NODE_OPTIONS, script, '--data-dir', dataDir, ...options], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.stderr = '';
    this.child.stderr.on('data', (text) => (this.stderr += text));
    this.lines = createInterface({ input: this.child.stdout });
    this.lines.on('line', (line) => this.#received.push(JSON.parse(line)));
    this.#ended = new Promise((resolve) => this.child.on('close', (code, signal) => resolve(code ?? signal)));
    cx.after(() => this.child.kill('SIGKILL'));
  }

  /** @param {string | Buffer} bytes without a line break */
  sendRaw(bytes) {
    this.child.stdin.write(bytes);
    this.child.stdin.write('\n');
  }

  /**
   * Sends a request, and gives its id.
   *
   * @param {string} method
   * @param {object} params
   * @param {Kind} client
   */
  post(method, params = {}, client = 'tasks') {
    this.#nextId += 1;
    const request = { jsonrpc: '2.0', id: this.#nextId, method, params: { ...params, _meta: meta(client) } };
    this.sendRaw(JSON.stringify(request));
    return this.#nextId;
  }

  /** The message with this id, `null` for one that has none. @param {number | null} id @returns {Promise<any>} */
  reply(id) {
    return eventually(`the reply to ${id}: ${this.stderr}`, () => {
      const index = this.#received.findIndex((message) => (message.id ?? null) === id);
      return index < 0 ? undefined : this.#received.splice(index, 1)[0];
    });
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {Kind} client
   */
  async result(method, params = {}, client = 'tasks') {
    const reply = await this.reply(this.post(method, params, client));
    assert.ok(reply.result, `${method} failed: ${JSON.stringify(reply)}`);
    return reply.result;
  }

  /** Starts a job, and gives its task's id. @param {string} command @param {object} rest */
  async run(command, rest = {}) {
    const { taskId } = await this.result('tools/call', { name: 'run', arguments: { command, ...rest } });
    assert.ok(taskId);
    return taskId;
  }

  /** Polls a task to its end. @param {string} taskId */
  endedTask(taskId) {
    return eventually(`the end of ${taskId}`, async () => {
      const task = await this.result('tasks/get', { taskId });
      return task.status === 'working' ? undefined : task;
    });
  }

  /** Closes its input, as a client does that goes away, and gives its exit code. */
  close() {
    this.child.stdin.end();
    return this.#ended;
  }

  /** Waits until it has ended by itself, and gives its exit code. */
  get ended() {
    return this.#ended;
  }

  /** Kills it, and waits until it is gone. */
  kill() {
    this.child.kill('SIGKILL');
    return this.#ended;
  }

  /** What has been received and nobody has asked for. */
  get unread() {
    return this.#received;
  }
}
