/** Where this process works. */

import { statSync } from 'node:fs';

/**
 * The path of the directory in which this process works. `undefined` where it was deleted or renamed, and where its
 * name is no text: Node puts U+FFFD in the place of such bytes, which names another directory or none.
 *
 * @returns {string | undefined}
 */
export function ownDirectory() {
  try {
    const path = process.cwd();
    const [named, own] = [statSync(path), statSync('.')];
    return named.ino === own.ino && named.dev === own.dev ? path : undefined;
  } catch {
    return undefined;
  }
}
