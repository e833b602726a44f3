/** `ask`: a process of a job asks a person something, waits, and prints the answer. No server has a part in it. */

import { constants, fstatSync, readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { Asker } from '../jobs/questions.js';
import { at } from '../timer.js';
import { milliseconds } from './duration.js';
import { Form, KINDS, readAnswer, untilWhen } from './form.js';
import { ownJob } from './job.js';
import { WrongUsage, isHelpAsked } from './usage.js';

const HELP = `Usage: backburner-node ask MESSAGE [OPTIONS]

Asks a person something in a command that runs as a job, waits for the answer, and prints it in one line, a number as it
was written. Without an option for what is asked, it asks for agreement only. Never ask for secrets: clients and models
see the answers.

Options:
  --boolean, --text, --number, --integer   ask for one value of this kind
  --field NAME[?]:TYPE[:TITLE]             ask for a field, one option each; a type is boolean, text, number, integer,
                                           or choices as a|b; with ? it may be left out; a name has no =
  --optional                               all of it may be left out
  --deadline DURATION                      how long to wait, such as 90, 10m or 1h30m; the message says until when
                                           [default: for ever]
  --json                                   print the answer as JSON in any case
  --help                                   print this

Exit status: 0 where the person accepted, 1 where they declined, 2 where they dismissed the question or nobody answered
before the deadline, 125 where this is no job, the command line is wrong, the answer cannot be printed, or this program
failed. Where standard output is closed (>&-) nobody is asked what would be printed there; > /dev/null drops the answer.
`;

/** Options of the native program that this one has not. */
const NATIVE_ONLY = ['choice', 'several', 'default', 'url'];

/** How long one may wait for an answer, in milliseconds. */
const LONGEST_WAIT = 365 * 86_400_000;

/** What is written where nobody answered in time. */
const NOBODY = 'null';

/** The exit status of each answer. */
const STATUS = new Map([
  ['accept', 0],
  ['decline', 1],
  ['cancel', 2],
]);

const flag = /** @type {const} */ ({ type: 'boolean' });
const text = /** @type {const} */ ({ type: 'string' });

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit status
 */
export async function run(args) {
  if (isHelpAsked(args)) return print(HELP);
  const native = NATIVE_ONLY.find((name) => args.some((it) => it === `--${name}` || it.startsWith(`--${name}=`)));
  if (native) throw new WrongUsage(`only the native backburner has ask --${native}; --help says what there is here`);
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      boolean: flag,
      text: flag,
      number: flag,
      integer: flag,
      field: { type: 'string', multiple: true },
      optional: flag,
      deadline: text,
      json: flag,
    },
  });
  const [message, ...more] = positionals;
  if (message === undefined || more.length > 0) throw new WrongUsage('give one message, in quotes');
  const deadlineMs = values.deadline === undefined ? undefined : duration(values.deadline);
  const form = new Form({
    message,
    kinds: KINDS.filter((kind) => values[/** @type {'text'} */ (kind)]),
    fields: values.field ?? [],
    isOptional: values.optional ?? false,
    note: deadlineMs === undefined ? undefined : untilWhen(deadlineMs, Date.now()),
  });
  const asJson = values.json ?? false;
  // A person would answer in vain. Without a value there is nothing to print.
  if (form.printed(undefined, asJson) !== undefined && isClosed()) throw new Error(CLOSED);
  const { action, content } = readAnswer(await answer(form, deadlineMs)) ?? { action: 'cancel' };
  const line = action === 'accept' ? form.printed(content, asJson) : undefined;
  if (line !== undefined) await print(`${line}\n`);
  return STATUS.get(action) ?? 125;
}

/**
 * @param {Form} form
 * @param {number | undefined} deadlineMs
 */
async function answer(form, deadlineMs) {
  const asker = new Asker(ownJob(), form.text);
  /** @type {Promise<undefined>} */
  const late = new Promise((resolve) => {
    if (deadlineMs !== undefined) at(BigInt(Date.now() + deadlineMs), () => resolve(undefined));
  });
  const answer = (await Promise.race([asker.answered(), late])) ?? asker.conclude(NOBODY);
  asker.withdraw();
  return answer;
}

const CLOSED =
  'standard output is closed, so the answer could not be printed: leave it open, or drop the answer by > /dev/null';

/**
 * Whether standard output was closed when this process was started: Node opened `/dev/null` in its place then, for
 * reading too, and all that is written there seems to have been.
 */
function isClosed() {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/1', 'utf8'))?.[1] ?? '';
    const isForBoth = (parseInt(flags, 8) & (constants.O_WRONLY | constants.O_RDWR)) === constants.O_RDWR;
    return isForBoth && fstatSync(1).rdev === statSync('/dev/null').rdev;
  } catch {
    // There is no /proc, and nobody can tell: what is written says by itself whether it fails.
    return false;
  }
}

/** How long to wait, in milliseconds. @param {string} given */
function duration(given) {
  const ms = milliseconds(given) ?? 0;
  if (ms >= 1 && ms <= LONGEST_WAIT) return ms;
  const forms = 'seconds, or numbers with ms, s, m, h or d, such as 90, 0.5s, 10m, 1.5h or 1h30m';
  throw new WrongUsage(`--deadline is ${forms}: more than 0, at most 365d; and not ${given}`);
}

/** @param {string} output @returns {Promise<number>} resolved when it has been written, with the exit status */
function print(output) {
  return new Promise((resolve, reject) => {
    process.stdout.write(output, (error) => (error ? reject(error) : resolve(0)));
  });
}
