/**
 * A stdio server of which nothing lasts, for the corpus of transcripts: `node memory-server.js [OPTIONS]`, with the
 * options of `serve`, whose data directory it does not touch. See `in-memory.js`, also for what `REOPEN` is as a line
 * of its input.
 */

import { options } from '../src/cli/serve.js';
import { loadServer } from '../src/index.js';
import { InMemory } from './in-memory.js';
import { serveLines } from './stdio.js';

// Nothing but messages gets into the client's stream.
globalThis.console = new console.Console(process.stderr);
const config = options(process.argv.slice(2)).configuration();
const code = await loadServer();
await serveLines((send) => {
  const server = new InMemory({ code, config }, send);
  return { receive: (line) => server.receive(line), end: () => server.end() };
});
