/** The official client in TypeScript with the official Tasks package, over stdio, against the real binary. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { readAcceptedTaskIdsV2 } from '@modelcontextprotocol/ext-tasks/core/v2';

import { open as openSession } from './session.js';

/** @import { TestContext } from 'node:test' */
/** @import { ApplicationInputHandler, SerializedTaskReference } from '@modelcontextprotocol/ext-tasks/client' */

/**
 * A session whose server goes away even where the test fails.
 *
 * @param {TestContext} cx
 * @param {string} dataDir
 * @param {ApplicationInputHandler['handle']} [onInputRequest]
 */
async function open(cx, dataDir, onInputRequest) {
  const session = await openSession(dataDir, onInputRequest);
  cx.after(() => session.client.close());
  return session;
}

/** A directory of a test's own. @param {TestContext} cx */
function directory(cx) {
  const path = mkdtempSync(join(tmpdir(), 'backburner-typescript-'));
  cx.after(() => rmSync(path, { recursive: true }));
  return path;
}

/**
 * Has another process run a command as a task and go away.
 *
 * @param {string} dataDir
 * @param {string} command
 * @returns {Extract<SerializedTaskReference, { generation: 'v2' }>}
 */
function leave(dataDir, command) {
  const program = fileURLToPath(new URL('leave.js', import.meta.url));
  return JSON.parse(execFileSync(process.execPath, [program, dataDir, command], { encoding: 'utf8' }));
}

/** A command that waits for a file. @param {string} path */
function until(path) {
  return `until [ -e '${path}' ]; do sleep 0.01; done`;
}

/** A command that asks a question. */
const ASKS = `backburner ask 'Go on?' --boolean; echo it ended with $?.`;

/** Says yes to a question with one field. @type {ApplicationInputHandler['handle']} */
async function yes(request) {
  assert.equal(request.kind, 'elicitation');
  assert.equal(request.params?.message, 'Go on?');
  const { properties } = /** @type {any} */ (request.params?.requestedSchema);
  const [field = ''] = Object.keys(properties);
  return /** @type {any} */ ({ action: 'accept', content: { [field]: true } });
}

/** Declines every question. @type {ApplicationInputHandler['handle']} */
async function no() {
  return /** @type {any} */ ({ action: 'decline' });
}

/** What a completed task's call would have given. @param {any} outcome @returns {any} */
function resultOf(outcome) {
  assert.equal(outcome.status, 'completed', JSON.stringify(outcome));
  return outcome.result;
}

test('discovery offers tools and tasks', async (cx) => {
  const session = await open(cx, directory(cx));
  assert.equal(session.client.getProtocolEra(), 'modern');
  assert.ok(session.client.getServerCapabilities()?.tools);
  assert.ok(session.tasks.capabilities.execution);
  const { tools } = await session.client.listTools();
  assert.ok(tools.some((tool) => tool.name === 'run'));
  await session.close();
});

test('a command is a task that completes with its true result', async (cx) => {
  const session = await open(cx, directory(cx));
  const execution = await session.run('sleep 0.2; echo well done; exit 3');
  const { outcome, lastTask } = await execution.settle();
  const result = resultOf(outcome);
  assert.equal(result.isError, true);
  assert.equal(result.structuredContent.exitCode, 3);
  assert.match(result.content[0].text, /well done/);
  assert.equal(lastTask?.status, 'completed');
  await session.close();
});

test('a cancelled task is shown as cancelled', async (cx) => {
  const session = await open(cx, directory(cx));
  const execution = await session.run('sleep 600');
  await execution.cancel();
  // The package takes the acknowledgement for the end of its execution, and the task may still be on its way there.
  assert.equal((await execution.result()).status, 'cancelled');
  assert.equal((await session.end(execution.handle.taskId)).status, 'cancelled');
  await session.close();
});

