/**
 * An MCP server over standard input and output: one client, which started this process.
 *
 * *Source:* MCP 2026-07-28, Transports, stdio.
 */

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Component } from './component.js';
import { Connection } from './connection.js';
import { ProcessJobs } from './jobs/jobs.js';
import { FIRST_SWEEP_DELAY, LONGEST_SWEEP_PAUSE, SHORTEST_SWEEP_PAUSE } from './limits.js';
import { Lines } from './lines.js';
import { loadServer } from './load.js';
import { SqliteStore } from './store/sqlite.js';

/** @import { Readable, Writable } from 'node:stream' */
/**
 * @typedef {object} Options
 * @property {string} dataDir where everything is kept; created where it is missing, and closed to other users
 * @property {object} [config] the members of the WIT's `configure`
 * @property {number} [maxMessageBytes] the longest message that is accepted
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
export async function serve({ dataDir, config, maxMessageBytes, input, output }) {
  const { component, jobs } = await open(dataDir, config);
  const sink = output ?? process.stdout;
  const connection = new Connection({
    component,
    endings: jobs,
    principal: `uid:${process.geteuid?.()}`,
    send: (message) => sink.write(`${message}\n`),
  });
  const stopSweeping = sweepRegularly(component);
  await receiveAll(input ?? process.stdin, sink, connection, new Lines(maxMessageBytes ?? MAX_MESSAGE_BYTES));
  stopSweeping();
  connection.shutdown();
  await flushed(sink);
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
  const jobs = new ProcessJobs(join(path, 'node-jobs'));
  const code = await loadServer();
  return { component: new Component({ code, store, jobs, config, log: console.error }), jobs };
}

/**
 * Resolves at the end of the input, when the output is closed, or when this process is asked to end.
 *
 * @param {Readable} input
 * @param {Writable} output
 * @param {Connection} connection
 * @param {Lines} lines
 */
async function receiveAll(input, output, connection, lines) {
  const take = (/** @type {import('./lines.js').Line} */ line) =>
    'message' in line ? connection.receive(line.message) : connection.refuse(line.refuse);
  input.on('data', (bytes) => {
    for (const line of lines.push(bytes)) take(line);
  });
  await new Promise((resolve) => {
    input.on('end', resolve).on('error', resolve);
    output.on('error', resolve);
    process.on('SIGTERM', resolve).on('SIGINT', resolve);
  });
  input.removeAllListeners('data').pause();
  for (const line of lines.end()) take(line);
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
    const pause = next === undefined ? LONGEST_SWEEP_PAUSE : Number(next) - Date.now();
    timer = setTimeout(sweep, Math.min(Math.max(pause, SHORTEST_SWEEP_PAUSE), LONGEST_SWEEP_PAUSE));
  };
  let timer = setTimeout(sweep, FIRST_SWEEP_DELAY);
  return () => clearTimeout(timer);
}

/** Resolves when everything has been written, or nobody reads any more. @param {Writable} output */
function flushed(output) {
  return new Promise((resolve) => output.write('', resolve));
}
