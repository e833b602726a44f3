/** The stdio server as a client sees it, with real processes and real time. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Client } from './client.js';
import { eventually, temporaryDirectory } from './support.js';

/** Whether a process runs; one that has ended and is not buried does not. @param {number} pid */
function runs(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** A command that ends with its test, however long a busy machine makes that. @param {string} directory of the test */
const untilDeleted = (directory) => `while [ -d '${directory}' ]; do sleep 0.1; done`;

/** The process id that a job wrote into a file. @param {string} path */
const pidIn = (path) =>
  eventually(`a process id in ${path}`, () => {
    const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
    return pid > 0 ? pid : undefined;
  });

test('a client discovers the server and its tool', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx));
  const { supportedVersions } = await client.result('server/discover');
  assert.deepEqual(supportedVersions, ['2026-07-28']);
  const { tools } = await client.result('tools/list');
  assert.equal(tools[0].name, 'run');
  assert.equal(await client.close(), 0);
  assert.equal(client.stderr, '');
});

test('a task that one server created has its result in another', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const first = new Client(cx, dataDir);
  const id = await first.run('sleep 1; echo out; echo err >&2; exit 3');
  await first.close();
  const task = await new Client(cx, dataDir).endedTask(id);
  assert.equal(task.status, 'completed');
  assert.equal(task.result.structuredContent.exitCode, 3);
  assert.match(task.result.content[0].text, /out\nerr/);
});

test('a job goes on when its server is killed, and one that nobody saw ends', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const first = new Client(cx, dataDir);
  const id = await first.run(`echo $$ > ${dataDir}/pid; sleep 1; echo survived`);
  await pidIn(join(dataDir, 'pid'));
  await first.kill();
  await eventually('the end of the job', () => existsSync(join(dataDir, 'node-jobs', id, 'outcome.json')) || undefined);
  const task = await new Client(cx, dataDir).endedTask(id);
  assert.match(task.result.content[0].text, /exit code 0[^]*survived/);
});

test('a cancelled job and what it started are gone', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const client = new Client(cx, dataDir);
  const id = await client.run(`setsid sleep 300 & echo $! > ${dataDir}/pid; trap '' TERM; sleep 300`, {});
  const pid = await pidIn(join(dataDir, 'pid'));
  assert.ok(runs(pid));
  await client.result('tasks/cancel', { taskId: id });
  const task = await client.endedTask(id);
  assert.equal(task.status, 'cancelled');
  assert.ok(!runs(pid), 'the process that left the group was found and killed');
});

test('a task fails whose supervisor was killed, and nothing of it goes on', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const client = new Client(cx, dataDir);
  const id = await client.run(`echo $$ > ${dataDir}/pid; sleep 300`);
  const pid = await pidIn(join(dataDir, 'pid'));
  const supervisor = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  process.kill(supervisor, 'SIGKILL');
  const task = await client.endedTask(id);
  assert.equal(task.status, 'failed');
  assert.equal(task.error.code, -32603);
  assert.ok(!runs(pid), 'what was left of the job was killed');
});

test('a job whose record was damaged while it runs is told, and ends as its supervisor says', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const client = new Client(cx, dataDir);
  const id = await client.run(`echo $$ > ${dataDir}/pid; until [ -e ${dataDir}/go ]; do sleep 0.05; done; exit 3`);
  await pidIn(join(dataDir, 'pid'));
  writeFileSync(join(dataDir, 'node-jobs', id, 'origin.json'), 'nonsense');
  assert.equal((await client.result('tasks/get', { taskId: id })).status, 'working');
  writeFileSync(join(dataDir, 'go'), '');
  assert.equal((await client.endedTask(id)).result.structuredContent.exitCode, 3);
});

test('a supervisor that is asked to end stops its job and says so', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const client = new Client(cx, dataDir);
  const id = await client.run(`echo $$ > ${dataDir}/pid; sleep 300`);
  const pid = await pidIn(join(dataDir, 'pid'));
  const supervisor = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  process.kill(supervisor, 'SIGTERM');
  await client.endedTask(id);
  const outcome = readFileSync(join(dataDir, 'node-jobs', id, 'outcome.json'), 'utf8');
  assert.equal(JSON.parse(outcome).content.stopped, 'shut-down');
});

test('a plain client waits for its command, and gives up what it takes back', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const client = new Client(cx, dataDir, ['--sync-limit', '600']);
  const call = (/** @type {string} */ command) =>
    client.post('tools/call', { name: 'run', arguments: { command } }, 'plain');
  const long = call(untilDeleted(dataDir));
  const short = call('echo done');
  assert.match((await client.reply(short)).result.content[0].text, /done/);
  const params = { requestId: long, reason: 'enough' };
  client.sendRaw(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
  await client.result('server/discover');
  assert.equal(await client.close(), 0);
  assert.deepEqual(client.unread, [], 'a request that was taken back is not answered');
});

