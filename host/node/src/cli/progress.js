/** `progress`: a process of a job says how far the job is. */

import { parseArgs } from 'node:util';

import { writeReport } from '../jobs/report.js';
import { ownJob } from './job.js';
import { WrongUsage, isHelpAsked } from './usage.js';

const HELP = `Usage: backburner-node progress [PERCENT] [TEXT]...

Says how far a job is, in a command that runs as one: the status message of its task says this in place of the last line
of output, until it is said anew. An empty text takes it back.

A first word that is a number, with or without a % behind it, is the percentage, and a wrong command line where it is
not 0 to 100; quote a text that begins with a number as one word. All other words are the text, of which 1000 bytes are
kept.

Exit status: 0 where it was noted, 2 for a wrong command line, 125 where this is no job or this program failed.
`;

/**
 * @param {string[]} args
 * @returns {number} the exit status
 */
export function run(args) {
  if (isHelpAsked(args)) {
    process.stdout.write(HELP);
    return 0;
  }
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const report = { ...read(positionals), at: Date.now() };
  writeReport(ownJob(), report);
  return 0;
}

/** A number, in the forms that the native program knows. */
const NUMBER = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)$/i;

/**
 * A percentage, a text, or both. Several words are one text, as for `echo`.
 *
 * @param {string[]} words
 */
export function read(words) {
  const [first, ...rest] = words;
  if (first === undefined) throw new WrongUsage('give a percentage, a text, or both');
  const percent = percentage(first);
  return { percent, text: (percent === null ? words : rest).join(' ') };
}

/** What a word says that is a number; `null` where it is none. @param {string} word */
function percentage(word) {
  const number = word.trim().replace(/\s*%$/, '');
  if (!NUMBER.test(number)) return null;
  const percent = Number(number);
  if (percent >= 0 && percent <= 100) return Math.trunc(percent);
  const what = 'give 0 to 100, or quote a text that begins with a number as one word';
  throw new WrongUsage(`${JSON.stringify(word)} is no percentage: ${what}`);
}
