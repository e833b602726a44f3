/**
 * A server of which nothing lasts, as a page has one: the component with a store in memory and functions as jobs. For
 * tests, in Node and in pages. What it runs is the vocabulary of the corpus of transcripts.
 */

import { Component, Connection, FunctionJobs, MemoryStore } from '../browser/index.js';
import { act } from './vocabulary.js';

/** @import { ServerCode } from '../src/types.js' */

/** The line that stands for a server's end and the begin of another one on the same data: no message is like it. */
export const REOPEN = '\u0004';

/** The only directory that there is: the server's own. */
const DIRECTORY = '/';

/** Servers for one client, one after the other, on the same data. */
export class InMemory {
  #parts;
  #send;
  #jobs = new FunctionJobs(act, { isDirectory: (path) => path === DIRECTORY });
  #store = new MemoryStore();
  #connection;

  /**
   * @param {{ code: ServerCode, config: object }} parts
   * @param {(message: string) => void} send
   */
  constructor(parts, send) {
    this.#parts = { ...parts, config: { ...parts.config, workingDirectory: DIRECTORY } };
    this.#send = send;
    this.#connection = this.#open();
  }

  /** @param {string} line a message, or `REOPEN` */
  receive(line) {
    if (line !== REOPEN) return this.#connection.receive(line);
    this.#connection.shutdown();
    this.#connection = this.#open();
  }

  /** Ends the server. */
  end() {
    this.#connection.shutdown();
  }

  #open() {
    const component = new Component({ ...this.#parts, store: this.#store, jobs: this.#jobs, log: console.error });
    return new Connection({ component, endings: this.#jobs, principal: 'user', send: this.#send });
  }
}
