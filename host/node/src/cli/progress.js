/** `progress`: a process of a job says how far the job is. */

import { parseArgs } from 'node:util';

import { writeReport } from '../jobs/report.js';
import { ownJob } from './job.js';
import { WrongUsage } from './usage.js';

const HELP = `Usage: backburner-node progress [PERCENT] [TEXT]

Says how far a job is, in a command that runs as one: the status message of its task says this in place of the last line
of output, until it is said anew. PERCENT is 0 to 100, TEXT at most 1000 bytes; either of them may be left out.

Exit status: 0 where it was noted, 2 for a wrong command line, 125 where this is no job or this program failed.
`;

/**
 * @param {string[]} args
 * @returns {number} the exit status
 */
export function run(args) {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { help: { type: 'boolean' } } });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const report = { ...read(positionals), at: Date.now() };
  writeReport(ownJob(), report);
  return 0;
}

/**
 * A percentage, a text, or both.
 *
 * @param {string[]} words
 */
function read(words) {
  const [first, second] = words;
  const percent = percentage(first ?? '');
  if (first !== undefined && second === undefined) return { percent, text: percent === null ? first : '' };
  if (words.length === 2 && second !== undefined && percent !== null) return { percent, text: second };
  throw new WrongUsage('give a percentage from 0 to 100, a text, or both');
}

/** @param {string} word */
function percentage(word) {
  const number = /^\d+(\.\d+)?%?$/.test(word) ? parseFloat(word) : NaN;
  return number <= 100 ? Math.trunc(number) : null;
}
