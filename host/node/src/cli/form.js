/**
 * What a job asks, as the command line says it: the parameters of `elicitation/create`, and how their answer is
 * printed.
 *
 * *Source:* MCP 2026-07-28, Elicitation, Requested Schema.
 */

import { lasting, moment } from './duration.js';
import { WrongUsage } from './usage.js';

/** @typedef {{ name: string, schema: object, isRequired: boolean }} Field */
/**
 * @typedef {object} Options
 * @property {string} message
 * @property {string[]} kinds of a single field whose name nobody chose: at most one
 * @property {string[]} fields as `NAME[?]:TYPE[:TITLE]`
 * @property {boolean} isOptional
 * @property {string} [note] what is added to the message, see `untilWhen`
 */

/** How long a message may be, in characters, with what is added to it. What the component takes. */
const MESSAGE_CHARACTERS = 4000;

/** How many fields there may be. What the component takes. */
const FIELDS = 32;

/** The name of a single field, which nobody sees. */
const ONLY = 'answer';

/** What nobody sees. The component does not show what has it in a value, or nothing else in its message. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** The same without what joins the characters around it, as in some emoji. */
const HIDDEN_IN_VALUE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * A name that a person can say, and of which they see where it begins and ends: letters, digits, blanks between them
 * and punctuation of ASCII. Without `=`, behind which the native host's `answer` has the value.
 */
const NAME = /^(?! )(?:(?!\p{DI})[\p{Alphabetic}\p{N} !-<>-~]){1,100}(?<! )$/u;

/** The same in words. */
const NAMES =
  '1 to 100 letters, digits, blanks and other characters of ASCII, without `=`, ' +
  'which neither begins nor ends with a blank';

/** The types, and what the protocol calls them. */
const TYPES = new Map([
  ['boolean', 'boolean'],
  ['text', 'string'],
  ['number', 'number'],
  ['integer', 'integer'],
]);

/** The names of the types. */
export const KINDS = [...TYPES.keys()];

export class Form {
  #message;
  #fields;
  #hasOneValue;

  /** @param {Options} options */
  constructor({ message, kinds, fields, isOptional, note = '' }) {
    if (kinds.length + Math.min(fields.length, 1) > 1) throw new WrongUsage('ask for one kind of value, or for fields');
    const isRequired = !isOptional;
    const only = kinds.map((kind) => ({ name: ONLY, schema: { type: TYPES.get(kind) }, isRequired }));
    this.#hasOneValue = only.length > 0;
    this.#fields = [...only, ...fields.map((text) => named(text, isRequired))];
    if (new Set(this.#fields.map(({ name }) => name)).size < this.#fields.length) {
      throw new WrongUsage('a field is given twice');
    }
    if (fields.length > FIELDS) throw new WrongUsage(`give at most ${FIELDS} fields`);
    this.#message = message + note;
    if (isBlank(message) || [...this.#message].length > MESSAGE_CHARACTERS) throw wrongMessage([...note].length);
  }

  /** As JSON, with the fields in their order, which an object does not keep for names that are numbers. */
  get text() {
    const json = JSON.stringify;
    const properties = this.#fields.map(({ name, schema }) => `${json(name)}:${json(schema)}`);
    const required = this.#fields.filter((it) => it.isRequired).map(({ name }) => name);
    const schema = `{"type":"object","properties":{${properties}},"required":${json(required)}}`;
    return `{"message":${json(this.#message)},"requestedSchema":${schema}}`;
  }

  /**
   * The line that is printed of an answer's content, as `readAnswer` gives it; `undefined` where there is nothing to
   * print.
   *
   * @param {any} content
   * @param {boolean} asJson
   */
  printed(content, asJson) {
    const value = this.#hasOneValue ? (content?.[ONLY] ?? null) : (content ?? {});
    if (asJson || (!this.#hasOneValue && this.#fields.length > 0)) return JSON.stringify(value);
    if (!this.#hasOneValue) return undefined;
    if (typeof value === 'string') return value.replace(/\p{Cc}/gu, ' ');
    return value === null ? '' : JSON.stringify(value);
  }
}

/**
 * Reads an answer. Its numbers stay as they were written: as numbers of JavaScript `1.50` would be `1.5`, and of many
 * digits another one.
 *
 * @param {string} text JSON
 * @returns {any} what `JSON.stringify` writes as it was
 */
export function readAnswer(text) {
  // Neither is in the types that we check against.
  const { rawJSON } = /** @type {any} */ (JSON);
  /** @type {(text: string, revive: (name: string, value: unknown, cx: { source: string }) => unknown) => any} */
  const parse = /** @type {any} */ (JSON.parse);
  return parse(text, (_, value, { source }) => (typeof value === 'number' ? rawJSON(source) : value));
}

/**
 * @param {string} text
 * @param {boolean} isRequired
 * @returns {Field}
 */
function named(text, isRequired) {
  const [, name = '', mark, type = '', title] = /^([^:]*?)(\?)?:([^:]*)(?::(.*))?$/su.exec(text) ?? [];
  const choices = type.includes('|') ? type.split('|') : undefined;
  const known = choices ? 'string' : TYPES.get(type);
  if (!known || !areDistinct(choices ?? [])) {
    const types = `${KINDS.join(', ')} or different choices as a|b, and nothing in these that nobody sees`;
    throw new WrongUsage(`--field ${JSON.stringify(text)} is none: give NAME[?]:TYPE[:TITLE], with ${types}`);
  }
  if (!NAME.test(name)) throw new WrongUsage(`--field ${JSON.stringify(text)} needs a name of ${NAMES}`);
  return { name, schema: { type: known, ...listed(choices), title }, isRequired: isRequired && !mark };
}

/** Whether each has a value, as one can see, and no other has the same. @param {string[]} choices */
function areDistinct(choices) {
  const values = choices.map((choice) => choice.split('=', 1)[0] ?? '');
  const areSeen = !values.some((value) => isBlank(value) || HIDDEN_IN_VALUE.test(value));
  return areSeen && new Set(values).size === values.length;
}

/** Whether there is nothing to see. @param {string} text */
const isBlank = (text) => [...text].every((character) => character.trim() === '' || HIDDEN.test(character));

/** Choices of which some have a title, as `VALUE=TITLE`, or none. @param {string[] | undefined} choices */
function listed(choices) {
  if (!choices?.some((choice) => choice.includes('='))) return { enum: choices };
  const pairs = choices.map((choice) => /^(.*?)(?:=(.*))?$/su.exec(choice) ?? []);
  return { oneOf: pairs.map(([, value, title = value]) => ({ const: value, title })) };
}

/**
 * What is added to a message: a person who reads the question has to know until when, also where that is later.
 *
 * @param {number} deadlineMs how long somebody waits for the answer
 * @param {number} now in milliseconds since 1970
 */
export function untilWhen(deadlineMs, now) {
  const until = `${moment(now + deadlineMs)}, ${lasting(deadlineMs)} after this was asked`;
  return `\n(if nobody answers by ${until}, there is no answer)`;
}

/** @param {number} added */
function wrongMessage(added) {
  const room = `give a message of 1 to ${MESSAGE_CHARACTERS - added} characters`;
  return new WrongUsage(added ? `${room}: what --deadline adds to it takes ${added} of ${MESSAGE_CHARACTERS}` : room);
}
