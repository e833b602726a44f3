/** What the function of a job asks and says of itself, in memory. Good for browsers. */

import { ANSWER_BYTES, FORM_BYTES, OPEN_QUESTIONS, REPORT_BYTES } from '../limits.js';

/** @import * as wit from '#server/interfaces/backburner-server-jobs.js' */
/**
 * @typedef {object} Open
 * @property {wit.Question} question
 * @property {(answer: string) => void} resolve
 * @property {(why: unknown) => void} reject
 */

/**
 * How many questions were ever asked here, of which keys are made: so that no two of this process or page are the same.
 */
let asked = 0;

/** The questions of one job. */
export class Questions {
  /** By their keys, oldest first. @type {Map<string, Open>} */
  #open = new Map();
  /** Why nothing is asked any more. @type {{ why: unknown } | undefined} */
  #closed;

  /** Takes back what is asked, and refuses what would be asked later. @param {unknown} why */
  close(why) {
    this.#closed ??= { why };
    for (const { reject } of this.#open.values()) reject(why);
    this.#open.clear();
  }

  /**
   * Asks, and waits for the answer; rejected where the questions are closed.
   *
   * @param {string} form
   * @returns {Promise<string>}
   */
  ask(form) {
    /** @type {Promise<string>} */
    const answered = new Promise((resolve, reject) => {
      if (this.#closed) throw this.#closed.why;
      if (typeof form !== 'string') throw new TypeError('a question is a form, as text');
      if (bytesOf(form).length > FORM_BYTES) throw new Error(`a question may have ${FORM_BYTES} bytes`);
      if (this.#open.size >= OPEN_QUESTIONS) {
        throw new Error(`this job asks ${OPEN_QUESTIONS} other questions: wait until one of them is answered`);
      }
      asked += 1;
      const key = `q${asked}`;
      this.#open.set(key, { question: { key, form, askedAt: BigInt(Date.now()) }, resolve, reject });
    });
    // A function may end without it, and in Node a rejection that nobody looks at would end the server.
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
