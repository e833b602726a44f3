/** A client that does not read what it is sent: no message of it is read, and nothing it waits for is looked at. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PassThrough, Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Connection, serve } from '../src/index.js';
import { PIECE, UNTAKEN_PATIENCE } from '../src/limits.js';
import { Output } from '../src/output.js';
import { Client, meta } from './client.js';
import { eventually, temporaryDirectory } from './support.js';

/** @import { Component } from '../src/index.js' */

/** How many requests have more replies than every buffer between the two ends has room for. */
const REQUESTS = 3000;

/**
 * How many milliseconds a server may take for so many requests: seconds on a quiet machine, more than a minute on a
 * busy one.
 */
const MANY_REQUESTS_PATIENCE = 300_000;

/** How many open requests have more replies than that, and are no more than may be open. Each has a kilobyte. */
const OPEN_AT_END = 400;

/** @param {number} id @param {string} method @param {object} params */
const request = (id, method, params = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta('tasks') } });

/** Turns of the event loop, in which everything happens that does not wait for anything. */
async function turns() {
  for (let number = 0; number < 10; number += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets every timer fire that is due: one that is armed later fires later. */
const dueTimers = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A stream that takes something when it is told to. */
class Slow extends Writable {
  text = '';
  /** @type {(() => void) | undefined} */
  #taken;

  constructor(highWaterMark = 1000) {
    super({ highWaterMark });
  }

  /** @override @param {Buffer} bytes @param {string} _encoding @param {() => void} taken */
  _write(bytes, _encoding, taken) {
    this.text += bytes;
    this.#taken = taken;
  }

  /** Takes what was written last. */
  take() {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }
}

test('of a client that reads slowly no more is answered than it takes', async (cx) => {
  let requested = 0;
  const input = Readable.from(
    (function* () {
      for (; requested < 50; requested += 1) yield Buffer.from(`${request(requested, 'tools/list')}\n`);
    })(),
    { highWaterMark: 1 },
  );
  const output = new Slow();
  const served = serve({ dataDir: temporaryDirectory(cx), input, output });
  await eventually('the first reply', () => output.text || undefined);
  let isServed = false;
  served.then(() => (isServed = true));
  while (!isServed) {
    await turns();
    const answered = output.text.split('\n').length - 1;
    // One is read, and one is kept by the stream of them.
    assert.ok(requested <= answered + 2, `${requested} were read, and only ${answered} replies were sent`);
    output.take();
  }
  const ids = output.text.trimEnd().split('\n').map((line) => JSON.parse(line).id);
  assert.deepEqual(ids, [...Array(50).keys()]);
});

/** The clock ticks of processor time that a process has taken. @param {number | undefined} pid */
function ticks(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

/** How many bytes a process has written, wherever to. @param {number | undefined} pid */
const writtenBytes = (pid) => Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

/**
 * Waits until a server has nothing to do, its client holds as much as one does that does not read, and something is so
 * besides. Without the second a server that a busy machine keeps from the processor would count as idle.
 *
 * @param {Client} client
 * @param {string} what
 * @param {() => boolean} isSo
 */
async function idle({ child }, what, isSo) {
  let before = -1;
  const look = async () => {
    assert.equal(child.exitCode, null, what);
    const now = ticks(child.pid);
    const isFull = child.stdout.readableLength >= child.stdout.readableHighWaterMark;
    const isIdle = now === before && isFull && isSo();
    before = now;
    // Longer than an unfair scheduler keeps somebody from the processor who wants it.
    await new Promise((resolve) => setTimeout(resolve, 500));
    return isIdle || undefined;
  };
  await eventually(`the server to have nothing to do though ${what}`, look, MANY_REQUESTS_PATIENCE);
}

/**
 * Sends more than is read without reading the replies, until the server has nothing to do though there are requests.
 * Gives the id of the first one.
 *
 * @param {Client} client
 */
async function stall(client) {
  client.lines.pause();
  client.child.stdout.pause();
  const first = client.post('tools/list');
  for (let number = 1; number < REQUESTS; number += 1) client.post('tools/list');
  await idle(client, 'there are requests', () => client.child.stdin.writableLength > 0);
  return first;
}

test('a server whose client does not read stops to read, and goes on when it does', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx), ['--direct-limit', '0']);
  await client.result('server/discover');
  const first = await stall(client);
  client.lines.resume();
  // One after the other: there is a deadline for each, and a busy machine may need a minute for all.
  for (let id = first; id < first + REQUESTS; id += 1) await client.reply(id);
  assert.equal(client.unread.length, 0);
  assert.equal(await client.close(), 0);
});