test('a new process goes on with the task of one that has gone', async (cx) => {
  const path = directory(cx);
  const dataDir = join(path, 'data');
  const go = join(path, 'go');
  const reference = leave(dataDir, `${until(go)}; echo after the session; exit 7`);
  const session = await open(cx, dataDir);
  const execution = await session.tasks.resumeTask(reference);
  assert.equal((await session.tasks.task(reference.taskId).snapshot()).status, 'working');
  writeFileSync(go, '');
  const result = resultOf(await execution.result());
  assert.equal(result.structuredContent.exitCode, 7);
  assert.match(result.content[0].text, /after the session/);
  await session.close();
});

test('a question of a job is answered', async (cx) => {
  const session = await open(cx, directory(cx), yes);
  const execution = await session.run(ASKS);
  const result = resultOf((await execution.settle()).outcome);
  assert.match(result.content[0].text, /it ended with 0\./);
  await session.close();
});

test('a question can be declined', async (cx) => {
  const session = await open(cx, directory(cx), no);
  const execution = await session.run(ASKS);
  const result = resultOf((await execution.settle()).outcome);
  assert.match(result.content[0].text, /it ended with 1\./);
  await session.close();
});

test('a new process answers the question of a job whose client has gone', async (cx) => {
  const dataDir = directory(cx);
  const reference = leave(dataDir, ASKS);
  const session = await open(cx, dataDir, yes);
  const execution = await session.tasks.resumeTask(reference);
  const result = resultOf(await execution.result());
  assert.match(result.content[0].text, /it ended with 0\./);
  await session.close();
});

test('a client that listens is told a question, its answer, what the job says, and the end', async (cx) => {
  const path = directory(cx);
  const [ask, say, end] = [join(path, 'ask'), join(path, 'say'), join(path, 'end')];
  const session = await open(cx, join(path, 'data'));
  const command = `${until(ask)}; ${ASKS}; ${until(say)}; echo nearly done; ${until(end)}; exit 7`;
  const execution = await session.run(command);
  const { taskId } = execution.handle;
  // It answers here what it is told, and not what it polls.
  await execution.detach();
  const isOfTask = (/** @type {any} */ { method, params }) =>
    method === 'notifications/tasks' && params.taskId === taskId;
  const told = (/** @type {string} */ status, says = /./) =>
    session.wire.next((message) => {
      if (!isOfTask(message)) return false;
      return message.params.status === status && says.test(message.params.statusMessage);
    });

  // The client leaves out of the acknowledgement what it does not know itself.
  const acknowledged = session.wire.next(({ method }) => method === 'notifications/subscriptions/acknowledged');
  const asItIs = told('working');
  const subscription = await session.client.listen(/** @type {any} */ ({ taskIds: [taskId] }));
  assert.deepEqual(readAcceptedTaskIdsV2((await acknowledged).params), [taskId]);
  await asItIs;

  const question = told('input_required', /Go on\?/);
  writeFileSync(ask, '');
  const { inputRequests } = (await question).params;
  const [key = '', ...others] = Object.keys(inputRequests);
  assert.deepEqual(others, []);
  assert.equal(inputRequests[key].params.message, 'Go on?');
  const answered = told('working');
  await session.tasks.task(taskId).updateJson({ [key]: { action: 'accept', content: { answer: true } } });
  assert.equal((await answered).params.inputRequests, undefined);

  const said = told('working', /nearly done/);
  writeFileSync(say, '');
  await said;
  const ended = told('completed');
  writeFileSync(end, '');
  const { result } = (await ended).params;
  assert.equal(result.structuredContent.exitCode, 7);
  assert.match(result.content[0].text, /it ended with 0\./);
  // Nothing of it comes again, such as the question when it was answered.
  const statuses = session.wire.received.filter(isOfTask).map((message) => message.params.status);
  const changes = statuses.filter((status, index) => status !== statuses[index - 1]);
  assert.deepEqual(changes, ['working', 'input_required', 'working', 'completed']);
  await subscription.close();
  await session.close();
});

test('an unknown task is an invalid parameter', async (cx) => {
  const session = await open(cx, directory(cx));
  await assert.rejects(session.end('0e7b9a7e-8f5c-4d55-9d0f-6f6c2d1b7a10'), { code: -32602 });
  await session.close();
});
