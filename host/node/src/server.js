/**
 * An MCP server over standard input and output: one client, which started this process.
 *
 * *Source:* MCP 2026-07-28, Transports, stdio.
 */

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { Component, ConfigError } from './component.js';
import { Connection } from './connection.js';
import { ProcessJobs } from './jobs/jobs.js';
import * as limits from './limits.js';
import { Lines, messages } from './lines.js';
import { loadServer } from './load.js';
import { Output } from './output.js';
import { SqliteStore } from './store/sqlite.js';

/** @import { Readable, Writable } from 'node:stream' */
/** @import { Line } from './lines.js' */
/**
 * @typedef {object} Options
 * @property {string} dataDir where everything is kept; created where it is missing, and closed to other users
 * @property {object} [config] the members of the WIT's `configure`; `terminals` cannot be true
 * @property {number} [maxMessageBytes] the longest message that is accepted
 * @property {number} [untakenPatienceMs] how long a client that closed its end may take nothing of what is left for it:
 *   more than by default where clients are far away, or are held up themselves
 * @property {Readable} [input]
 * @property {Writable} [output] gets messages and nothing else
 */

/** The longest message that is accepted, where nobody says otherwise. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Serves one client until it closes its stream or this process is asked to end. Jobs go on.
 *
 * @param {Options} options
 */
export async function serve({ dataDir, config, maxMessageBytes, untakenPatienceMs, input, output }) {
  // Clients would be told of an argument with which each call fails.
  if (config && 'terminals' in config && config.terminals === true) {
    throw new ConfigError({ at: '/terminals', reason: 'the jobs of this server have no terminals; leave it out' });
  }
  const { component, jobs, store } = await open(dataDir, config);
  const sink = output ?? process.stdout;
  const client = new Output(sink, untakenPatienceMs);
  const connection = new Connection({
    component,
    endings: jobs,
    principal: `uid:${process.geteuid?.()}`,
    send: (message) => client.send(message),
    room: () => client.room(),
  });
  const stopSweeping = sweepRegularly(component);
  const source = input ?? process.stdin;
  const { asked, stopListening } = endWhenAsked(source, sink, client);
  const lines = new Lines(maxMessageBytes ?? MAX_MESSAGE_BYTES);
  try {
    await receiveAll(messages(source, lines), connection, client);
    connection.shutdown();
    await untilTaken(client, asked);
  } finally {
    stopSweeping();
    stopListening();
    store.close();
  }
}

/**
 * The component on a data directory. The names below it are not those of the native server, whose formats are others.
 *
 * @param {string} dataDir
 * @param {object | undefined} config
 */
async function open(dataDir, config) {
  const path = resolve(dataDir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const store = new SqliteStore(join(path, 'node.db'));
  try {
    const jobs = new ProcessJobs(join(path, 'node-jobs'));
    const code = await loadServer();
    return { component: new Component({ code, store, jobs, config, log: console.error }), jobs, store };
  } catch (error) {
    // It may be somebody else's process, which goes on.
    store.close();
    throw error;
  }
}

/**
 * Ends the input when nobody reads the output any more, or this process is asked to end; `asked` resolves then. After
 * `stopListening` a signal is again what it was before: it may be somebody else's process, which goes on.
 *
 * @param {Readable} input
 * @param {Writable} output
 * @param {Output} client
 */
function endWhenAsked(input, output, client) {
  let resolve = () => {};
  /** @type {Promise<void>} */
  const asked = new Promise((it) => (resolve = it));
  const end = () => {
    client.close();
    input.destroy();
    resolve();
  };
  output.on('error', end);
  process.on('SIGTERM', end).on('SIGINT', end);
  const stopListening = () => {
    output.off('error', end);
    process.off('SIGTERM', end).off('SIGINT', end);
  };
  return { asked, stopListening };
}

/**
 * Waits until the client has taken everything, or for too long. No timer is left: it would keep the process.
 *
 * @param {Output} client
 * @param {Promise<void>} asked
 */
async function untilTaken(client, asked) {
  const over = new AbortController();
  // Who asked this process to end does not wait for a client.
  const late = asked.then(() => delay(limits.ASKED_PATIENCE, undefined, { signal: over.signal }));
  try {
    await Promise.race([client.flushed(), late]);
  } finally {
    // The race has taken what this rejects.
    over.abort();
    client.giveUp();
  }
}

/**
 * Gives the connection one message after the other, each when the client has taken the replies so far: one that does
 * not read is not read from. Resolves at the end of the input, also where it fails or is ended.
 *
 * @param {AsyncGenerator<Line>} messages
 * @param {Connection} connection
 * @param {Output} client
 */
async function receiveAll(messages, connection, client) {
  for await (const line of messages) {
    if (client.isClosed) return;
    if ('message' in line) connection.receive(line.message);
    else connection.refuse(line.refuse);
    // Not raced against a promise that lives as long as the server: each race would stay in its memory.
    await client.room();
  }
}

/**
 * Has the component look after its tasks, now and whenever it asked for it.
 *
 * @param {Component} component
 * @returns {() => void} ends that
 */
function sweepRegularly(component) {
  const sweep = () => {
    const next = component.sweep(BigInt(Date.now()));
    const pause = next === undefined ? limits.LONGEST_SWEEP_PAUSE : Number(next) - Date.now();
    const bounded = Math.min(Math.max(pause, limits.SHORTEST_SWEEP_PAUSE), limits.LONGEST_SWEEP_PAUSE);
    timer = setTimeout(sweep, bounded);
  };
  let timer = setTimeout(sweep, limits.FIRST_SWEEP_DELAY);
  return () => clearTimeout(timer);
}
