/**
 * The servers that the corpus of transcripts is played against without a disk or a process: each as a process of its
 * own.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { LACK } from './browser.js';
import { meta } from './client.js';
import { REOPEN } from './in-memory.js';
import { NODE_OPTIONS, eventually, leaveOut } from './support.js';

/** @import { TestContext } from 'node:test' */

/**
 * A process that a test talks to by lines.
 *
 * @param {TestContext} cx
 * @param {string} file
 * @param {Record<string, string>} [env]
 */
function start(cx, file, env) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [...NODE_OPTIONS, path, '--direct-limit', '0'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'close');
  cx.after(() => {
    // Not killed: a browser would be left of it. It ends with its input.
    child.stdin.end();
    return ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    send: (/** @type {string} */ line) => child.stdin.write(`${line}\n`),
    receive: async () => String((await lines.next()).value),
    close: async () => {
      child.stdin.end();
      return (await ended)[0];
    },
  };
}

/** @param {ReturnType<typeof start>} server */
async function assertKeepsItsTasks(server) {
  const ask = async (/** @type {string} */ method, /** @type {object} */ params) => {
    server.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta('person') } }));
    return JSON.parse(await server.receive()).result;
  };
  const { taskId } = await ask('tools/call', { name: 'run', arguments: { command: "backburner ask 'Which?' --text" } });
  server.send(REOPEN);
  const { inputRequests } = await ask('tasks/get', { taskId });
  const [key = ''] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: 'accept', content: { answer: '\u2028 ä' } } };
  await ask('tasks/update', { taskId, inputResponses });
  const result = await eventually('the end of the task', async () => (await ask('tasks/get', { taskId })).result);
  assert.match(result.content[0].text, /exit code 0 after [^]*\n\u2028 ä$/);
  // What is open is answered at the end.
  const open = { name: 'run', arguments: { command: 'sleep 60' }, _meta: meta('plain') };
  server.send(JSON.stringify({ jsonrpc: '2.0', id: 'open', method: 'tools/call', params: open }));
  const [line, status] = await Promise.all([server.receive(), server.close()]);
  assert.match(line, /still running/);
  assert.equal(status, 0);
}

test('a server in memory keeps its tasks when it is opened again', async (cx) => {
  await assertKeepsItsTasks(start(cx, 'memory-server.js'));
});

test('a server that is a page does so too', { skip: leaveOut(LACK) }, async (cx) => {
  const pages = start(cx, 'pages.js');
  await assertKeepsItsTasks(start(cx, 'page-server.js', { BACKBURNER_PAGES: await pages.receive() }));
  assert.equal(await pages.close(), 0);
});
