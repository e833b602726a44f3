/** The component's code as the build made it, for Node. */

import { readFileSync } from 'node:fs';

/** @import { Root } from '#server/component.js' */
/** @import { Code } from './component.js' */

/**
 * Loads and compiles a component; once a process, since compiling costs more than all instances together.
 *
 * @param {URL} directory what the build made of it, with a slash at the end
 * @returns {Promise<Code<any>>}
 */
export async function loadCode(directory) {
  const { instantiate } = await import(new URL('component.js', directory).href);
  /** @type {string[]} */
  const names = JSON.parse(readFileSync(new URL('modules.json', directory), 'utf8'));
  const compiled = names.map(async (name) => {
    const module = await WebAssembly.compile(readFileSync(new URL(name, directory)));
    return /** @type {const} */ ([name, module]);
  });
  return { instantiate, modules: new Map(await Promise.all(compiled)) };
}

/** @returns {Promise<Code<Root>>} the server */
export const loadServer = () => loadCode(new URL('../dist/server/', import.meta.url));
