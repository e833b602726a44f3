/** The configuration file: what is read of it, and what is refused. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { readConfig } from '../src/index.js';
import { Client } from './client.js';
import { temporaryDirectory } from './support.js';

/** A file with this text. @param {import('node:test').TestContext} cx @param {string | Buffer} text */
function file(cx, text) {
  const path = join(temporaryDirectory(cx), 'backburner.toml');
  writeFileSync(path, text);
  return path;
}

test('a file is the members of configure, one to one, and paths in it begin where it is', (cx) => {
  const path = file(cx, 'graceMs = 1\n[[tools]]\nname = "a"\n[tools.inputSchema]\nproperties.b = { minimum = 0.5 }\n');
  assert.deepEqual(JSON.parse(JSON.stringify(readConfig(path))), {
    baseDirectory: join(path, '..'),
    configurationFile: path,
    graceMs: 1,
    tools: [{ name: 'a', inputSchema: { properties: { b: { minimum: 0.5 } } } }],
  });
});

test('what is no TOML, or no JSON, is refused with its place', (cx) => {
  const refused = (/** @type {string | Buffer} */ text, /** @type {object} */ error) =>
    assert.throws(() => readConfig(file(cx, text)), { name: 'ConfigError', ...error });
  refused('a = 1\nb = = 2\n', { at: '', message: /^line 2, column \d+: / });
  refused('a = 9223372036854775807\n', { at: '' });
  refused(Buffer.from([0x61, 0xff]), { at: '', message: /utf-8/i });
  refused('a = [{ "b/c~" = 2026-07-28 }]\n', { at: '/a/0/b~1c~0', message: /as a string/ });
  refused('a.b = inf\n', { at: '/a/b' });
  assert.throws(() => readConfig('/nonexistent/file'), /no such file/);
});

test('a server whose file says that there are no terminals serves', async (cx) => {
  const client = new Client(cx, temporaryDirectory(cx), ['--config', file(cx, 'terminals = false\n')]);
  await client.result('server/discover');
});

test('a server has the tools of its file, and its options win', async (cx) => {
  const path = file(
    cx,
    `syncLimitMs = 600000
[run]
enabled = false
[[tools]]
name = "here"
description = "Says where it runs, when that is over."
program = ["pwd"]
cwd = "."
[[tools]]
name = "slow"
description = "Takes its time."
shell = "sleep 30"
`,
  );
  const client = new Client(cx, temporaryDirectory(cx), ['--config', path, '--sync-limit', '0']);
  const { tools } = await client.result('tools/list');
  assert.deepEqual(tools.map((/** @type {any} */ { name }) => name), ['here', 'slow']);
  const { taskId } = await client.result('tools/call', { name: 'slow' });
  await client.result('tasks/cancel', { taskId });
  await client.endedTask(taskId);
  const { content } = await client.result('tools/call', { name: 'slow' }, 'plain');
  assert.match(content[0].text, /in the background/);
});

test('a file that is refused is told with its member', async (cx) => {
  for (const [text, reason] of /** @type {const} */ ([
    ['graceMs = -1\n', /^backburner-node: .*backburner\.toml: \/graceMs: /],
    ['[[tools]]\nname = "run"\n', /: \/tools\/0/],
    ['a = = 1\n', /backburner\.toml: line 1, column /],
    ['terminals = true\n', /backburner\.toml: \/terminals: the jobs of this server have no terminals; leave it out/],
    ['terminals = "true"\n', /: \/terminals: /],
  ])) {
    const client = new Client(cx, temporaryDirectory(cx), ['--config', file(cx, text)]);
    assert.equal(await client.close(), 2);
    assert.match(client.stderr, reason);
  }
});
