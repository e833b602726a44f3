/** What jobs ask and say of themselves: as a client sees it, and as the files that it is. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { lasting, milliseconds } from '../src/cli/duration.js';
import { Form, readAnswer, untilWhen } from '../src/cli/form.js';
import { read } from '../src/cli/progress.js';
import { ProcessJobs } from '../src/index.js';
import { Asker } from '../src/jobs/questions.js';
import { readReport, writeReport } from '../src/jobs/report.js';
import { ANSWER_BYTES, FORM_BYTES, OPEN_QUESTIONS, REPORT_BYTES } from '../src/limits.js';
import { BIN, Client } from './client.js';
import { eventually, temporaryDirectory } from './support.js';

/** This program in a shell line. */
const PROGRAM = `'${process.execPath}' '${BIN}'`;

/**
 * Polls a task until it asks so many things, and gives what they are, by their keys.
 *
 * @param {Client} client
 * @param {string} taskId
 * @param {number} count
 */
function asked(client, taskId, count = 1) {
  return eventually(`${count} questions of ${taskId}`, async () => {
    const { status, inputRequests = {} } = await client.result('tasks/get', { taskId }, 'person');
    assert.equal(status, Object.keys(inputRequests).length > 0 ? 'input_required' : 'working');
    return Object.keys(inputRequests).length === count ? inputRequests : undefined;
  });
}

/** @param {Client} client @param {string} taskId @param {string} key @param {object} answer */
const answer = (client, taskId, key, answer) =>
  client.result('tasks/update', { taskId, inputResponses: { [key]: answer } }, 'person');

test('a job asks, a client of another server answers, and the job goes on', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const first = new Client(cx, dataDir);
  const fields = "--field 'where:a|b=B:Where to' --field 'note?:text'";
  const id = await first.run(`${PROGRAM} ask 'Which?' ${fields} --deadline 1h30m; echo ended with $?`);
  const [[key, request]] = /** @type {[[string, any]]} */ (Object.entries(await asked(first, id)));
  assert.equal(request.method, 'elicitation/create');
  assert.match(request.params.message, /^Which\?\n\(if nobody answers by 2.* UTC, 1 h 30 min after this .*\)$/);
  const { properties, required } = request.params.requestedSchema;
  assert.deepEqual(required, ['where']);
  assert.equal(properties.where.title, 'Where to');
  assert.deepEqual(Object.keys(properties), ['where', 'note']);
  await first.kill();

  const second = new Client(cx, dataDir);
  await answer(second, id, key, { action: 'accept', content: { where: 'c' } });
  assert.deepEqual(Object.keys(await asked(second, id)), [key], 'an answer that does not fit leaves the question open');
  await answer(second, id, key, { action: 'accept', content: { where: 'b' } });
  const task = await second.endedTask(id);
  assert.match(task.result.content[0].text, /\{"where":"b"\}\nended with 0/);
});

test('the exit status says what the person did', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx));
  const line = ['first --number', 'second', 'third --text'].map((it) => `{ ${PROGRAM} ask ${it}; echo ${it} $?; } & `);
  const id = await client.run(`${line.join('')} wait`);
  const answers = new Map(
    Object.entries({
      first: { action: 'accept', content: { answer: /** @type {any} */ (JSON).rawJSON('1.50') } },
      second: { action: 'decline' },
      third: { action: 'cancel' },
    }),
  );
  for (const [key, { params }] of Object.entries(await asked(client, id, 3))) {
    await answer(client, id, key, answers.get(params.message) ?? {});
  }
  const { text } = (await client.endedTask(id)).result.content[0];
  // The three end in any order.
  assert.match(text, /^1\.50$/m, 'a number is printed as it was written');
  assert.match(text, /first --number 0/);
  assert.match(text, /second 1/);
  assert.match(text, /third --text 2/);
});

test('a question is withdrawn when its asker ends, and a deadline ends one', async (cx) => {
  const directory = temporaryDirectory(cx);
  const client = new Client(cx, directory);
  const go = join(directory, 'go');
  const wait = `while [ ! -e '${go}' ]; do sleep 0.1; done`;
  const id = await client.run(`${PROGRAM} ask Wait & asker=$!; ${wait}; kill -9 $asker; sleep 300`);
  await asked(client, id);
  writeFileSync(go, '');
  await asked(client, id, 0);
  await client.result('tasks/cancel', { taskId: id });
  assert.equal((await client.endedTask(id)).status, 'cancelled');
  const late = await client.run(`${PROGRAM} ask Late --text --deadline 0s500ms; echo ended with $?`);
  assert.match((await client.endedTask(late)).result.content[0].text, /ended with 2/);
});

