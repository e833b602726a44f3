/**
 * The few words of shell that the corpus of transcripts uses, acted out by one function: for jobs that are functions,
 * in Node and in pages. `tests/src/fake/script.rs` is the same for the tests in Rust, and the transcript `format` has
 * the list.
 *
 * A line is statements that `;` separates, with quotes, `$NAME` and `>&2`. What is not understood is an error that no
 * transcript expects, so that none means something else to a real shell.
 */

/** @import { Call, Run } from '../src/jobs/functions.js' */
/** @import { End } from '#server/interfaces/backburner-server-jobs.js' */

/** A statement that is carried out: its words behind the first, and whether the job ignores that it is to end. */
/** @typedef {{ call: Call, words: string[], write: (text: string) => void, isStubborn?: boolean }} Statement */
/**
 * What a statement comes to: its status, 0 where it gives none, or the end of the job; and whether it ignores its stop.
 */
/** @typedef {number | void | { end: number | End } | { isStubborn: true }} Result */

/** Programs, which a job may also be without a shell. */
/** @type {Record<string, (statement: Statement) => Result | Promise<Result>>} */
export const COMMANDS = {
  echo: ({ words, write }) => write(`${words.join(' ')}\n`),
  printf: ({ words, write }) => write(unescaped(words[0] ?? '')),
  cat: ({ call, write }) => write(call.stdin),
  pwd: ({ call, write }) => write(`${call.directory ?? '/'}\n`),
  sleep: ({ call, words, isStubborn }) => sleep(Number(words[0]) * 1000, isStubborn ? call.killed : call.signal),
  true: () => 0,
  false: () => 1,
};

/** What is a part of the shell, or calls the server's program: a program's name it is not. @type {typeof COMMANDS} */
const OF_THE_SHELL = {
  exit: ({ words }) => ({ end: Number(words[0]) }),
  kill: ({ words }) => ({ end: { tag: 'signalled', val: { signal: signalName(words), coreDumped: false } } }),
  trap: ({ words }) => {
    if (words.join() !== ',TERM') throw unknown(['trap', ...words]);
    return { isStubborn: true };
  },
  backburner: ({ call, words, write }) => ask(call, words, write),
};

/** What runs the command of any job. @type {Run} */
export async function act(call) {
  const [name = ''] = call.words;
  if (call.line === undefined && !COMMANDS[name]) {
    // In the words of the native host: all servers say the same.
    const detail = `there is no program ${name} on the PATH; install it or give its full path`;
    return { tag: 'not-started', val: { detail } };
  }
  const all = call.line === undefined ? [call.words] : statements(call.line, call.environment);
  let status = 0;
  let isStubborn = false;
  for (const statement of all) {
    const result = await carryOut(call, statement, isStubborn);
    if (typeof result !== 'object') status = typeof result === 'number' ? result : 0;
    else if ('end' in result) return result.end;
    else isStubborn = true;
  }
  return status;
}

/**
 * @param {Call} call
 * @param {string[]} statement
 * @param {boolean} isStubborn
 */
async function carryOut(call, statement, isStubborn) {
  const isError = call.line !== undefined && statement.at(-1) === '>&2';
  const [name = '', ...words] = isError ? statement.slice(0, -1) : statement;
  const command = COMMANDS[name] ?? OF_THE_SHELL[name];
  if (!command) throw unknown(statement);
  const write = (/** @type {string} */ text) => text && call.write(text, isError ? 'stderr' : 'stdout');
  return command({ call, words, write, isStubborn });
}

/**
 * `backburner ask MESSAGE --text`.
 *
 * @param {Call} call
 * @param {string[]} words
 * @param {(text: string) => void} write
 * @returns {Promise<Result>}
 */
async function ask(call, words, write) {
  const [verb, message, ...options] = words;
  if (verb !== 'ask' || options.join() !== '--text') throw unknown(['backburner', ...words]);
  const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
  const asked = call.ask(JSON.stringify({ mode: 'form', message, requestedSchema }));
  const { action, content } = JSON.parse(await Promise.race([asked, until(call.signal)]));
  if (action === 'accept') return write(`${content.answer}\n`);
  return action === 'decline' ? 1 : 2;
}

/** @param {string[]} words */
const unknown = (words) => new Error(`not in the vocabulary of transcripts: ${JSON.stringify(words)}`);

/** The signal that a shell sends itself. @param {string[]} words */
function signalName([option = '', whom, ...more]) {
  const name = new Map([['-9', 'SIGKILL'], ['-KILL', 'SIGKILL'], ['-SEGV', 'SIGSEGV']]).get(option);
  if (!name || whom !== '$$' || more.length > 0) throw unknown(['kill', option, `${whom}`, ...more]);
  return name;
}

/** What `printf` makes of its text. @param {string} text */
function unescaped(text) {
  const meanings = new Map([['%%', '%'], ['\\n', '\n'], ['\\r', '\r'], ['\\t', '\t'], ['\\033', '\u001b']]);
  return text.replace(/%%|\\n|\\r|\\t|\\033/g, (found) => meanings.get(found) ?? found);
}

/**
 * Splits a line into statements and these into words, as a shell does.
 *
 * @param {string} line
 * @param {Record<string, string>} environment
 */
function statements(line, environment) {
  /** @type {string[][]} */
  const all = [[]];
  const bare = line.replace(/'[^']*'|"[^"]*"|>&2|\$\$/g, '');
  if (/[|&<>()`*?#\\]/.test(bare)) throw unknown([line]);
  // A word, a blank, or the end of a statement.
  for (const [found] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s;'"])+|[\s;]/g)) {
    if (found === ';') all.push([]);
    else if (found.trim() !== '') all.at(-1)?.push(expanded(found, environment));
  }
  return all.filter((words) => words.length > 0);
}

/**
 * A word without its quotes, and with what its variables are.
 *
 * @param {string} word
 * @param {Record<string, string>} environment
 */
function expanded(word, environment) {
  // `$$` is left for `kill` to see.
  const value = (/** @type {string} */ text) =>
    text.replace(/\$([A-Za-z0-9_]+)/g, (_, name) => environment[name] ?? '');
  return word.replace(/'([^']*)'|"([^"]*)"|[^'"]+/g, (bare, single, double) => single ?? value(double ?? bare));
}

/** What never ends by itself, until this. @param {AbortSignal} signal @returns {Promise<never>} */
export const until = (signal) =>
  new Promise((_, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
export function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
