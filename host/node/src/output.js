/** Messages to a client over a stream, one a line. */

import { LONGEST_TIMER, PIECE, UNTAKEN_PATIENCE } from './limits.js';

/** @import { Writable } from 'node:stream' */

/**
 * Knows whether the client takes what is written; what a message says, and who wants to send one, it does not know.
 */
export class Output {
  #stream;
  #untakenPatience;
  /** Pieces of messages for which the stream has no room yet. @type {Buffer[]} */
  #unsent = [];
  /** How many pieces the client has not taken, those among them. */
  #untaken = 0;
  /** Called when a piece has been taken, or nobody takes any more. */
  #taken = () => {};
  /** @type {PromiseWithResolvers | undefined} */
  #waiting;
  /**
   * Whether nobody takes anything any more. The stream need not know: that of a process is not destroyed by a failed
   * write.
   */
  #isBroken = false;
  /** Whether nobody waits any more for what has not been taken. */
  #isGivenUp = false;
  /** Whether nobody waits for room any more. */
  isClosed = false;

  /**
   * @param {Writable} stream
   * @param {number} [untakenPatience] how long nothing may be taken until `flushed` gives up, in milliseconds, and 24
   *   days at most
   */
  constructor(stream, untakenPatience = UNTAKEN_PATIENCE) {
    this.#stream = stream;
    this.#untakenPatience = Math.min(untakenPatience, LONGEST_TIMER);
    stream.on('drain', () => this.#write());
    for (const event of ['error', 'close']) stream.on(event, () => this.#break());
  }

  /**
   * Sends a message, however much the client has not taken yet: whoever sends asks for `room` first. Where nobody takes
   * anything any more, it is dropped.
   *
   * @param {string} message
   */
  send(message) {
    if (this.#isBroken) return;
    const line = Buffer.from(`${message}\n`);
    for (let start = 0; start < line.length; start += PIECE) this.#unsent.push(line.subarray(start, start + PIECE));
    this.#untaken += Math.ceil(line.length / PIECE);
    this.#write();
  }

  /**
   * What resolves when the client has taken what was sent, or takes nothing any more; `undefined` where there is room.
   *
   * @returns {Promise<void> | undefined}
   */
  room() {
    if (this.isClosed || !this.#isFull) return undefined;
    this.#waiting ??= withResolvers();
    return this.#waiting.promise;
  }

  /** Has nobody wait for room from now on: what is still sent is the last of it. */
  close() {
    this.isClosed = true;
    this.#release();
  }

  /** Has nobody wait for what has not been taken. */
  giveUp() {
    this.#isGivenUp = true;
    this.#taken();
  }

  /** Resolves when everything has been taken, nothing for too long, or whoever waits gives up. */
  async flushed() {
    for (let before = 0; !this.#isGivenUp && this.#untaken > 0 && this.#untaken !== before; ) {
      before = this.#untaken;
      await this.#nextTaken(this.#untakenPatience);
    }
  }

  /**
   * Resolves when a piece has been taken, nobody takes any more, or after so many milliseconds.
   *
   * @param {number} ms
   * @returns {Promise<void>}
   */
  #nextTaken(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#taken = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Whether the stream has no room: where nobody takes anything any more, it has. */
  get #isFull() {
    return !this.#isBroken && (this.#unsent.length > 0 || this.#stream.writableNeedDrain);
  }

  /** Gives the stream what it has room for. */
  #write() {
    while (!this.#stream.writableNeedDrain) {
      const piece = this.#unsent.shift();
      if (!piece) return this.#release();
      this.#stream.write(piece, () => {
        if (!this.#isBroken) this.#untaken -= 1;
        this.#taken();
      });
    }
  }

  /** Waits for nobody any more, and has nobody wait. */
  #break() {
    this.#isBroken = true;
    this.#unsent = [];
    this.#untaken = 0;
    this.#release();
    this.#taken();
  }

  #release() {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}

/** @typedef {{ promise: Promise<void>, resolve: () => void }} PromiseWithResolvers */

/**
 * `Promise.withResolvers`, which Node 22 has and the types that we check against have not.
 *
 * @returns {PromiseWithResolvers}
 */
function withResolvers() {
  let resolve = () => {};
  /** @type {Promise<void>} */
  const promise = new Promise((it) => (resolve = it));
  return { promise, resolve };
}
