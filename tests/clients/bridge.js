#!/usr/bin/env node
/**
 * A stdio server behind Streamable HTTP, for clients that speak nothing else, such as the conformance suite.
 *
 *     node bridge.js PROGRAM [ARGUMENT...]
 *
 * It prints its URL, and ends when its standard input does: with 1 where a message of a server had a wrong shape, which
 * standard error shows. Every POST is a connection of its own: a server process is
 * started for it and goes away with it. So the ids of two clients never meet, and no message has to be changed: what
 * the client sends is what the server reads, and the other way round. It also means that whatever the suite sees of a
 * task after its creation, it sees in another process than the one that made it.
 *
 * **Knows** which HTTP status belongs to which error, and that more than one message to a request is a stream. **Does
 * not know** what only a server that speaks HTTP itself can answer for: headers that repeat the message, `Origin`,
 * sessions. To check them here would prove nothing of the server, so the suite's checks of them fail.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

import { misshapen } from './shapes.js';

/** @import { IncomingMessage, ServerResponse } from 'node:http' */

/** What an error's code is in HTTP, where that is not 200. */
const STATUS = new Map([
  [-32700, 400],
  [-32600, 400],
  [-32020, 400],
  [-32021, 400],
  [-32022, 400],
  [-32601, 404],
]);

const INVALID_PARAMS = -32602;

/** What every request has to say in its `_meta`. Without it, it is the transport's to refuse, also by its status. */
const REQUIRED_META = ['protocolVersion', 'clientCapabilities'].map((name) => `io.modelcontextprotocol/${name}`);

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';

/**
 * The servers, one for each connection. The next one is started in advance: some checks of the suite leave half a
 * second for a call and all that belongs to it.
 */
class Servers {
  #command;
  #next;

  /** @param {string[]} command */
  constructor(command) {
    this.#command = command;
    this.#next = start(command);
  }

  take() {
    const server = this.#next;
    this.#next = start(this.#command);
    return server;
  }
}

/** @param {IncomingMessage} request @param {ServerResponse} response @param {Servers} servers */
async function handle(request, response, servers) {
  if (request.method !== 'POST') return end(response, 405, 'only POST');
  const body = await text(request);
  const message = parsed(body);
  const server = servers.take();
  // The one way to take a request back over HTTP; the server then ends, and jobs go on.
  response.on('close', () => server.stdin.end());
  server.stdin.write(`${oneLine(body)}\n`);
  if (isNotification(message)) {
    server.stdin.end();
    await once(server, 'close');
    return end(response, 202);
  }
  for await (const line of createInterface({ input: server.stdout })) pass(line, response, message);
  if (!response.writableEnded) end(response, 502, 'the server ended without a reply');
}

/** @param {string[]} command */
function start([program = '', ...args]) {
  const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  // It may end before it has read everything. What it did not answer is told to the client.
  server.stdin.on('error', () => {});
  return server;
}

/**
 * Passes on a message of the server. The first one decides what the answer is: a reply alone, or a stream that ends
 * with it.
 *
 * @param {string} line
 * @param {ServerResponse} response
 * @param {any} request
 */
function pass(line, response, request) {
  const message = parsed(line);
  const isReply = message?.method === undefined;
  complain(misshapen(message, request?.method));
  if (isReply && !response.headersSent) {
    response.writeHead(statusOf(message, request), { 'Content-Type': JSON_TYPE }).end(line);
    return;
  }
  if (!response.headersSent) {
    response.writeHead(200, { 'Content-Type': STREAM_TYPE, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  }
  response.write(`data: ${line}\n\n`);
  if (isReply) response.end();
}

/** @param {string | undefined} problem */
function complain(problem) {
  if (problem === undefined) return;
  console.error(problem);
  process.exitCode = 1;
}

/** @param {any} reply @param {any} request */
function statusOf(reply, request) {
  const code = reply?.error?.code;
  const meta = request?.params?._meta;
  if (code === INVALID_PARAMS && REQUIRED_META.some((name) => meta?.[name] === undefined)) return 400;
  return STATUS.get(code) ?? 200;
}

/** @param {any} message */
function isNotification(message) {
  return typeof message?.method === 'string' && message.id === undefined;
}

/** A line break in a JSON text is always white space, and a message over stdio is one line. @param {string} body */
function oneLine(body) {
  return body.replace(/[\r\n]+/g, ' ');
}

/** @param {string} json @returns {any} nothing where it is no JSON */
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** @param {ServerResponse} response @param {number} status @param {string} [reason] */
function end(response, status, reason) {
  response.writeHead(status).end(reason);
}

const servers = new Servers(process.argv.slice(2));
const listener = createServer((request, response) => {
  handle(request, response, servers).catch((error) => {
    console.error(error);
    response.destroy();
  });
});
listener.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (listener.address());
  console.log(`http://127.0.0.1:${address.port}/mcp`);
});
process.stdin.on('end', () => process.exit()).resume();
