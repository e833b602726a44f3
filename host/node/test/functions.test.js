/** Jobs as functions, where the conformance kit does not reach: what a function is given, asks and says of itself. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { FunctionJobs } from '../src/index.js';
import { ANSWER_BYTES, FORM_BYTES, OPEN_QUESTIONS, REPORT_BYTES } from '../src/limits.js';
import { eventually } from './support.js';
import { act, until } from './vocabulary.js';

/** @import { Call, Run, Spec } from '../src/types.js' */

/** @type {Spec} */
const ANY = {
  command: { tag: 'shell', val: 'any' },
  environment: [],
  stdin: '',
  interactive: false,
  graceMs: 0n,
  outputLimitBytes: 4096n,
};

/**
 * A job of one function, which is called whatever the job's name is.
 *
 * @param {Run} run
 * @param {Partial<Spec>} [spec]
 */
function begin(run, spec) {
  const jobs = new FunctionJobs(run);
  const id = crypto.randomUUID();
  jobs.start(id, { ...ANY, ...spec });
  const progress = () => {
    const state = jobs.inspect(id);
    assert.ok(state.tag === 'running');
    return state.val;
  };
  const ended = async () => {
    await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
    const state = jobs.inspect(id);
    assert.ok(state.tag === 'ended');
    return state.val;
  };
  const text = () => jobs.read(id, 0n, 4096).map(({ bytes }) => new TextDecoder().decode(bytes)).join('');
  return { jobs, id, progress, ended, text };
}

test('one function may run all commands, and a line keeps its blanks and quotes', async () => {
  /** @type {Call[]} */
  const calls = [];
  const run = async (/** @type {Call} */ call) => void calls.push(call);
  await begin(run, { command: { tag: 'shell', val: " a  'b  c'" } }).ended();
  await begin(run, { command: { tag: 'program', val: ['a', 'b  c'] } }).ended();
  assert.deepEqual(calls.map(({ line, words }) => [line, words]), [
    [" a  'b  c'", ['a', "'b", "c'"]],
    [undefined, ['a', 'b  c']],
  ]);
});

test('a function says how else it ended', async () => {
  for (const end of /** @type {const} */ ([
    { tag: 'signalled', val: { signal: 'SIGSEGV', coreDumped: false } },
    { tag: 'not-started', val: { detail: 'there is no such program' } },
  ])) {
    assert.deepEqual((await begin(async () => end).ended()).end, end);
  }
  const none = /** @type {any} */ (async () => null);
  assert.deepEqual((await begin(none).ended()).end, { tag: 'exited', val: { code: 0 } });
});

test('a function whose end is none has failed, and its job ends', async () => {
  for (const given of [NaN, 1.5, 'x', true, {}, { tag: 'exited', val: { code: 256 } }, { tag: 'gone', val: {} }]) {
    const it = begin(/** @type {any} */ (async () => given));
    assert.deepEqual((await it.ended()).end, { tag: 'exited', val: { code: 1 } }, JSON.stringify(given));
    assert.match(it.text(), /gives an exit code or an end, and not/);
  }
  // As from a process.
  for (const [given, code] of /** @type {const} */ ([[256, 0], [-1, 255], [undefined, 0]])) {
    assert.deepEqual((await begin(async () => given).ended()).end, { tag: 'exited', val: { code } });
  }
});

test('a function that throws what has no text has failed, and its job ends', async () => {
  const mute = { toString: () => { throw new Error('no'); } };
  for (const thrown of [Object.create(null), mute, { message: 'x', toString: null }, Symbol('x'), undefined]) {
    const it = begin(async () => { throw thrown; });
    assert.deepEqual((await it.ended()).end, { tag: 'exited', val: { code: 1 } });
    assert.match(it.text(), /^(what the function threw cannot be told: throw an Error|Symbol\(x\)|undefined)\n$/);
  }
});

test('what a function says that nobody could be told is refused', async () => {
  const wrong = /** @type {[string, (call: any) => unknown][]} */ ([
    ['a percentage', ({ report }) => report({ percent: NaN })],
    ['a percentage', ({ report }) => report({ percent: '40' })],
    ['a stream', ({ write }) => write('x', 'stdlog')],
    ['a question', ({ ask }) => ask(undefined)],
  ]);
  for (const [what, say] of wrong) {
    const it = begin(async (call) => void (await say(call)));
    assert.deepEqual((await it.ended()).end, { tag: 'exited', val: { code: 1 } });
    assert.match(it.text(), new RegExp(`^TypeError: ${what} is `));
  }
});

