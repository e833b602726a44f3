/** What there is to embed the component in a page. */

/** @import { Root } from '#server/component.js' */
/** @import { Code } from '../src/component.js' */

export { Component, ConfigError } from '../src/component.js';
export { Connection } from '../src/connection.js';
export { FunctionJobs } from '../src/jobs/functions.js';
export { MemoryStore } from '../src/store/memory.js';
export * from '../src/types.js';
export { WitError } from '../src/wit-error.js';

/**
 * Loads and compiles the component as the build made it.
 *
 * @param {URL} directory
 * @returns {Promise<Code<Root>>}
 */
export async function loadServer(directory = new URL('../dist/server/', import.meta.url)) {
  const { instantiate } = await import(new URL('component.js', directory).href);
  /** @type {string[]} */
  const names = await (await fetch(new URL('modules.json', directory))).json();
  const compiled = names.map(async (name) => {
    // Not `compileStreaming`, for servers that do not know the type of a `.wasm`.
    const bytes = await (await fetch(new URL(name, directory))).arrayBuffer();
    return /** @type {const} */ ([name, await WebAssembly.compile(bytes)]);
  });
  return { instantiate, modules: new Map(await Promise.all(compiled)) };
}
