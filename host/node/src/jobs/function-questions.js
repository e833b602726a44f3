/** What the function of a job asks and says of itself, in memory. Good for browsers. */

import { ANSWER_BYTES, FORM_BYTES, OPEN_QUESTIONS, REPORT_BYTES } from '../limits.js';

/** @import * as wit from '#server/interfaces/backburner-server-jobs.js' */
/**
 * @typedef {object} Open
 * @property {wit.Question} question
 * @property {(answer: string) => void} resolve
 */

/**
 * How many questions were ever asked here, of which keys are made: so that no two of this process or page are the same.
 */
let asked = 0;

/** The questions of one job. */
export class Questions {
  /** By their keys, oldest first. @type {Map<string, Open>} */
  #open = new Map();
  #isClosed = false;

  /** Takes back what is asked: nobody answers that any more, nor what is asked later. */
  close() {
    this.#isClosed = true;
    this.#open.clear();
  }

  /**
   * Asks, and waits for the answer, which never comes where the questions are closed before. It is not rejected then: a
   * function may have made other promises of it that nobody looks at, and in Node their rejection would end the server.
   *
   * @param {string} form
   * @returns {Promise<string>}
   */
  ask(form) {
    /** @type {Promise<string>} */
    const answered = new Promise((resolve) => {
      if (typeof form !== 'string') throw new TypeError('a question is a form, as text');
      if (bytesOf(form).length > FORM_BYTES) throw new Error(`a question may have ${FORM_BYTES} bytes`);
      if (this.#isClosed) return;
      if (this.#open.size >= OPEN_QUESTIONS) {
        throw new Error(`this job asks ${OPEN_QUESTIONS} other questions: wait until one of them is answered`);
      }
      asked += 1;
      const key = `q${asked}`;
      this.#open.set(key, { question: { key, form, askedAt: BigInt(Date.now()) }, resolve });
    });
    // A function may end without having looked at why it was refused.
    answered.catch(() => undefined);
    return answered;
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
  if (percent !== undefined && (typeof percent !== 'number' || Number.isNaN(percent))) {
    throw new TypeError('a percentage is a number from 0 to 100');
  }
  const bounded = percent === undefined ? undefined : Math.trunc(Math.min(Math.max(percent, 0), 100));
  // Without half a character at its end.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const words = decoder.decode(bytesOf(text).subarray(0, REPORT_BYTES), { stream: true });
  return { percent: bounded, text: words, at: BigInt(Date.now()) };
}

/** @param {string} text */
const bytesOf = (text) => new TextEncoder().encode(text);
