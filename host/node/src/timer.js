/** Timers. Runs in Node and in browsers. */

import { LONGEST_TIMER } from './limits.js';

/**
 * Calls back at a moment, however far away it is.
 *
 * @param {bigint} moment
 * @param {() => void} callback
 * @returns {() => void} takes it back
 */
export function at(moment, callback) {
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const arm = () => {
    const left = Math.max(Number(moment) - Date.now(), 0);
    timer = left > LONGEST_TIMER ? setTimeout(arm, LONGEST_TIMER) : setTimeout(callback, left);
  };
  arm();
  return () => clearTimeout(timer);
}