test('a server whose client does not read ends when it is asked to', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx));
  await client.result('server/discover');
  await stall(client);
  client.child.stdin.on('error', () => undefined);
  client.child.kill('SIGTERM');
  // Not `close`: that would wait for its streams, which nobody reads.
  const { child } = client;
  const status = await eventually('the end of the server', () => child.exitCode ?? child.signalCode ?? undefined);
  assert.equal(status, 0);
});

/**
 * A connection whose component tells something of each request, keeps it open until a moment that has passed, and
 * answers it then; `cancel NAME` takes a request back.
 *
 * @param {Output} client
 */
function waiting(client) {
  /** @type {string[]} */
  const wakes = [];
  const pending = (/** @type {string} */ id) => ({ request: id, ticket: id, jobs: [], deadline: 0n });
  const component = {
    message: (/** @type {object} */ _cx, /** @type {string} */ body) =>
      body.startsWith('cancel ')
        ? { tag: 'cancel', val: { request: body.slice(7) } }
        : { tag: 'notify', val: { messages: [`${body} begins ${'.'.repeat(1000)}`], pending: pending(body) } },
    resume: (/** @type {object} */ _cx, /** @type {string} */ ticket, /** @type {string} */ why) => {
      wakes.push(`${ticket} ${why}`);
      return why === 'cancelled' ? { tag: 'nothing' } : { tag: 'reply', val: `${ticket} ends ${'.'.repeat(1000)}` };
    },
  };
  const connection = new Connection({
    component: /** @type {Component} */ (/** @type {unknown} */ (component)),
    endings: { whenEnded: () => () => undefined },
    principal: 'somebody',
    send: (message) => client.send(message),
    room: () => client.room(),
  });
  return { connection, wakes };
}

test('a request is not resumed while its notifications are not taken, and then one after the other', async () => {
  const stream = new Slow();
  const { connection, wakes } = waiting(new Output(stream));
  for (const name of ['a', 'b']) connection.receive(name);
  await dueTimers();
  await turns();
  assert.deepEqual(wakes, []);
  stream.take();
  await turns();
  assert.deepEqual(wakes, [], 'what b was told is not taken yet');
  stream.take();
  await turns();
  assert.deepEqual(wakes, ['a deadline'], 'its reply is not taken yet');
  stream.take();
  await turns();
  assert.deepEqual(wakes, ['a deadline', 'b deadline']);
});

test('a patience beyond what a timer takes is a long one', async (cx) => {
  cx.mock.timers.enable({ apis: ['setTimeout'] });
  for (const patience of [2 ** 31, Infinity]) {
    const client = new Output(new Slow(), patience);
    client.send('x');
    const isFlushed = happened(client.flushed());
    cx.mock.timers.tick(60_000);
    assert.equal(await isFlushed(), false);
    client.giveUp();
    assert.equal(await isFlushed(), true);
  }
});

test('what is taken back, and what is open at shutdown, waits for no client', async () => {
  const stream = new Slow();
  const { connection, wakes } = waiting(new Output(stream));
  for (const name of ['a', 'b', 'cancel a']) connection.receive(name);
  await dueTimers();
  connection.shutdown();
  assert.deepEqual(wakes, ['a cancelled', 'b shutdown']);
  stream.take();
  stream.take();
  stream.take();
  await turns();
  assert.deepEqual(wakes, ['a cancelled', 'b shutdown'], 'and is not resumed once more');
});

test('nobody waits for a stream whose write has failed, also where it is not destroyed', async (cx) => {
  /** @type {((error: Error) => void)[]} */
  const writes = [];
  // As the standard output of a process behaves whose reader has gone.
  const stream = new Writable({
    highWaterMark: 1000,
    autoDestroy: false,
    write: (_bytes, _encoding, done) => void writes.push(done),
  });
  const client = new Output(stream);
  client.send('x'.repeat(3 * PIECE));
  const room = client.room();
  assert.ok(room);
  const hasRoom = happened(room);
  cx.mock.timers.enable({ apis: ['setTimeout'] });
  const isFlushed = happened(client.flushed());
  assert.equal(await isFlushed(), false);
  writes[0]?.(new Error('nobody reads'));
  assert.equal(await isFlushed(), true);
  assert.equal(await hasRoom(), true);
  assert.ok(!stream.destroyed && stream.writableNeedDrain, 'the stream does not say so');
  client.send('x'.repeat(3 * PIECE));
  assert.equal(client.room(), undefined);
  assert.equal(await happened(client.flushed())(), true);
  assert.equal(writes.length, 1, 'nothing more is written');
});

