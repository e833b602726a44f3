/** `serve`: the stdio server. */

import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { parseArgs } from 'node:util';

import { readConfig } from '../config.js';
import { ConfigError } from '../component.js';
import { ownDirectory } from '../own-directory.js';
import { MAX_MESSAGE_BYTES, serve } from '../server.js';
import { WrongUsage, isHelpAsked } from './usage.js';

const HELP = `Usage: backburner-node [serve] [OPTIONS]
       backburner-node ask MESSAGE [OPTIONS]
       backburner-node progress [PERCENT] [TEXT]...

An MCP server over standard input and output, whose tasks are shell commands that outlive it. What a command calls to
ask a person something, and to say how far it is, is explained by its own --help.

Options:
  --config FILE             a backburner.toml with tools and limits; options win over it [default: none]
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

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit status
 */
export async function run(args) {
  if (isHelpAsked(args)) {
    process.stdout.write(HELP);
    return 0;
  }
  const { file, dataDir, maxMessageBytes, configuration } = options(args);
  try {
    await serve({ dataDir, maxMessageBytes, config: configuration() });
  } catch (error) {
    throw error instanceof ConfigError ? new WrongUsage(`${file ?? 'an option'}: ${error.message}`) : error;
  }
  return 0;
}

/**
 * What a command line says. `configuration` reads the file, and gives the members of the WIT's `configure`.
 *
 * @param {string[]} args
 * @throws {WrongUsage} where it is wrong, as an error of `parseArgs` does
 */
export function options(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      config: text,
      'data-dir': text,
      'sync-limit': text,
      'direct-limit': text,
      grace: text,
      'output-limit': text,
      'max-message-bytes': text,
    },
  });
  if (positionals.join() !== '' && positionals.join() !== 'serve') {
    throw new WrongUsage(`there is no command ${positionals.join(' ')} at this place; see --help`);
  }
  const number = (/** @type {Name} */ name) => parse(name, values[name]);
  const members = {
    syncLimitMs: times1000(number('sync-limit')),
    directLimitMs: number('direct-limit'),
    graceMs: times1000(number('grace')),
    outputLimitBytes: number('output-limit'),
  };
  const file = values.config;
  return {
    file,
    dataDir: values['data-dir'] ?? (process.env.BACKBURNER_DIR || stateDirectory()),
    maxMessageBytes: number('max-message-bytes'),
    configuration: () => ({ ...place(), ...(file === undefined ? {} : readConfig(file)), ...given(members) }),
  };
}

/** Where commands run that name no directory, so that whoever confirms one is told it. */
const place = () => given({ workingDirectory: ownDirectory() });

/** The members that have a value. @param {object} members */
function given(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** @param {Name} name @param {string | undefined} given */
function parse(name, given) {
  if (given === undefined) return undefined;
  const [least, most] = RANGES[name];
  const value = /^\d+$/.test(given) ? Number(given) : NaN;
  if (value >= least && value <= most) return value;
  throw new WrongUsage(`--${name} is a whole number from ${least} to ${most}, and not ${given}`);
}

/** @param {number | undefined} seconds */
const times1000 = (seconds) => (seconds === undefined ? undefined : seconds * 1000);

/**
 * Where programs keep such things, by the XDG Base Directory specification: a path that is not absolute does not count.
 */
function stateDirectory() {
  const named = process.env.XDG_STATE_HOME ?? '';
  return join(isAbsolute(named) ? named : join(homedir(), '.local', 'state'), 'backburner-node');
}
