/**
 * What a job asks and is answered, as files in `questions/`, a directory in that of the job. No server and no
 * supervisor has a part in it.
 *
 * | name | what it is |
 * |---|---|
 * | `KEY.asked` | what is asked, and since when |
 * | `KEY.wake` | a FIFO that the asker reads as long as it lives; a byte in it makes it look for an answer |
 * | `KEY.answer` | the answer: made in one step, the first one stays |
 *
 * A question is open as long as it is asked and not answered, and its asker lives: that is the FIFO, and never a
 * process id. Any process of the job may have written anything here, and what is damaged is no question.
 */

import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { FORM_BYTES, OPEN_QUESTIONS, WRITTEN_ANSWER_BYTES, WRITTEN_FORM_BYTES } from '../limits.js';
import { isWithin } from './contract.js';
import { codeOf, isRead, makeFifos, syncDirectory, wake, whenWoken } from './files.js';
import { encode, readRecord } from './model.js';

/** @typedef {{ key: string, form: string, askedAt: number }} Question */

/**
 * The open questions of a job, oldest first.
 *
 * @param {string} job its directory
 */
export function openQuestions(job) {
  const directory = directoryOf(job);
  /** @type {Question[]} */
  const open = [];
  for (const key of keys(directory)) {
    const question = openQuestion(directory, key);
    if (question) open.push(question);
    if (open.length === OPEN_QUESTIONS) break;
  }
  return open;
}

/**
 * Answers a question of a job, power-safe on return, and wakes its asker. One that is not open is left as it is.
 *
 * @param {string} job its directory
 * @param {string} key
 * @param {string} answer
 */
export function answerQuestion(job, key, answer) {
  const directory = directoryOf(job);
  if (!isKey(key) || !openQuestion(directory, key)) return;
  conclude(directory, key, answer);
  wake(join(directory, `${key}.wake`));
}

/**
 * A question of this process, which is one of the job. It is withdrawn with `withdraw`, and by the end of the process.
 */
export class Asker {
  #directory;
  #key = newKey();
  #look = () => {};
  #stopListening = () => {};

  /**
   * Asks.
   *
   * @param {string} job its directory
   * @param {string} form
   */
  constructor(job, form) {
    const length = Buffer.byteLength(form);
    if (length > FORM_BYTES) throw new Error(`a question may have ${FORM_BYTES} bytes, and it has ${length}`);
    this.#directory = directoryOf(job);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    tidy(this.#directory);
    if (openQuestions(job).length >= OPEN_QUESTIONS) {
      throw new Error(`this job asks ${OPEN_QUESTIONS} other questions: wait until one of them is answered`);
    }
    try {
      this.#publish(form);
    } catch (error) {
      this.withdraw();
      throw error;
    }
  }

  /** Waits for the answer. @returns {Promise<string>} */
  answered() {
    return new Promise((resolve, reject) => {
      this.#look = () => {
        try {
          const answer = this.#answer();
          if (answer !== undefined) resolve(answer);
        } catch (error) {
          reject(error);
        }
      };
      this.#look();
    });
  }

  /**
   * Answers it itself, and gives the answer in force: another one where somebody was quicker.
   *
   * @param {string} answer
   */
  conclude(answer) {
    conclude(this.#directory, this.#key, answer);
    return this.#answer() ?? answer;
  }

  withdraw() {
    remove(this.#directory, this.#key);
    this.#stopListening();
  }

  /** @param {string} form */
  #publish(form) {
    // Listens first: what is asked and has no listener is withdrawn.
    makeFifos(this.#file('wake'));
    this.#stopListening = whenWoken(this.#file('wake'), () => this.#look());
    writeFileSync(this.#file('draft'), encode({ form, askedAt: Date.now() }), { mode: 0o600 });
    renameSync(this.#file('draft'), this.#file('asked'));
  }

  #answer() {
    if (!existsSync(this.#file('answer'))) return undefined;
    const answer = readRecord(this.#file('answer'), WRITTEN_ANSWER_BYTES)?.answer;
    if (typeof answer !== 'string') throw new Error('the answer was damaged');
    return answer;
  }

  /** @param {string} what */
  #file(what) {
    return join(this.#directory, `${this.#key}.${what}`);
  }
}

/** @param {string} job */
const directoryOf = (job) => join(job, 'questions');

/**
 * The keys of what was asked, in the order of their times.
 *
 * @param {string} directory
 */
function keys(directory) {
  const asked = namesIn(directory).filter((name) => name.endsWith('.asked'));
  const found = asked.map((name) => name.slice(0, -'.asked'.length));
  return found.filter(isKey).sort();
}

/**
 * What is in a directory; nothing where there is none, or the job put something else in its place.
 *
 * @param {string} directory
 */
function namesIn(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * In this order: an asker that withdraws takes away the question first and the answer last, so that none looks
 * unanswered meanwhile.
 *
 * @param {string} directory
 * @param {string} key
 * @returns {Question | undefined}
 */
function openQuestion(directory, key) {
  const path = join(directory, key);
  const { form, askedAt } = readRecord(`${path}.asked`, WRITTEN_FORM_BYTES) ?? {};
  if (typeof form !== 'string' || Buffer.byteLength(form) > FORM_BYTES || !isWithin(askedAt)) return undefined;
  if (existsSync(`${path}.answer`)) {
    // Who answered it may have ended before it woke the asker.
    wake(`${path}.wake`);
    return undefined;
  }
  return isRead(`${path}.wake`) ? { key, form, askedAt } : undefined;
}

/**
 * Writes an answer, unless there is one by now.
 *
 * @param {string} directory
 * @param {string} key
 * @param {string} answer
 */
function conclude(directory, key, answer) {
  const draft = join(directory, `draft-${crypto.randomUUID()}`);
  try {
    writeFileSync(draft, encode({ answer }), { mode: 0o600, flush: true });
    linkSync(draft, join(directory, `${key}.answer`));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  syncDirectory(directory);
}

/**
 * Deletes what askers left that were killed: as long as one lives, what it asked has a listener.
 *
 * @param {string} directory
 */
function tidy(directory) {
  for (const key of keys(directory)) if (!isRead(join(directory, `${key}.wake`))) remove(directory, key);
}

/** @param {string} directory @param {string} key */
function remove(directory, key) {
  for (const what of ['asked', 'draft', 'wake', 'answer']) rmSync(join(directory, `${key}.${what}`), { force: true });
}

/** A key that sorts by its time. A job does not outlive the boot, so none comes twice. */
function newKey() {
  return `${process.hrtime.bigint().toString(36).padStart(13, '0')}-${process.pid}`;
}

/** Whether this is a key, and so leads to no other file. @param {string} text */
function isKey(text) {
  return /^[a-z0-9-]{1,64}$/.test(text);
}
