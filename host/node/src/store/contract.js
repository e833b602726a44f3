/** What every store has to refuse or compute alike. Pure, and good for browsers. */

import { CHANGES, KEY_BYTES, VALUE_BYTES } from '../limits.js';
import { WitError } from '../wit-error.js';

/** @import { Change, ErrorKind, Expectation } from '#server/interfaces/backburner-server-store.js' */

/**
 * An error as the WIT has it.
 *
 * @param {ErrorKind} kind
 * @param {string} detail names no value
 */
export const storeError = (kind, detail) => new WitError({ kind, detail });

/**
 * Refuses changes that break the contract whatever the state of the store is.
 *
 * @param {Change[]} changes
 */
export function checkChanges(changes) {
  if (changes.length > CHANGES) throw storeError('too-large', `a commit has more than ${CHANGES} changes`);
  const keys = new Set();
  for (const { tag, val } of changes) {
    checkKey(val.key);
    if (tag === 'put' && isLonger(val.value, VALUE_BYTES)) {
      throw storeError('too-large', `a value is longer than ${VALUE_BYTES} bytes`);
    }
    if (keys.has(val.key)) throw storeError('other', 'a commit names a key twice');
    keys.add(val.key);
  }
}

/** @param {string} key */
function checkKey(key) {
  if (isLonger(key, KEY_BYTES)) throw storeError('too-large', `a key is longer than ${KEY_BYTES} bytes`);
  if (key === '' || key.includes('\0')) throw storeError('other', 'a key is empty or contains NUL');
}

/**
 * Whether a text is longer than so many bytes of UTF-8, of which a unit of UTF-16 takes three at most.
 *
 * @param {string} text
 * @param {number} bytes
 */
function isLonger(text, bytes) {
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}

/**
 * Refuses a change whose expectation does not hold.
 *
 * @param {Change} change
 * @param {bigint | undefined} version of the key now
 */
export function checkExpectation({ val: { key, expect } }, version) {
  if (!isMet(expect, version)) throw storeError('conflict', `the key ${key} is not as expected`);
}

/**
 * @param {Expectation} expect
 * @param {bigint | undefined} version
 */
function isMet(expect, version) {
  if (expect.tag === 'anything') return true;
  return expect.tag === 'absent' ? version === undefined : version === expect.val;
}

/**
 * Orders texts by their bytes in UTF-8, which is the order of their code points. JavaScript's own order is that of
 * UTF-16, where what is beyond U+FFFF comes before U+E000.
 *
 * @param {string} a
 * @param {string} b
 */
export function compareKeys(a, b) {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/**
 * Where a unit of UTF-16 belongs: surrogates, which stand for what is beyond U+FFFF, after everything else.
 *
 * @param {number} unit
 */
function rank(unit) {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/**
 * The least text that is greater than every one that starts with `prefix`; `undefined` where there is none.
 *
 * @param {string} prefix
 */
export function endOfPrefix(prefix) {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = /** @type {number} */ (last.codePointAt(0));
    // The surrogates are no characters.
    const next = point === 0xd7ff ? 0xe000 : point + 1;
    if (next <= 0x10ffff) return points.join('') + String.fromCodePoint(next);
  }
  return undefined;
}
