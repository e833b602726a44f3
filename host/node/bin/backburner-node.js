#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/** The command line. Its commands and options are those of the native one, where it has them. */

import { WrongUsage } from '../src/cli/usage.js';

/**
 * The commands, each with the exit status for a command line that is wrong, and for all else that fails. What a job's
 * processes call does not load the server.
 */
const COMMANDS = {
  serve: { load: () => import('../src/cli/serve.js'), wrongUsage: 2, failure: 1 },
  ask: { load: () => import('../src/cli/ask.js'), wrongUsage: 125, failure: 125 },
  progress: { load: () => import('../src/cli/progress.js'), wrongUsage: 2, failure: 125 },
};

// Nothing but messages gets into the client's stream, whatever a library prints.
globalThis.console = new console.Console(process.stderr);
const [first, ...rest] = process.argv.slice(2);
const isInside = first === 'ask' || first === 'progress';
const command = COMMANDS[isInside ? first : 'serve'];

/** @param {any} error */
function fail(error) {
  const isUsage = error instanceof WrongUsage || error?.code?.startsWith?.('ERR_PARSE_ARGS_');
  console.error(`backburner-node: ${error?.message ?? error}`);
  process.exit(isUsage ? command.wrongUsage : command.failure);
}

// Also what nobody waits for, such as an output that cannot be written: by itself Node would end with 1, and say by
// that that the person declined.
if (isInside) process.on('uncaughtException', fail);
try {
  const { run } = await command.load();
  process.exit(await run(isInside ? rest : process.argv.slice(2)));
} catch (error) {
  fail(error);
}
