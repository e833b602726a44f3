/** What the README shows of embedding does what it says: it is compiled and run as it stands there. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { meta } from './client.js';
import { compile, consumer } from './consumer.js';
import { eventually } from './support.js';

/** The name that the README has for where somebody's data is. */
const ITS_DIRECTORY = '/var/lib/my-app';

/** A transport as the snippet takes one, for TypeScript. */
const TRANSPORT = `declare const transport: {
  send(message: string): void;
  onmessage?: (message: string) => void;
  onclose?: () => void;
};\n`;

/** @param {string} directory is to be that of the data */
function snippet(directory) {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, code = ''] = /^## Embed it\n\n```js\n(.*?)^```$/ms.exec(readme) ?? [];
  assert.ok(code.includes(ITS_DIRECTORY), 'there is a snippet');
  return code.replaceAll(ITS_DIRECTORY, directory);
}

test('what the README shows of embedding compiles', (cx) => {
  const directory = consumer(cx);
  writeFileSync(join(directory, 'readme.ts'), TRANSPORT + snippet(directory));
  assert.equal(compile(directory), '');
});

test('what the README shows of embedding serves a client', async (cx) => {
  const directory = consumer(cx);
  /** @type {{ send: (message: string) => void, onmessage?: (message: string) => void, onclose?: () => void }} */
  const transport = { send: (message) => received.push(JSON.parse(message)) };
  /** @type {any[]} */
  const received = [];
  const file = join(directory, 'readme.js');
  writeFileSync(file, snippet(directory));
  Object.assign(globalThis, { transport });
  await import(pathToFileURL(file).href);
  const ask = (/** @type {string} */ method, /** @type {object} */ params) => {
    const request = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta('tasks') } };
    transport.onmessage?.(JSON.stringify(request));
    return eventually(`the reply to ${method}`, () => received.shift());
  };
  const call = { name: 'run', arguments: { command: 'echo embedded; sleep 0.3' } };
  const created = await ask('tools/call', call);
  const { taskId } = created.result;
  const task = await eventually('the end of the task', async () => {
    const { result } = await ask('tasks/get', { taskId });
    return result.status === 'working' ? undefined : result;
  });
  assert.match(JSON.stringify(task.result), /embedded/);
  transport.onclose?.();
});