test('a job says how far it is', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx));
  const id = await client.run(`${PROGRAM} progress 40 compiling all of it; sleep 300`);
  await eventually('the words of the job', async () => {
    const { statusMessage } = await client.result('tasks/get', { taskId: id });
    return /40.*compiling all of it/.test(statusMessage) || undefined;
  });
  await client.result('tasks/cancel', { taskId: id });
  assert.equal((await client.endedTask(id)).status, 'cancelled');
});

test('a wrong command line is refused in words, and so is one outside of a job', () => {
  const { BACKBURNER_JOB_DIRECTORY: _, ...env } = process.env;
  const refused = (/** @type {number} */ status, /** @type {RegExp} */ words, /** @type {string[]} */ args) => {
    const ended = spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8', env });
    assert.equal(ended.status, status, `${args}: ${ended.stderr}`);
    assert.match(ended.stderr, words);
    assert.equal(ended.stdout, '');
  };
  refused(125, /this is no job/, ['ask', 'a']);
  refused(125, /this is no job/, ['progress', '1']);
  refused(125, /native/, ['ask', 'a', '--choice', 'b']);
  refused(125, /native/, ['ask', 'a', '--url=https://example.org/']);
  refused(125, /--nothing/, ['ask', 'a', '--nothing']);
  refused(125, /message/, ['ask']);
  for (const deadline of ['0', '366d', '1h1h']) refused(125, /--deadline.*365d/, ['ask', 'a', '--deadline', deadline]);
  refused(2, /percentage/, ['progress']);
  refused(2, /0 to 100/, ['progress', '101', 'a']);
});

test('a report is a percentage, a text or both, as in the native program', () => {
  for (const [words, percent, text] of /** @type {[string[], number | null, string][]} */ ([
    [['40', 'a'], 40, 'a'],
    [['99.9%'], 99, ''],
    [['40 %'], 40, ''],
    [['1e1'], 10, ''],
    [['a b'], null, 'a b'],
    [['a', 'b'], null, 'a b'],
    [['40', 'a', '101'], 40, 'a 101'],
    [['3 of 7'], null, '3 of 7'],
    [[''], null, ''],
  ])) {
    assert.deepEqual(read(words), { percent, text }, words.join());
  }
  for (const word of ['101', '100.1', '101%', '-1', '-0.1', 'nan', 'NaN', 'inf', '-inf', 'infinity', '1e9']) {
    for (const words of [[word], [word, 'a']]) assert.throws(() => read(words), /is no percentage/, words.join());
  }
});

test('an answer that cannot be printed is no refusal', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx));
  for (const [streams, said] of /** @type {const} */ ([
    ['> /dev/full', /ENOSPC[^]*ended with 125/],
    ['> /dev/full 2>&1', /ended with 125/],
    ['> /dev/full 2>&-', /ended with 125/],
  ])) {
    const id = await client.run(`${PROGRAM} ask Which --text ${streams}; echo ended with $?`);
    const [key = ''] = Object.keys(await asked(client, id));
    await answer(client, id, key, { action: 'accept', content: { answer: 'a' } });
    assert.match((await client.endedTask(id)).result.content[0].text, said, streams);
  }
});

test('nobody is asked for what cannot be printed, as standard output is closed', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx));
  const questions = ['Which --text', 'Which --field a:text', 'Agree --json'];
  const closed = questions.map((it) => `${PROGRAM} ask ${it} >&- 2>&3; echo $?`);
  const id = await client.run(`exec 3>&1; ${closed.join('; ')}`);
  const { text } = (await client.endedTask(id)).result.content[0];
  assert.equal(text.match(/standard output is closed.*> \/dev\/null\n125$/gm)?.length, closed.length, text);
  const saying = async (/** @type {string} */ words, /** @type {object} */ content) => {
    const id = await client.run(`${PROGRAM} ask ${words}; echo ended with $?`);
    const [key = ''] = Object.keys(await asked(client, id));
    await answer(client, id, key, { action: 'accept', content });
    return (await client.endedTask(id)).result.content[0].text;
  };
  assert.match(await saying('Which --text > /dev/null', { answer: 'a' }), /ended with 0/, 'dropped on purpose');
  assert.match(await saying('Agree >&-', {}), /ended with 0/, 'nothing is printed');
});

