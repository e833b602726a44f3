/** What the function of a job asks and says of itself, in memory. Good for browsers. */

import { ANSWER_BYTES, FORM_BYTES, OPEN_QUESTIONS, REPORT_BYTES } from '../limits.js';

/** @import * as wit from '#server/interfaces/backburner-server-jobs.js' */
/** @typedef {{ question: wit.Question, resolve: (answer: string) => void }} Open */

/**
 * How many questions were ever asked here, of which keys are made: so that no two of this process or page are the same.
 */
let asked = 0;

/** The questions of one job. */
export class Questions {
  #signal;
  /** By their keys, oldest first. @type {Map<string, Open>} */
  #open = new Map();

  /** @param {AbortSignal} signal aborted when the job is to stop: its questions go with it */
  constructor(signal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#open.clear());
  }

  /**
   * Asks, and waits for the answer; rejected where the job is to stop.
   *
   * @param {string} form
   * @returns {Promise<string>}
   */
  ask(form) {
    return new Promise((resolve, reject) => {
      this.#signal.throwIfAborted();
      if (bytesOf(form).length > FORM_BYTES) throw new Error(`a question may have ${FORM_BYTES} bytes`);
      if (this.#open.size >= OPEN_QUESTIONS) {
        throw new Error(`this job asks ${OPEN_QUESTIONS} other questions: wait until one of them is answered`);
      }
      asked += 1;
      const key = `q${asked}`;
      this.#open.set(key, { question: { key, form, askedAt: BigInt(Date.now()) }, resolve });
      this.#signal.addEventListener('abort', () => reject(this.#signal.reason));
    });
  }

  /**
   * Answers one; an answer to one that is not open changes nothing.
   *
   * @param {string} key
   * @param {string} answer
   */
  answer(key, answer) {
    this.#open.get(key)?.resolve(answer);
    this.#open.delete(key);
  }

  /** Those that are open. */
  all() {
    return [...this.#open.values()].map(({ question }) => question);
  }
}

/** Whether an answer is longer than the contract allows. @param {string} answer */
export const isTooLong = (answer) => bytesOf(answer).length > ANSWER_BYTES;

/**
 * What a job said of itself, as the contract has it: a whole percentage, and as much of the text as may be told.
 *
 * @param {{ percent?: number, text?: string }} said
 * @returns {wit.Report}
 */
export function reportOf({ percent, text = '' }) {
  const bounded = percent === undefined ? undefined : Math.trunc(Math.min(Math.max(percent, 0), 100));
  // Without half a character at its end.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const words = decoder.decode(bytesOf(text).subarray(0, REPORT_BYTES), { stream: true });
  return { percent: bounded, text: words, at: BigInt(Date.now()) };
}

/** @param {string} text */
const bytesOf = (text) => new TextEncoder().encode(text);