test('a function is told when its grace is over, and not before', async () => {
  const stubborn = begin(({ killed }) => until(killed), { graceMs: 200n });
  stubborn.jobs.stop(stubborn.id, 'cancelled');
  stubborn.jobs.stop(stubborn.id, 'expired');
  const { end, stopped, durationMs } = await stubborn.ended();
  assert.deepEqual(end, { tag: 'signalled', val: { signal: 'SIGKILL', coreDumped: false } });
  assert.equal(stopped, 'cancelled');
  assert.ok(durationMs >= 195n, `it took ${durationMs} ms`);
  const obedient = begin(({ signal }) => until(signal), { graceMs: 60_000n });
  obedient.jobs.stop(obedient.id, 'cancelled');
  assert.deepEqual((await obedient.ended()).end, { tag: 'signalled', val: { signal: 'SIGTERM', coreDumped: false } });
  const hasty = begin(({ signal }) => until(signal));
  hasty.jobs.stop(hasty.id, 'cancelled');
  assert.deepEqual((await hasty.ended()).end, { tag: 'signalled', val: { signal: 'SIGKILL', coreDumped: false } });
});

test('a directory that there is not is refused, and the id stays unknown', () => {
  const jobs = new FunctionJobs(async () => 0, { isDirectory: (path) => path === '/here' });
  const id = crypto.randomUUID();
  assert.throws(
    () => jobs.start(id, { ...ANY, directory: '/there' }),
    ({ payload }) => payload.kind === 'bad-directory' && /\/there does not exist/.test(payload.detail),
  );
  assert.equal(jobs.inspect(id).tag, 'unknown');
  jobs.start(id, { ...ANY, directory: '/here' });
  jobs.start(crypto.randomUUID(), ANY);
});

test('a function asks, and the first answer reaches it', async () => {
  const it = begin(async ({ ask, write }) => {
    for (const form of ['"first"', '"second"']) write(`${await ask(form)}\n`);
  });
  const asked = () => eventually('a question', () => it.progress().questions[0]);
  const first = await asked();
  assert.equal(first.form, '"first"');
  assert.match(first.key, /^[a-z0-9-]{1,64}$/);
  it.jobs.answer(it.id, 'another', '"no"');
  assert.throws(() => it.jobs.answer(it.id, first.key, 'x'.repeat(ANSWER_BYTES + 1)), /an answer may have/);
  assert.deepEqual(it.progress().questions, [first], 'it is open');
  it.jobs.answer(it.id, first.key, '"yes"');
  assert.deepEqual(it.progress().questions, []);
  it.jobs.answer(it.id, first.key, '"late"');
  it.jobs.answer(crypto.randomUUID(), first.key, '"nobody"');
  const second = await asked();
  assert.notEqual(second.key, first.key);
  it.jobs.answer(it.id, second.key, '"no"');
  await it.ended();
  assert.equal(it.text(), '"yes"\n"no"\n');
  it.jobs.answer(it.id, second.key, '"after its end"');
});

test('questions go with a job that has ended or is to stop, and nothing comes of them or of later ones', async () => {
  for (const stopIt of [false, true]) {
    /** @type {string[]} */
    const came = [];
    /** @type {(form: string) => void} */
    let ask = () => {};
    let end = () => {};
    const it = begin(async (call) => {
      // Nobody looks at what comes of these: a rejection would end the process.
      ask = (form) => void call.ask(form).then(() => came.push(form));
      ask('"first"');
      await new Promise((resolve) => (end = () => resolve(undefined)));
    });
    const { key } = await eventually('a question', () => it.progress().questions[0]);
    if (stopIt) {
      it.jobs.stop(it.id, 'cancelled');
      assert.deepEqual(it.progress().questions, []);
      ask('"second"');
      assert.deepEqual(it.progress().questions, []);
    }
    end();
    await it.ended();
    it.jobs.answer(it.id, key, '"late"');
    ask('"third"');
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(came, []);
  }
});

