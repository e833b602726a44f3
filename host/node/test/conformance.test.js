/**
 * The host conformance kit, against the stores and jobs of this host. Without BACKBURNER_CONFORMANCE it is left out.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { runCheck } from './kit.js';
import { NODE_OPTIONS, leaveOut, temporaryDirectory } from './support.js';

/** @import { Check, Progress } from './kit.js' */
/** @typedef {'lasting' | 'memory'} Kind */

const HOST = fileURLToPath(new URL('conformance-host.js', import.meta.url));
const isBuilt = existsSync(new URL('../dist/conformance/', import.meta.url));
const skip = leaveOut(isBuilt ? undefined : 'the build had no BACKBURNER_CONFORMANCE, the host conformance kit');

/** How many checks the kit has at least, so that it does not shrink unnoticed. */
const CHECKS_MIN = 72;

/** What functions as jobs cannot promise, each check with the reason. All other checks of processes they do pass. */
const NOT_FOR_FUNCTIONS = new Map([
  ['jobs/bytes', 'a function writes text'],
  ['jobs/command', 'a command is the name of a function and its arguments, and no line for a shell'],
  ['jobs/environment', 'a function has the variables of the call, and none of a host process'],
  ['jobs/directory', 'a function runs in no directory'],
  ['jobs/group', 'a function has no processes'],
  ['jobs/leftovers', 'a function has no processes'],
  ['jobs/leftover-limits', 'a function has no processes'],
]);

/** What a check may need so that it makes sense for a store in memory and functions. */
const NEEDS_IN_MEMORY = ['processes'];

/** A process that hosts the kit. */
class Host {
  #child;
  #lines;

  /** @param {Kind} kind @param {string} directory */
  constructor(kind, directory) {
    this.#child = spawn(process.execPath, [...NODE_OPTIONS, HOST, kind, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** All checks, where it is told to begin the one without a name. @param {object} step @returns {Promise<any>} */
  async ask(step) {
    this.#child.stdin.write(`${JSON.stringify(step)}\n`);
    const { value, done } = await this.#lines.next();
    assert.ok(!done, 'the host of the kit ended');
    return JSON.parse(value);
  }

  async end() {
    this.#child.kill('SIGKILL');
    await new Promise((resolve) => this.#child.on('close', resolve));
  }
}

/** @param {Kind} kind @param {string} directory @returns {Promise<Check[]>} */
async function allChecks(kind, directory) {
  const host = new Host(kind, directory);
  const checks = await host.ask({ begin: '' });
  await host.end();
  return checks;
}

/**
 * Runs checks side by side, and sees that each of them was run and has passed.
 *
 * @param {import('node:test').TestContext} cx
 * @param {Kind} kind
 * @param {string} directory
 * @param {Check[]} checks
 */
async function assertKept(cx, kind, directory, checks) {
  const open = () => new Host(kind, directory);
  let passed = 0;
  const runs = checks.map(({ name, promise }) =>
    cx.test(`${name}: ${promise}`, async () => {
      assert.equal(await runCheck(open, kind === 'memory', name), undefined);
      passed += 1;
    }),
  );
  await Promise.all(runs);
  assert.equal(passed, checks.length);
}

const BUT_TERMINALS = 'the store in SQLite and jobs as processes keep every promise but those of terminals';
test(BUT_TERMINALS, { skip, concurrency: 2 }, async (cx) => {
  const directory = temporaryDirectory(cx);
  const checks = await allChecks('lasting', directory);
  assert.ok(checks.length >= CHECKS_MIN, `the kit has ${checks.length} checks`);
  const kept = checks.filter(({ needs }) => !needs.includes('terminals'));
  const leftOut = checks.filter((check) => !kept.includes(check)).map(({ name }) => name);
  assert.ok(leftOut.length > 0 && leftOut.every((name) => /prompt|line/.test(name)), `${leftOut}`);
  await assertKept(cx, 'lasting', directory, kept);
});

test('the store in memory and jobs as functions keep every promise they can', { skip, concurrency: 8 }, async (cx) => {
  const directory = temporaryDirectory(cx);
  const checks = await allChecks('memory', directory);
  const possible = checks.filter(({ needs }) => needs.every((need) => NEEDS_IN_MEMORY.includes(need)));
  const names = possible.map(({ name }) => name);
  for (const name of NOT_FOR_FUNCTIONS.keys()) {
    assert.ok(names.includes(name), `there is no check ${name} to leave out`);
  }
  for (const { name, needs } of checks.filter((check) => !possible.includes(check))) {
    cx.diagnostic(`${name} is left out, which needs ${needs}`);
  }
  for (const [name, reason] of NOT_FOR_FUNCTIONS) cx.diagnostic(`${name} is left out: ${reason}`);
  const run = possible.filter(({ name }) => !NOT_FOR_FUNCTIONS.has(name));
  await assertKept(cx, 'memory', directory, run);
});

/**
 * A host that gives these in turn, whatever it is asked.
 *
 * @param {Progress[]} progress
 */
const scripted = (...progress) => ({
  ask: async () => progress.shift() ?? { tag: 'passed' },
  end: async () => undefined,
});

test('only a check that passed has kept its promise', async () => {
  const end = (/** @type {Progress[]} */ ...progress) => {
    const host = scripted(...progress);
    return runCheck(() => host, true, 'a/check');
  };
  const crowd = { tag: 'crowd', val: { members: ['1', '2'], ticket: 'after' } };
  const wait = { tag: 'wait', val: { jobs: [], deadline: 0, ticket: 'again' } };
  const failed = { tag: 'failed', val: { reason: 'broken' } };
  const passed = { tag: 'passed' };
  assert.equal(await end(wait, passed), undefined);
  assert.equal(await end(wait, failed), 'broken');
  assert.match((await end({ tag: 'unheard-of' })) ?? '', /unheard-of/);
  assert.equal(await end(crowd, passed, passed, passed), undefined);
  assert.equal(await end(crowd, passed, failed), 'broken');
  assert.match((await end(crowd, passed, wait)) ?? '', /`wait`/, 'a member that is not over has not passed');
});
