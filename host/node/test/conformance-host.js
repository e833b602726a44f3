/**
 * A host of the conformance kit, as a process that can be ended and started anew: `node conformance-host.js KIND DIR`.
 *
 * Each line of its input is `{"begin": NAME}` or `{"resume": TICKET}`, and each is answered with a line of progress.
 * Each is done by an instance of its own, so nothing can hide in one.
 */

import { renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { FunctionJobs, MemoryStore, ProcessJobs, SqliteStore, instantiate, loadCode } from '../src/index.js';
import { SHELL } from './shell.js';

const [, , kind, directory = ''] = process.argv;
const isLasting = kind === 'lasting';
if (isLasting) {
  giveScript('KIT_ASK', 'ask "$1" --text');
  giveScript('KIT_PROGRESS', 'progress "$1" "$2"');
}
const store = isLasting ? new SqliteStore(join(directory, 'node.db')) : new MemoryStore();
const jobs = isLasting ? new ProcessJobs(join(directory, 'jobs')) : new FunctionJobs(SHELL, { isDirectory });
/** The directories that the kit names, and that are none, are those of the machine. @param {string} path */
function isDirectory(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
const code = await loadCode(new URL('../dist/conformance/', import.meta.url));

for await (const line of createInterface({ input: process.stdin })) {
  const { begin, resume } = JSON.parse(line);
  const { conformance } = instantiate(code, store, jobs);
  const now = BigInt(Date.now());
  const step = () => (begin === undefined ? conformance.resume(resume, now) : conformance.begin(begin, now));
  const reply = begin === '' ? conformance.checks() : step();
  const text = JSON.stringify(reply, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
  process.stdout.write(`${text}\n`);
}

/**
 * Writes a script of the need `questions`, and names it to the jobs by a variable. Several hosts do so at the same
 * time.
 *
 * @param {string} variable
 * @param {string} command
 */
function giveScript(variable, command) {
  const program = fileURLToPath(new URL('../bin/backburner-node.js', import.meta.url));
  const path = join(directory, variable);
  writeFileSync(`${path}.${process.pid}`, `exec '${process.execPath}' '${program}' ${command}\n`);
  renameSync(`${path}.${process.pid}`, path);
  process.env[variable] = path;
}
