/** A store that keeps nothing beyond its process or page. It promises the rest of the contract. */

import { SCAN_BYTES, SCAN_ENTRIES } from '../limits.js';
import { checkChanges, checkExpectation, compareKeys } from './contract.js';

/** @import { Change, Entry, Versioned } from '#server/interfaces/backburner-server-store.js' */

export class MemoryStore {
  /** @type {Map<string, Versioned>} */
  #entries = new Map();
  /** All keys in order. @type {string[]} */
  #keys = [];
  /** The version of the last commit; it only grows, so that no version comes back. */
  #sequence = 0n;

  /**
   * @param {string} key
   * @returns {Versioned | undefined}
   */
  get(key) {
    return this.#entries.get(key);
  }

  /**
   * @param {string} prefix
   * @param {string | undefined} after
   * @param {number} limit
   * @returns {Entry[]}
   */
  scan(prefix, after, limit) {
    const most = Math.min(Math.max(limit, 1), SCAN_ENTRIES);
    /** @type {Entry[]} */
    const found = [];
    let left = SCAN_BYTES;
    for (let index = this.#place(prefix); found.length < most && left > 0; index += 1) {
      const key = this.#keys[index];
      if (!key?.startsWith(prefix)) break;
      const entry = this.#entries.get(key);
      if (!entry || (after !== undefined && compareKeys(key, after) <= 0)) continue;
      found.push({ key, ...entry });
      left -= key.length + entry.value.length;
    }
    return found;
  }

  /** @param {Change[]} changes */
  commit(changes) {
    checkChanges(changes);
    for (const change of changes) checkExpectation(change, this.#entries.get(change.val.key)?.version);
    this.#sequence += 1n;
    for (const change of changes) this.#apply(change);
  }

  /** @param {Change} change */
  #apply({ tag, val }) {
    const { key } = val;
    const isKnown = this.#entries.has(key);
    if (tag === 'put') {
      if (!isKnown) this.#keys.splice(this.#place(key), 0, key);
      this.#entries.set(key, { value: val.value, version: this.#sequence });
    } else if (isKnown) {
      this.#keys.splice(this.#place(key), 1);
      this.#entries.delete(key);
    }
  }

  /**
   * The index of the first key that is not less.
   *
   * @param {string} key
   */
  #place(key) {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys(/** @type {string} */ (this.#keys[middle]), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
