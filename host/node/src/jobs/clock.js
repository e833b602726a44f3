/** The clock that does not jump, and which boot of the machine it belongs to. */

import { readFileSync } from 'node:fs';

/** Milliseconds on a clock that all processes of one boot share and that never jumps. */
export function monotonicMs() {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** What tells this boot of the machine from all others. */
export function bootId() {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
