/** What several tests need. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What Node is told for a process that opens a store: not to warn of `node:sqlite`, which Node 22 calls experimental.
 */
export const NODE_OPTIONS = ['--disable-warning=ExperimentalWarning'];

/**
 * Why a test is left out, as its option `skip` wants it. Where BACKBURNER_ALL_HOSTS is 1, as in CI, nothing is left
 * out.
 *
 * @param {string | undefined} lack what is missing for it
 * @returns {string | false}
 */
export function leaveOut(lack) {
  if (lack === undefined) return false;
  if (process.env.BACKBURNER_ALL_HOSTS === '1') throw new Error(`${lack}; BACKBURNER_ALL_HOSTS=1 makes that a failure`);
  return lack;
}

/**
 * A directory that is deleted after the test.
 *
 * @param {import('node:test').TestContext} cx
 * @param {() => unknown} [leave] ends what is at work in it
 */
export function temporaryDirectory(cx, leave) {
  const path = mkdtempSync(join(tmpdir(), 'backburner-node-'));
  cx.after(async () => {
    await leave?.();
    rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  return path;
}

/**
 * Waits for a condition, with a deadline that shows the last state.
 *
 * @template Result
 * @param {string} what
 * @param {() => Promise<Result | undefined> | Result | undefined} look gives something when it is so
 * @param {number} patience how many milliseconds it may take: for ever, as far as a busy machine is concerned
 * @returns {Promise<Result>}
 */
export async function eventually(what, look, patience = 60_000) {
  const deadline = Date.now() + patience;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