test('a form has what the options say', () => {
  const form = (/** @type {Partial<ConstructorParameters<typeof Form>[0]>} */ options) =>
    new Form({ message: 'm', kinds: [], fields: [], isOptional: false, ...options });
  const schema = (/** @type {Parameters<typeof form>[0]} */ options) => JSON.parse(form(options).text).requestedSchema;
  const none = { type: 'object', properties: {}, required: [] };
  assert.deepEqual(schema({}), none);
  const text = { properties: { answer: { type: 'string' } }, required: ['answer'] };
  assert.deepEqual(schema({ kinds: ['text'] }), { ...none, ...text });
  assert.deepEqual(schema({ fields: ['a:x|y=Y'], isOptional: true }).properties.a, {
    type: 'string',
    oneOf: [
      { const: 'x', title: 'x' },
      { const: 'y', title: 'Y' },
    ],
  });
  assert.match(form({ fields: ['2:text', '1?:number'] }).text, /"2":.*"1":.*"required":\["2"\]/);
  const message = (/** @type {Parameters<typeof form>[0]} */ options) => JSON.parse(form(options).text).message;
  assert.equal(message({ note: '\nn' }), 'm\nn');
  for (const fields of [['a'], ['a:word'], [':text'], ['?:text'], ['a:text', 'a:text'], ['a:x|x'], ['\n:text']]) {
    assert.throws(() => form({ fields }), { name: 'Error' }, fields.join());
  }
  const many = Array.from({ length: 33 }, (_, number) => `${number}:text`);
  form({ fields: many.slice(1) });
  form({ fields: ['a:👩\u200d🚀|b:Who'] });
  // Of most of these the component makes no question, so that somebody would wait for ever; the others are blank.
  const single = ['a:x=1|x=2', 'a:x|', 'a:x|=y', 'a:x| ', 'a:x|\u200by', 'a\u200b:text', ' :text'];
  for (const fields of [many, ...single.map((field) => [field])]) {
    assert.throws(() => form({ fields }), { name: 'Error' }, fields.join());
  }
  for (const message of ['', ' \n', '\u0007', '\u200b\u2028']) assert.throws(() => form({ message }), /give a message/);
  assert.throws(() => form({ kinds: ['text', 'number'] }));
  assert.throws(() => form({ kinds: ['text'], fields: ['a:text'] }));
  assert.throws(() => form({ message: ' ', note: 'n' }));
  assert.equal(message({ message: 'ä'.repeat(3990), note: 'n'.repeat(10) }).length, 4000);
  const long = { message: 'ä'.repeat(3991), note: 'n'.repeat(10) };
  assert.throws(() => form(long), /of 1 to 3990 characters: what --deadline adds/);
  assert.throws(() => form({ message: 'ä'.repeat(4001) }), /of 1 to 4000 characters$/);
});

test('a name of a field can be said, and is seen from its beginning to its end', () => {
  const schema = (/** @type {string} */ field) =>
    JSON.parse(new Form({ message: 'm', kinds: [], fields: [field], isOptional: false }).text).requestedSchema;
  const punctuation = '!"#$%&\'()*+,-./;<>?@[\\]^_`{|}~.';
  for (const name of ['a', '1', 'é', 'ж 東 ½', 'a b', punctuation, 'é'.repeat(100), '𝒳'.repeat(100)]) {
    assert.deepEqual(Object.keys(schema(`${name}:text`).properties), [name], name);
    assert.deepEqual(schema(`${name}:text`).required, [name], name);
    assert.deepEqual(Object.keys(schema(`${name}?:text`).properties), [name], name);
    assert.deepEqual(schema(`${name}?:text`).required, [], name);
  }
  const blank = ['', '?', ' ', ' a', 'a ', 'a ?', 'a\tb', 'a\nb', 'a\u00a0b', 'a\u2028b'];
  const hidden = ['a\u200bb', 'a\ufeff', 'a\u061cb', 'a\u3164', 'a\u115fb', 'a\u034f'];
  for (const name of [...blank, ...hidden, 'a=b', 'a\u2014b', 'a\u{1f680}', 'é'.repeat(101), 'a\ud800']) {
    const begin = () => schema(`${name}:text`);
    assert.throws(begin, /needs a name of 1 to 100 letters, digits, blanks/, JSON.stringify(name));
  }
});

