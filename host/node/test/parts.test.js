/** The parts that need neither a component nor a process. */

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { checkSpec } from '../src/jobs/contract.js';
import { Life } from '../src/jobs/life.js';
import { Recorder, readOutput } from '../src/jobs/output.js';
import { LINGER, LOOK_AGAIN, OUTPUT_RETRY } from '../src/limits.js';
import { Lines } from '../src/lines.js';
import { compareKeys, endOfPrefix } from '../src/store/contract.js';
import { temporaryDirectory } from './support.js';

/** @param {(string | Buffer)[]} chunks */
function linesOf(...chunks) {
  const lines = new Lines(8);
  const found = chunks.flatMap((chunk) => [...lines.push(Buffer.from(chunk))]);
  return [...found, ...lines.end()];
}

test('each line is a message, wherever the chunks end', () => {
  const wanted = [{ message: 'one' }, { message: 'twö' }];
  assert.deepEqual(linesOf('one\ntwö\n'), wanted);
  assert.deepEqual(linesOf('\n\none\r\n\r\ntwö'), wanted);
  assert.deepEqual(linesOf(...[...Buffer.from('one\ntwö\n')].map((byte) => Buffer.from([byte]))), wanted);
});

test('a line of the limit is accepted, and a longer one is not', () => {
  assert.deepEqual(linesOf('12345678\n'), [{ message: '12345678' }]);
  assert.deepEqual(linesOf('12345', '6789\nnext\n'), [{ refuse: 'too-large' }, { message: 'next' }]);
  assert.deepEqual(linesOf('123456789'), [{ refuse: 'too-large' }]);
});

test('bytes that are no text are refused', () => {
  assert.deepEqual(linesOf(Buffer.from([0xff, 0x0a])), [{ refuse: 'not-utf8' }]);
});

test('keys are ordered as their bytes in UTF-8 are', () => {
  const beyondAscii = ['\u{80}', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'];
  const keys = ['', 'a', 'a\u{1}', 'ab', 'b', '\u{7f}', ...beyondAscii];
  const bytes = (/** @type {string} */ key) => Buffer.from(key);
  for (const a of keys) {
    for (const b of keys) {
      assert.equal(Math.sign(compareKeys(a, b)), Buffer.compare(bytes(a), bytes(b)), `${a} and ${b}`);
    }
  }
});

test('the end of a prefix counts up its last character, and carries over', () => {
  assert.equal(endOfPrefix('task/'), 'task0');
  assert.equal(endOfPrefix('\ud7ff'), '\ue000');
  assert.equal(endOfPrefix('a\u{10ffff}\u{10ffff}'), 'b');
  assert.equal(endOfPrefix('\u{10ffff}'), undefined);
  assert.equal(endOfPrefix(''), undefined);
});

test('a command that wants a terminal is refused', () => {
  const spec = /** @type {any} */ ({ command: { tag: 'shell', val: 'true' }, environment: [] });
  checkSpec(spec);
  const isBad = (/** @type {any} */ error) => error.payload.kind === 'bad-spec';
  assert.throws(() => checkSpec({ ...spec, interactive: true }), isBad);
});

/** @param {Partial<import('../src/jobs/model.js').Spec>} limits */
function life(limits) {
  const spec = { timeoutMs: null, lifetimeMs: null, graceMs: 500, ...limits };
  return new Life(/** @type {any} */ (spec), { asked: 900, executed: 1000 });
}

test('a stopped job is terminated, and after its grace killed again and again', () => {
  const it = life({});
  assert.equal(it.wakeAt, Infinity);
  assert.equal(it.stop('cancelled', 2000), 'terminate');
  assert.equal(it.stop('expired', 2001), 'wait');
  assert.equal(it.tick(2499), 'wait');
  assert.equal(it.tick(2500), 'kill');
  assert.equal(it.tick(2500 + LOOK_AGAIN), 'kill');
  assert.equal(it.stopped, 'cancelled');
});

test('without a grace it is killed at once', () => {
  assert.equal(life({ graceMs: 0 }).stop('cancelled', 2000), 'kill');
});

test('the deadline that comes first is the cause', () => {
  const it = life({ timeoutMs: 300, lifetimeMs: 500 });
  assert.equal(it.wakeAt, 1300);
  assert.equal(it.overdue(1299), undefined);
  assert.equal(it.overdue(1300), 'timed-out');
  assert.equal(life({ timeoutMs: 600, lifetimeMs: 500 }).overdue(1400), 'expired');
});

test('what outlives a command that ended by itself is stopped, and the job is not', () => {
  const it = life({});
  it.commandEnded(2000);
  assert.equal(it.tick(2000 + LINGER - 1), 'wait');
  assert.equal(it.tick(2000 + LINGER), 'terminate');
  assert.ok(it.hasLeftovers);
  assert.equal(it.stopped, null);
  assert.equal(it.overdue(1e9), undefined);
});

test('output is read as it was written, from any offset', (cx) => {
  const directory = temporaryDirectory(cx);
  const recorder = new Recorder(directory, 1e6);
  recorder.record('stdout', Buffer.from('abc'));
  recorder.record('stderr', Buffer.from('def'));
  recorder.record('stdout', Buffer.from([0xff, 0]));
  const read = (/** @type {number} */ offset, /** @type {number} */ limit) =>
    readOutput(directory, { offset, limit, isGrowing: false }).map((it) => [it.offset, it.stream, it.bytes.toString()]);
  assert.deepEqual(read(1, 4), [[1, 'stdout', 'bc'], [3, 'stderr', 'de']]);
  assert.deepEqual(read(8, 4), []);
  const [last] = readOutput(directory, { offset: 6, limit: 9, isGrowing: true });
  assert.deepEqual(last?.bytes, Buffer.from([0xff, 0]));
});

test('output keeps its beginning and its end, and counts what is between', (cx) => {
  const directory = temporaryDirectory(cx);
  const recorder = new Recorder(directory, 4096);
  const line = (/** @type {number} */ number) => Buffer.from(`${String(number).padStart(9)}\n`);
  for (let number = 0; number < 10_000; number += 1) recorder.record(number % 2 ? 'stdout' : 'stderr', line(number));
  const fragments = readOutput(directory, { offset: 0, limit: 1e6, isGrowing: false });
  const kept = fragments.reduce((sum, { bytes }) => sum + bytes.length, 0);
  assert.equal(recorder.writtenBytes, 100_000);
  assert.equal(recorder.writtenBytes - recorder.droppedBytes, kept);
  assert.ok(kept < 4096, 'the index counts as output');
  assert.equal(fragments[0]?.bytes.toString(), line(0).toString());
  assert.equal(fragments.at(-1)?.bytes.toString(), line(9999).toString());
});

test('a disk that takes half of a segment costs the output, and no descriptor for each attempt', (cx) => {
  const directory = temporaryDirectory(cx);
  mkdirSync(join(directory, 'out-00000000000000000000'));
  mkdirSync(join(directory, 'out-00000000000000000003'));
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  const recorder = new Recorder(directory, 4096);
  recorder.record('stdout', Buffer.from('abc'));
  // When the disk is tried again.
  const now = process.hrtime.bigint();
  cx.mock.method(process.hrtime, 'bigint', () => now + BigInt(OUTPUT_RETRY + 1) * 1_000_000n);
  recorder.record('stdout', Buffer.from('def'));
  assert.equal(recorder.droppedBytes, 6);
  assert.equal(open(), before);
});