test('a function that asks much leaves no listener for each question', async () => {
  /** @type {string[]} */
  const added = [];
  const it = begin(async ({ ask, signal }) => {
    const add = signal.addEventListener.bind(signal);
    signal.addEventListener = (/** @type {[any, any]} */ ...words) => (added.push(words[0]), add(...words));
    for (let number = 0; number < 3; number += 1) await ask('"again"');
  });
  for (let number = 0; number < 3; number += 1) {
    const { key } = await eventually('a question', () => it.progress().questions[0]);
    it.jobs.answer(it.id, key, '"yes"');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await it.ended();
  assert.deepEqual(added, []);
});

test('a function that listens to its signal too ends while it asks', async () => {
  const it = begin(({ ask, signal }) => Promise.race([ask('"first"').then(() => 0), until(signal)]));
  await eventually('a question', () => it.progress().questions[0]);
  it.jobs.stop(it.id, 'cancelled');
  assert.equal((await it.ended()).end.tag, 'signalled');
});

test('a function has so many questions of such a length, and no more', async () => {
  const it = begin(async ({ ask, signal, write }) => {
    await ask('x'.repeat(FORM_BYTES + 1)).catch((error) => write(`${error.message}\n`));
    for (let number = 0; number < OPEN_QUESTIONS; number += 1) ask(String(number)).catch(() => undefined);
    await ask('"one more"').catch((error) => write(`${error.message}\n`));
    await until(signal);
  });
  await eventually('both refusals', () => /may have .*\n.* asks 32 other questions/.test(it.text()) || undefined);
  const forms = it.progress().questions.map(({ form }) => form);
  assert.deepEqual(forms, Array.from({ length: OPEN_QUESTIONS }, (_, number) => String(number)), 'oldest first');
  it.jobs.stop(it.id, 'cancelled');
  await it.ended();
});

test('a function says how far it is', async () => {
  const reports = [{ percent: 40.9, text: 'compiling' }, { text: `x${'é'.repeat(REPORT_BYTES)}` }, { percent: 101 }];
  let next = () => {};
  const it = begin(async ({ report, signal }) => {
    for (const said of reports) {
      report(said);
      await new Promise((resolve) => (next = () => resolve(undefined)));
    }
    await until(signal);
  });
  assert.equal(it.progress().report, undefined);
  const wanted = /** @type {const} */ ([[40, 'compiling'], [undefined, `x${'é'.repeat(499)}`], [100, '']]);
  for (const [percent, text] of wanted) {
    const report = await eventually('a report', () => it.progress().report);
    assert.deepEqual([report.percent, report.text], [percent, text]);
    next();
    await new Promise((resolve) => setImmediate(resolve));
  }
  it.jobs.stop(it.id, 'cancelled');
  await it.ended();
});

test('the vocabulary of transcripts means what it means to a shell', async () => {
  const environment = { NAME: 'a  value', OTHER: '$NAME; x' };
  for (const line of [
    'echo one; echo two >&2; exit 3; echo never',
    `echo 'a;  b' "c $NAME"  '$NAME' "$OTHER"-x`,
    "printf 'a\\rb\\t%%\\033[0m\\n'; false",
    'cat; true',
    'false; echo x;',
    `echo "it's" 'a "quote"' ''x`,
    'echo last words; kill -9 $$; echo never',
    'kill -SEGV $$',
    'sleep 0.01; pwd',
    "trap '' TERM; echo stubborn",
  ]) {
    const real = spawnSync('sh', ['-c', line], { env: environment, input: 'given', cwd: '/', encoding: 'utf8' });
    const surroundings = { environment: Object.entries(environment), stdin: 'given' };
    const it = begin(act, { command: { tag: 'shell', val: line }, ...surroundings });
    const { end } = await it.ended();
    const wanted = real.signal
      ? { tag: 'signalled', val: { signal: real.signal, coreDumped: false } }
      : { tag: 'exited', val: { code: real.status } };
    assert.deepEqual(end, wanted, line);
    const written = it.jobs.read(it.id, 0n, 4096).map(({ stream, bytes }) => [stream, new TextDecoder().decode(bytes)]);
    for (const stream of /** @type {const} */ (['stdout', 'stderr'])) {
      const ours = written.filter(([name]) => name === stream).map(([, text]) => text);
      assert.equal(ours.join(''), real[stream], line);
    }
  }
});

test('what the vocabulary of transcripts has not is a failure', async () => {
  const shell = ['ls', 'echo x | cat', 'echo $(x)', 'echo x > y', 'echo *'];
  for (const line of [...shell, 'kill -TERM $$', "trap 'x' TERM", 'backburner x']) {
    const it = begin(act, { command: { tag: 'shell', val: line } });
    const { end } = await it.ended();
    assert.deepEqual(end, { tag: 'exited', val: { code: 1 } }, line);
    assert.match(it.text(), /not in the vocabulary of transcripts/, line);
  }
});
