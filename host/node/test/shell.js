/**
 * A shell of functions: what the host conformance kit's jobs say, for jobs that are no processes. It knows the few
 * commands that the kit's checks use where a function can keep the promise, and no more.
 */

import { COMMANDS as WORDS, sleep } from './vocabulary.js';

/** @import { Call, Run } from '../src/jobs/functions.js' */
/** @import { End } from '#server/interfaces/backburner-server-jobs.js' */

/** What ends a line early, with its exit code or how else it ends. */
class Exit extends Error {
  /** @param {number | End} end */
  constructor(end) {
    super('exit');
    this.end = end;
  }
}

/** @typedef {import('./vocabulary.js').Statement} Step */
/** The commands, each with its words and what it writes to. @type {Record<string, (step: Step) => unknown>} */
const COMMANDS = {
  ...WORDS,
  printf: ({ words, write }) => write(printed(words[0] ?? '')),
  head: ({ call, words, write }) => write(call.stdin.slice(0, Number(words[1]))),
  // What comes after `yes` and its text is `| head -c N`.
  yes: ({ words, write }) => write(repeated(words[0] === '|' ? 'y' : words[0], Number(words.at(-1)))),
  exit: ({ words }) => {
    throw new Exit(Number(words[0]));
  },
  // What comes after the signal is `$$`, the shell itself.
  kill: ({ words: [option = ''] }) => {
    throw new Exit({ tag: 'signalled', val: { signal: `SIG${option.slice(1)}`, coreDumped: false } });
  },
  // Only ever the last command, or without one.
  exec: (step) => (step.words[0] === '<&-' ? undefined : command(step, step.words)),
  // `while :` and what belongs to it: something that goes on until it is stopped.
  while: ({ call }) => sleep(600_000, call.signal),
};

/**
 * Runs a line: commands after each other, of which `trap 'COMMANDS' TERM` is what is done when the job is stopped, and
 * nothing where there are none.
 *
 * @type {Run}
 */
async function run(call) {
  const steps = split(call.words.join(' '));
  const trap = /^trap '(.*)' TERM$/.exec(steps[0] ?? '')?.[1];
  const heard = trap === '' ? { ...call, signal: call.killed } : call;
  try {
    await inTurn(heard, trap === undefined ? steps : steps.slice(1));
  } catch (error) {
    if (error instanceof Exit) return error.end;
    if (!trap || call.killed.aborted) throw error;
    // The signal has been heard: only that its grace is over stops what the trap does.
    return run({ ...call, signal: call.killed, words: [trap] });
  }
}

/** @param {Call} call @param {string[]} steps */
async function inTurn(call, steps) {
  for (const step of steps) {
    const isError = step.endsWith(' >&2');
    const words = substituted(call, isError ? step.slice(0, -4) : step).split(' ');
    await command({ call, words: [], write: (text) => call.write(text, isError ? 'stderr' : 'stdout') }, words);
  }
}

/** @param {Step} step @param {string[]} words */
function command(step, [name = '', ...words]) {
  const found = COMMANDS[name];
  if (!found) throw new Error(`the shell of functions does not know ${name}`);
  return found({ ...step, words });
}

/** The commands of a line, which `;` separates outside of quotes. @param {string} line */
function split(line) {
  const parts = line.match(/(?:'[^']*'|[^';])+/g) ?? [];
  return parts.map((part) => part.trim());
}

/** @param {Call} call @param {string} step */
function substituted({ stdin }, step) {
  return step.replace('$(wc -c)', () => String(new TextEncoder().encode(stdin).length));
}

/** What `printf` makes of a quoted text: octal numbers are bytes. @param {string} quoted */
function printed(quoted) {
  const text = quoted.replaceAll("'", '');
  const bytes = text.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8))).replace('\\n', '\n');
  return Buffer.from(bytes, 'latin1').toString();
}

/** @param {string | undefined} text @param {number} length */
const repeated = (text, length) => `${text}\n`.repeat(Math.ceil(length / 2)).slice(0, length);

/** The functions of a shell, by the first word of the line that they run. @type {Record<string, Run>} */
export const SHELL = Object.fromEntries([...Object.keys(COMMANDS), 'trap'].map((name) => [name, run]));
