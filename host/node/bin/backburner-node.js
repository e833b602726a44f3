#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/** The command line of the stdio server. Its options are those of the native one. */

import { run } from '../src/cli/serve.js';
import { WrongUsage } from '../src/cli/usage.js';

// Nothing but messages gets into the client's stream, whatever a library prints.
globalThis.console = new console.Console(process.stderr);
try {
  process.exit(await run(process.argv.slice(2)));
} catch (/** @type {any} */ error) {
  const isUsage = error instanceof WrongUsage || error?.code?.startsWith?.('ERR_PARSE_ARGS_');
  console.error(`backburner-node: ${error?.message ?? error}`);
  process.exit(isUsage ? 2 : 1);
}