test('a person reads until when a question is open', () => {
  const noon = Date.UTC(2026, 6, 28, 12) + 500;
  for (const [ms, words] of /** @type {const} */ ([
    [600_000, '2026-07-28 12:10:00 UTC, 10 min'],
    [90_000, '2026-07-28 12:01:30 UTC, 1 min 30 s'],
    [5_400_000, '2026-07-28 13:30:00 UTC, 1 h 30 min'],
    [7_200_000, '2026-07-28 14:00:00 UTC, 2 h'],
    [172_800_000, '2026-07-30 12:00:00 UTC, 2 d'],
    [700, '2026-07-28 12:00:01 UTC, 700 ms'],
    [60_250, '2026-07-28 12:01:00 UTC, 1 min 0.25 s'],
  ])) {
    assert.equal(untilWhen(ms, noon), `\n(if nobody answers by ${words} after this was asked, there is no answer)`);
  }
});

test('a deadline is said in all its units', () => {
  for (const [ms, words] of /** @type {const} */ ([
    [1, '1 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [10_000, '10 s'],
    [60_250, '1 min 0.25 s'],
    [3_600_500, '1 h 0.5 s'],
    [93_784_005, '1 d 2 h 3 min 4.005 s'],
    [172_800_000, '2 d'],
  ])) {
    assert.equal(lasting(ms), words);
  }
});

test('durations have a unit or are seconds', () => {
  for (const [text, ms] of /** @type {const} */ ([
    ['90', 90_000],
    ['90s', 90_000],
    ['2d', 172_800_000],
    ['0.0001s', 1],
    ['1.1d', 95_040_000],
    ['30.999999999999d', 2_678_400_000],
    ['.5', 500],
    ['.5m', 30_000],
    ['1h30m', 5_400_000],
    ['1h 30m', 5_400_000],
    ['1d2h3m4.5s', 93_784_500],
    ['10min', 600_000],
    ['1m250ms', 60_250],
  ])) {
    assert.equal(milliseconds(text), ms, text);
  }
  const wrong =
    ',s,-1,+1,1.,.,.s,1.5.5,1.+5,1e3,5 m,5x,1h30,1h1h,30m1h,1m1min,1hm,1h  30m,1h , 1h,1H,0x10,' +
    'Infinity,1.9999999999999,ä';
  for (const text of wrong.split(',')) assert.equal(milliseconds(text), undefined, text);
});

test('an answer is printed in one line', () => {
  const printed = (/** @type {object} */ options, /** @type {any} */ content, asJson = false) =>
    new Form({ message: 'm', kinds: [], fields: [], isOptional: false, ...options }).printed(content, asJson);
  assert.equal(printed({ kinds: ['text'] }, { answer: 'a\nb' }), 'a b');
  assert.equal(printed({ kinds: ['text'] }, { answer: 'a\nb' }, true), '"a\\nb"');
  assert.equal(printed({ kinds: ['text'] }, {}), '');
  assert.equal(printed({ kinds: ['boolean'] }, { answer: false }), 'false');
  assert.equal(printed({ fields: ['a:text'] }, { a: 'x' }), '{"a":"x"}');
  const many = '{"answer":1.50,"b":123456789012345678901234567890,"c":["1.50"],"d":1E2}';
  assert.equal(printed({ kinds: ['number'] }, readAnswer(many)), '1.50');
  assert.equal(printed({ kinds: ['number'] }, readAnswer(many), true), '1.50');
  assert.equal(printed({ fields: ['b:number'] }, readAnswer(many)), many);
  assert.equal(printed({}, undefined), undefined);
  assert.equal(printed({}, undefined, true), '{}');
});

/**
 * A job that does nothing, of which this process pretends to be one.
 *
 * @param {import('node:test').TestContext} cx
 */
function idleJob(cx) {
  const directory = temporaryDirectory(cx, () => {
    jobs.stop(id, 'cancelled');
    return new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
  });
  const jobs = new ProcessJobs(directory);
  const id = crypto.randomUUID();
  /** @type {import('../src/jobs/model.js').Command} */
  const command = { tag: 'program', val: ['sleep', '300'] };
  jobs.start(id, { command, environment: [], stdin: '', interactive: false, graceMs: 0n, outputLimitBytes: 4096n });
  const progress = () => {
    const state = jobs.inspect(id);
    assert.ok(state.tag === 'running');
    return state.val;
  };
  const keys = () => progress().questions.map(({ key }) => key);
  return { jobs, id, path: join(directory, id), progress, keys };
}

test('the first answer stays, and one to a question that is not open changes nothing', async (cx) => {
  const { jobs, id, path, keys } = idleJob(cx);
  const asker = new Asker(path, '{"message":"m"}');
  cx.after(() => asker.withdraw());
  const [key = ''] = keys();
  const answered = asker.answered();
  assert.throws(() => jobs.answer(id, key, 'x'.repeat(ANSWER_BYTES + 1)), /an answer may have/);
  assert.deepEqual(keys(), [key], 'an answer that is too long leaves it open');
  jobs.answer(id, key, '"first"');
  assert.deepEqual(keys(), []);
  jobs.answer(id, key, '"second"');
  assert.equal(await answered, '"first"');
  assert.equal(asker.conclude('"third"'), '"first"');
  jobs.answer(id, '../spec', '"x"');
  jobs.answer(crypto.randomUUID(), key, '"x"');
  asker.withdraw();
  assert.deepEqual(readdirSync(join(path, 'questions')), []);
});

test('a job has at most 32 questions, oldest first', (cx) => {
  const { path, progress } = idleJob(cx);
  const ask = (/** @type {number} */ number) => new Asker(path, `{"message":"${number}"}`);
  const askers = Array.from({ length: OPEN_QUESTIONS }, (_, number) => ask(number));
  cx.after(() => askers.forEach((asker) => asker.withdraw()));
  assert.throws(() => ask(32), /asks 32 other questions/);
  const messages = progress().questions.map(({ form }) => JSON.parse(form).message);
  assert.deepEqual(messages, [...askers.keys()].map(String));
  askers[7]?.withdraw();
  askers.push(ask(33));
  assert.throws(() => new Asker(path, 'x'.repeat(FORM_BYTES + 1)), /may have/);
});

test('what a job puts in the place of questions and reports is none of these', (cx) => {
  const { path, progress } = idleJob(cx);
  const questions = join(path, 'questions');
  mkdirSync(questions);
  spawnSync('mkfifo', [join(questions, 'fifo.asked')]);
  mkdirSync(join(questions, 'directory.asked'));
  symlinkSync('loop.asked', join(questions, 'loop.asked'));
  const record = (/** @type {object} */ content) => JSON.stringify({ format: 1, content });
  for (const [name, text] of Object.entries({
    'text.asked': 'x',
    'null.asked': record(/** @type {any} */ (null)),
    'other.asked': record({ form: 1, askedAt: 1 }),
    'time.asked': record({ form: 'x', askedAt: 'x' }),
    'long.asked': record({ form: 'x'.repeat(FORM_BYTES + 1), askedAt: 1 }),
    'dead.asked': record({ form: 'x', askedAt: 1 }),
    'UPPER.asked': record({ form: 'x', askedAt: 1 }),
  })) {
    writeFileSync(join(questions, name), text);
  }
  assert.deepEqual(progress().questions, []);
  rmSync(questions, { recursive: true });
  writeFileSync(questions, 'no directory');
  assert.deepEqual(progress().questions, []);
  symlinkSync('report.json', join(path, 'report.json'));
  assert.equal(progress().report, undefined, 'a link to itself');
  rmSync(join(path, 'report.json'));
  const wrong = [{}, { percent: 101 }, { percent: '1' }, { text: 1 }, { at: -1 }, { at: 'x' }].map((it) =>
    record({ percent: 1, text: 'x', at: 1, ...(Object.keys(it).length ? it : { text: undefined }) }),
  );
  for (const text of ['x', ...wrong]) {
    writeFileSync(join(path, 'report.json'), text);
    assert.equal(progress().report, undefined, text);
  }
});

test('a report is at most 1000 bytes, and ends with a whole character', (cx) => {
  const directory = temporaryDirectory(cx);
  assert.equal(readReport(directory), undefined);
  writeReport(directory, { percent: null, text: `x${'é'.repeat(REPORT_BYTES)}`, at: 7 });
  assert.deepEqual(readReport(directory), { percent: null, text: `x${'é'.repeat(499)}`, at: 7 });
  writeReport(directory, { percent: 100, text: '', at: 8 });
  assert.deepEqual(readReport(directory), { percent: 100, text: '', at: 8 });
  assert.deepEqual(readdirSync(directory), ['report.json']);
});