test('open requests are answered when the client closes its stream', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const client = new Client(cx, dataDir, ['--sync-limit', '600']);
  const open = client.post('tools/call', { name: 'run', arguments: { command: untilDeleted(dataDir) } }, 'plain');
  assert.equal(await client.close(), 0);
  const { result } = await client.reply(open);
  assert.match(result.content[0].text, /in the background/);
});

test('a server whose client does not read any more ends', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx));
  await client.result('server/discover');
  client.child.stdout.destroy();
  client.child.stdin.on('error', () => undefined);
  client.post('server/discover');
  assert.equal(await client.ended, 0);
});

test('a server that is asked to end answers what is open, and ends', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const client = new Client(cx, dataDir, ['--sync-limit', '600']);
  const open = client.post('tools/call', { name: 'run', arguments: { command: untilDeleted(dataDir) } }, 'plain');
  await client.result('server/discover');
  client.child.kill('SIGTERM');
  assert.match((await client.reply(open)).result.content[0].text, /in the background/);
  assert.equal(await client.ended, 0);
});

test('many requests at the same time are all answered', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx), ['--sync-limit', '600']);
  const calls = Array.from({ length: 12 }, (_, number) =>
    client.post('tools/call', { name: 'run', arguments: { command: `echo number ${number}.` } }, 'plain'),
  );
  for (const [number, id] of calls.entries()) {
    const { result } = await client.reply(id);
    assert.ok(result.content[0].text.includes(`number ${number}.`));
  }
});

test('servers that begin together on a new directory all serve, and see the same tasks', async (cx) => {
  const dataDir = join(temporaryDirectory(cx), 'new');
  const clients = Array.from({ length: 4 }, () => new Client(cx, dataDir));
  const ids = await Promise.all(clients.map((client, number) => client.run(`echo from ${number}`)));
  for (const [number, id] of ids.entries()) {
    const other = /** @type {Client} */ (clients[(number + 1) % clients.length]);
    const task = await other.endedTask(id);
    assert.match(task.result.content[0].text, new RegExp(`from ${number}`));
  }
});

test('bad input is refused with a message, and the next is answered', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx), ['--max-message-bytes', '1024']);
  const refused = async () => (await client.reply(null)).error.code;
  client.sendRaw('{"jsonrpc": "2.0", ');
  assert.equal(await refused(), -32700);
  client.sendRaw(Buffer.from([0x22, 0xff, 0x22]));
  assert.equal(await refused(), -32700);
  client.sendRaw(' '.repeat(1025));
  assert.ok((await refused()) < 0);
  client.sendRaw('');
  client.sendRaw('\r');
  await client.result('server/discover');
  assert.deepEqual(client.unread, [], 'empty lines are no messages');
});

test('input arrives byte for byte, with a byte order mark at its beginning', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx));
  const task = await client.endedTask(await client.run('od -An -tx1', { stdin: '\ufeffé' }));
  assert.match(task.result.content[0].text, /ef bb bf c3 a9/);
});

test('the data directory and what is in it are closed to other users', async (cx) => {
  const dataDir = join(temporaryDirectory(cx), 'new');
  const client = new Client(cx, dataDir);
  await client.endedTask(await client.run('true'));
  const { statSync } = await import('node:fs');
  for (const name of ['.', ...readdirSync(dataDir)]) {
    assert.equal(statSync(join(dataDir, name)).mode & 0o077, 0, name);
  }
});

test('a wrong option is refused with what is right', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  for (const options of [['--grace', '601'], ['--direct-limit', '1.5'], ['--nothing'], ['run']]) {
    const client = new Client(cx, dataDir, options);
    assert.notEqual(await client.close(), 0);
    assert.match(client.stderr, /^backburner-node: /);
  }
});

test('a store of a newer format is not touched', async (cx) => {
  const dataDir = temporaryDirectory(cx);
  const { SqliteStore } = await import('../src/index.js');
  new SqliteStore(join(dataDir, 'node.db')).close();
  const file = readFileSync(join(dataDir, 'node.db'));
  // Bytes 60 to 63 of the header are `user_version`.
  file.writeUInt32BE(2, 60);
  writeFileSync(join(dataDir, 'node.db'), file);
  const client = new Client(cx, dataDir);
  assert.equal(await client.close(), 1);
  assert.match(client.stderr, /newer version/);
});
