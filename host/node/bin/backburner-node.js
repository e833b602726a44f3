#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/** The command line of the stdio server. Its options are those of the native one. */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { MAX_MESSAGE_BYTES, serve } from '../src/server.js';

const HELP = `Usage: backburner-node [serve] [OPTIONS]

An MCP server over standard input and output, whose tasks are shell commands that outlive it.

Options:
  --data-dir DIR            where everything is kept [default: $BACKBURNER_DIR, else the user's state directory]
  --sync-limit SECONDS      how long a client without the Tasks extension waits for a command [default: 30]
  --direct-limit MS         how long a client with it waits before it is given a task [default: 100]
  --grace SECONDS           how long a stopped job may take to end by itself [default: 5]
  --output-limit BYTES      how much of a job's output is kept [default: 67108864]
  --max-message-bytes N     the longest message that is accepted [default: ${MAX_MESSAGE_BYTES}]
  --help                    print this
`;

/** The numbers that may be given: what they are called, and from where to where they go. */
const RANGES = /** @type {const} */ ({
  'sync-limit': [0, 3600],
  'direct-limit': [0, 60_000],
  grace: [0, 600],
  'output-limit': [4096, 2 ** 40],
  'max-message-bytes': [1024, 16 * 1024 * 1024],
});
/** @typedef {keyof typeof RANGES} Name */

const text = /** @type {const} */ ({ type: 'string' });

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      'data-dir': text,
      'sync-limit': text,
      'direct-limit': text,
      grace: text,
      'output-limit': text,
      'max-message-bytes': text,
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  if (positionals.join() !== '' && positionals.join() !== 'serve') {
    throw new Error(`there is no command ${positionals.join(' ')}; see --help`);
  }
  const number = (/** @type {Name} */ name) => parse(name, values[name]);
  return serve({
    dataDir: values['data-dir'] ?? process.env.BACKBURNER_DIR ?? stateDirectory(),
    maxMessageBytes: number('max-message-bytes'),
    config: {
      syncLimitMs: times1000(number('sync-limit')),
      directLimitMs: number('direct-limit'),
      graceMs: times1000(number('grace')),
      outputLimitBytes: number('output-limit'),
    },
  });
}

/** @param {Name} name @param {string | undefined} given */
function parse(name, given) {
  if (given === undefined) return undefined;
  const [least, most] = RANGES[name];
  const value = /^\d+$/.test(given) ? Number(given) : NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`--${name} is a whole number from ${least} to ${most}, and not ${given}`);
}

/** @param {number | undefined} seconds */
const times1000 = (seconds) => (seconds === undefined ? undefined : seconds * 1000);

function stateDirectory() {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'backburner-node');
}

// Nothing but messages gets into the client's stream, whatever a library prints.
globalThis.console = new console.Console(process.stderr);
try {
  await main();
  process.exit();
} catch (error) {
  console.error(`backburner-node: ${error instanceof Error ? error.message : error}`);
  process.exit(error instanceof TypeError ? 2 : 1);
}
