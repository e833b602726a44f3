/** A page with a server of which nothing lasts, for whoever drives the page. See `in-memory.js`. */

import { loadServer } from '../browser/index.js';
import { InMemory } from './in-memory.js';

const code = await loadServer();

/** @type {any} */ (globalThis).open = (/** @type {object} */ config) => {
  // `answer` is what the driver gives to the page.
  const server = new InMemory({ code, config }, (message) => /** @type {any} */ (globalThis).answer(message));
  Object.assign(globalThis, { server });
};
document.title = 'ready';
