/**
 * A stdio transport that shows every message to two parties: to the SDK's client, which does not know Tasks, and to
 * the Tasks package, which sends requests of its own past it. It also checks what the server says.
 */

import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { misshapen } from '../shapes.js';

/** @import { JSONRPCMessage, Transport } from '@modelcontextprotocol/client' */
/** @import { DispatchOptions, JsonRpcResponse } from '@modelcontextprotocol/ext-tasks/client' */
/** @typedef {{ resolve: (response: JsonRpcResponse) => void, reject: (error: Error) => void }} Waiting */

/** How long a message may take that has to come. Less than a test may take, so that the test can say what came. */
const PATIENCE_MS = 30_000;

/** @implements {Transport} */
export class Wire {
  /** @type {(() => void) | undefined} */
  onclose;
  /** @type {((error: Error) => void) | undefined} */
  onerror;
  /** @type {((message: any) => void) | undefined} */
  onmessage;

  /** What the server said and should not have said. @type {string[]} */
  problems = [];

  /** All that the server said. @type {any[]} */
  received = [];

  #stdio;
  /** The methods of the requests that are not answered. @type {Map<unknown, string>} */
  #methods = new Map();
  /** The requests of the Tasks package among them. @type {Map<unknown, Waiting>} */
  #waiting = new Map();
  #nextId = 0;
  /** @type {Set<{ isIt: (message: any) => boolean, resolve: (message: any) => void }>} */
  #watchers = new Set();

  /** @param {ConstructorParameters<typeof StdioClientTransport>[0]} server */
  constructor(server) {
    this.#stdio = new StdioClientTransport(server);
    this.#stdio.onmessage = (message) => this.#receive(message);
    this.#stdio.onerror = (error) => this.onerror?.(error);
    this.#stdio.onclose = () => this.#closed();
  }

  start() {
    return this.#stdio.start();
  }

  close() {
    return this.#stdio.close();
  }

  /** @param {JSONRPCMessage} message */
  send(message) {
    if ('method' in message && 'id' in message) this.#methods.set(message.id, message.method);
    return this.#stdio.send(message);
  }

  /**
   * Sends a request of the Tasks package. Its ids are text, and those of the client are numbers.
   *
   * @param {any} request
   * @param {DispatchOptions} [options]
   * @returns {Promise<JsonRpcResponse>}
   */
  async dispatch(request, options) {
    options?.signal?.throwIfAborted();
    const id = `tasks-${(this.#nextId += 1)}`;
    const response = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    options?.signal?.addEventListener('abort', () => this.#abandon(id, options.signal?.reason), { once: true });
    await this.send({ ...request, jsonrpc: '2.0', id });
    return response;
  }

  /** Waits for a message that has not come yet. @param {(message: any) => boolean} isIt @returns {Promise<any>} */
  next(isIt) {
    return new Promise((resolve, reject) => {
      this.#watchers.add({ isIt, resolve });
      const giveUp = () => reject(new Error(`the last that came is ${JSON.stringify(this.received.at(-1))}`));
      setTimeout(giveUp, PATIENCE_MS).unref();
    });
  }

  /** @param {string} id @param {Error} reason */
  #abandon(id, reason) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    waiting.reject(reason);
    const params = { requestId: id };
    this.#stdio.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {
      // Then the server has gone, and there is nothing to take back.
    });
  }

  /** @param {any} message */
  #receive(message) {
    const problem = misshapen(message, this.#methods.get(message.id));
    if (problem) this.problems.push(problem);
    this.received.push(message);
    for (const watcher of this.#watchers) {
      if (watcher.isIt(message) && this.#watchers.delete(watcher)) watcher.resolve(message);
    }
    this.#methods.delete(message.id);
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return this.onmessage?.(message);
    this.#waiting.delete(message.id);
    const { error, result } = message;
    waiting.resolve(error === undefined ? { kind: 'result', result } : { kind: 'error', error });
  }

  #closed() {
    for (const { reject } of this.#waiting.values()) reject(new Error('the server has gone'));
    this.#waiting.clear();
    this.onclose?.();
  }
}