test('nobody waits for the room of a stream that is closed', async () => {
  const stream = new Slow();
  const client = new Output(stream);
  assert.equal(client.room(), undefined);
  client.send('x'.repeat(1000));
  const room = client.room();
  assert.ok(room);
  assert.equal(client.room(), room);
  stream.destroy();
  await room;
  assert.equal(client.room(), undefined);
  await client.flushed();
});

/** Whether this has happened by now. @param {Promise<unknown>} promise */
function happened(promise) {
  let has = false;
  promise.then(() => (has = true));
  return async () => {
    await turns();
    return has;
  };
}

test('who takes the last messages slowly gets all of them, and who takes nothing is not waited for', async (cx) => {
  const stream = new Slow();
  const client = new Output(stream);
  const message = 'ä'.repeat(2 * PIECE);
  client.send(message);
  client.send('the last');
  cx.mock.timers.enable({ apis: ['setTimeout'] });
  const isFlushed = happened(client.flushed());
  // Four pieces of the long one, its line break, and the short one.
  for (let number = 0; number < 6; number += 1) {
    cx.mock.timers.tick(UNTAKEN_PATIENCE - 1);
    assert.equal(await isFlushed(), false);
    stream.take();
    await turns();
  }
  assert.equal(await isFlushed(), true);
  assert.equal(stream.text, `${message}\nthe last\n`);
  client.send('more');
  const isGivenUp = happened(client.flushed());
  cx.mock.timers.tick(UNTAKEN_PATIENCE - 1);
  assert.equal(await isGivenUp(), false);
  cx.mock.timers.tick(1);
  assert.equal(await isGivenUp(), true);
});

test('a server that waits for a client that does not read ends when it is asked to', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const listeners = () => ['SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal));
  const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
  const before = [listeners(), timers()];
  const took = async (/** @type {(output: Slow) => void} */ afterwards) => {
    const input = new PassThrough();
    const output = new Slow(1 << 20);
    const served = serve({ dataDir, input, output });
    const isServed = happened(served);
    input.end(`${request(1, 'tools/list')}\n`);
    await eventually('the reply', () => output.text || undefined);
    assert.equal(await isServed(), false, 'its reply is not taken');
    const begun = Date.now();
    process.emit('SIGTERM');
    await turns();
    afterwards(output);
    await served;
    const duration = Date.now() - begun;
    assert.deepEqual([listeners(), timers()], before, 'a signal is what it was before, and no timer keeps the process');
    return duration;
  };
  await took((output) => output.take());
  // By itself it would wait for five seconds. A busy machine may need nearly as long for one, but not each time.
  let attempts = 0;
  while ((await took(() => undefined)) > UNTAKEN_PATIENCE - 1000) assert.ok((attempts += 1) < 10);
});

test('who embeds a server says how long it waits for a client that takes nothing', async (cx) => {
  cx.mock.timers.enable({ apis: ['setTimeout'] });
  const patience = 60 * UNTAKEN_PATIENCE;
  const client = new Output(new Slow(), patience);
  client.send('never taken');
  const isGivenUp = happened(client.flushed());
  cx.mock.timers.tick(patience - 1);
  assert.equal(await isGivenUp(), false);
  cx.mock.timers.tick(1);
  assert.equal(await isGivenUp(), true);
});

test('a client that hung up and reads late gets every reply whole', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const patient = fileURLToPath(new URL('patient.js', import.meta.url));
  const client = new Client(cx, dataDir, ['--sync-limit', '600'], undefined, patient);
  await client.result('server/discover');
  client.lines.pause();
  client.child.stdout.pause();
  // All wait for one job, and are answered at the end of the input: then there is more than every buffer has room for.
  const command = `printf '%01000d' 0; while [ -d '${dataDir}' ]; do sleep 0.1; done`;
  const call = { name: 'run', arguments: { command, idempotencyKey: 'one' } };
  const { stdin, pid } = client.child;
  const before = writtenBytes(pid);
  const ids = Array.from({ length: OPEN_AT_END }, () => client.post('tools/call', call, 'plain'));
  stdin.end();
  await eventually('the requests to be taken', () => stdin.writableFinished || undefined);
  await idle(client, 'its replies are unread', () => true);
  // With what it wrote into files, which makes it more.
  const written = writtenBytes(pid) - before;
  client.lines.resume();
  let repliedBytes = 0;
  for (const id of ids) {
    const reply = await client.reply(id);
    assert.ok(reply.result);
    repliedBytes += Buffer.byteLength(JSON.stringify(reply));
  }
  assert.ok(written < repliedBytes, `nothing was held back: ${written} bytes were written, of ${repliedBytes}`);
  assert.equal(await client.ended, 0);
});
