/** The host conformance kit, against the stores and jobs of this host. Without BACKBURNER_CONFORMANCE it is left out. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { NODE_OPTIONS, temporaryDirectory } from './support.js';

const HOST = fileURLToPath(new URL('conformance-host.js', import.meta.url));
const isBuilt = existsSync(new URL('../dist/conformance/', import.meta.url));

/** What each kind of host offers beside a store. */
const OFFERS = {
  lasting: ['lasting-store', 'processes', 'lasting-jobs', 'descendants'],
  memory: [],
};
/** @typedef {keyof typeof OFFERS} Kind */

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

  /** @param {object} step @returns {Promise<any>} */
  async ask(step) {
    this.#child.stdin.write(`${JSON.stringify(step)}\n`);
    const { value, done } = await this.#lines.next();
    assert.ok(!done, 'the host of the kit ended');
    return JSON.parse(value);
  }

  /** Ends it as a crash would. */
  async kill() {
    this.#child.kill('SIGKILL');
    await new Promise((resolve) => this.#child.on('close', resolve));
  }
}

/** @param {number} moment */
const until = (moment) => new Promise((resolve) => setTimeout(resolve, moment - Date.now()));

/**
 * Runs one check, and gives why the promise is not kept.
 *
 * @param {Kind} kind
 * @param {string} directory
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
async function run(kind, directory, name) {
  let host = new Host(kind, directory);
  try {
    let progress = await host.ask({ begin: name });
    for (;;) {
      const { tag, val } = progress;
      if (tag === 'passed') return undefined;
      if (tag === 'failed') return val.reason;
      if (tag === 'wait') await until(Math.min(val.deadline, Date.now() + 20));
      if (tag === 'restart') {
        await host.kill();
        await until(val.notBefore);
        host = new Host(kind, directory);
      }
      if (tag === 'crowd') {
        const failure = await runCrowd(kind, directory, host, val.members);
        if (failure) return failure;
      }
      progress = await host.ask({ resume: val.ticket });
    }
  } finally {
    await host.kill();
  }
}

/**
 * At the same time, each in a process of its own; where nothing lasts, in the one process that there is.
 *
 * @param {Kind} kind
 * @param {string} directory
 * @param {Host} own
 * @param {string[]} members
 */
async function runCrowd(kind, directory, own, members) {
  const hosts = members.map(() => (kind === 'lasting' ? new Host(kind, directory) : own));
  const ends = await Promise.all(hosts.map((host, index) => host.ask({ resume: members[index] })));
  await Promise.all(hosts.filter((host) => host !== own).map((host) => host.kill()));
  return ends.find(({ tag }) => tag === 'failed')?.val.reason;
}

for (const kind of /** @type {Kind[]} */ (Object.keys(OFFERS))) {
  test(`the ${kind} store and jobs keep their promises`, { skip: !isBuilt, concurrency: 2 }, async (cx) => {
    const directory = temporaryDirectory(cx);
    const host = new Host(kind, directory);
    const checks = await host.ask({ begin: '' });
    await host.kill();
    const offered = (/** @type {any} */ { needs }) =>
      needs.every((/** @type {never} */ need) => OFFERS[kind].includes(need));
    const skipped = checks.filter((/** @type {any} */ check) => !offered(check));
    if (skipped.length > 0) cx.diagnostic(`not offered: ${skipped.map((/** @type {any} */ { name }) => name)}`);
    const runs = checks.filter(offered).map((/** @type {any} */ { name, promise }) =>
      cx.test(`${name}: ${promise}`, async () => {
        assert.equal(await run(kind, directory, name), undefined);
      }),
    );
    await Promise.all(runs);
  });
}
