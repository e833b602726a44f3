/** Messages to a client over a stream, one a line. */

/** @import { Writable } from 'node:stream' */

/**
 * Knows whether the client takes what is written; what a message says, and who wants to send one, it does not know.
 */
export class Output {
  #stream;
  /** @type {PromiseWithResolvers | undefined} */
  #waiting;
  /** Whether nobody waits for room any more. */
  isClosed = false;

  /** @param {Writable} stream */
  constructor(stream) {
    this.#stream = stream;
    for (const event of ['drain', 'error', 'close']) stream.on(event, () => this.#release());
  }

  /**
   * Sends a message, however much the client has not taken yet: whoever sends asks for `room` first.
   *
   * @param {string} message
   */
  send(message) {
    this.#stream.write(`${message}\n`);
  }

  /**
   * What resolves when the client has taken what was sent, or takes nothing any more; `undefined` where there is room.
   *
   * @returns {Promise<void> | undefined}
   */
  room() {
    if (this.isClosed || !this.#stream.writableNeedDrain) return undefined;
    this.#waiting ??= withResolvers();
    return this.#waiting.promise;
  }

  /** Has nobody wait for room from now on: what is still sent is the last of it. */
  close() {
    this.isClosed = true;
    this.#release();
  }

  /**
   * Resolves when everything has been taken, when nobody takes it any more, or after so many milliseconds.
   *
   * @param {number} ms
   * @returns {Promise<void>}
   */
  flushed(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stream.write('', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #release() {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}

/** @typedef {{ promise: Promise<void>, resolve: () => void }} PromiseWithResolvers */

/** `Promise.withResolvers`, which Node 22 has and the types that we check against have not. @returns {PromiseWithResolvers} */
function withResolvers() {
  let resolve = () => {};
  /** @type {Promise<void>} */
  const promise = new Promise((it) => (resolve = it));
  return { promise, resolve };
}
