/**
 * Does nothing for so many milliseconds. It blocks: the functions of the WIT are synchronous.
 *
 * @param {number} ms
 */
export function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
