/** Where a server works, and so its commands that name no directory. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { BIN, Client } from './client.js';
import { NODE_OPTIONS, temporaryDirectory } from './support.js';

/** @import { TestContext } from 'node:test' */

/** A configuration with which a person has to confirm every `touch`. @param {string} directory */
function configuration(directory) {
  const path = join(directory, 'backburner.toml');
  writeFileSync(path, '[[confirm]]\npattern = "touch ..."\nreason = "it makes a file"\n');
  return path;
}

/**
 * A server that works in the directory that a word of a shell names: Node itself can start none where the name is no
 * text.
 *
 * @param {TestContext} cx
 * @param {string} root where it keeps everything
 * @param {string} word
 */
function serverIn(cx, root, word) {
  const options = ['--direct-limit', '60000', '--config', configuration(root)];
  const launcher = ['sh', '-c', `cd ${word} && exec "$@"`, 'sh', process.execPath];
  return new Client(cx, join(root, 'data'), options, launcher);
}

/** What a person is told who has to confirm a command. @param {Client} client */
async function confirmation(client) {
  const call = { name: 'run', arguments: { command: 'touch asked' } };
  const { inputRequests } = await client.result('tools/call', call, 'person');
  return inputRequests.confirm.params.message;
}

/** What a command writes, and how it ended. @param {Client} client @param {string} command @param {string} [cwd] */
async function said(client, command, cwd) {
  const { content } = await client.result('tools/call', { name: 'run', arguments: { command, cwd } });
  return content[0].text;
}

test('who confirms a command is told where the server works, and there it runs', async (cx) => {
  const root = realpathSync(temporaryDirectory(cx));
  for (const name of ['one', 'two']) {
    const directory = join(root, name);
    mkdirSync(directory);
    const client = serverIn(cx, root, `'${directory}'`);
    const lines = (await confirmation(client)).split('\n');
    assert.ok(lines.includes(`Directory: ${directory}`), lines.join('\n'));
    assert.ok((await said(client, 'pwd -P')).endsWith(`\n${directory}`));
    assert.equal(await client.close(), 0);
  }
});

test('a server in a directory whose name is no text serves, and says what a call has to name', async (cx) => {
  const root = realpathSync(temporaryDirectory(cx));
  const name = Buffer.concat([Buffer.from(join(root, 'a')), Buffer.from([0xff])]);
  mkdirSync(name);
  // What Node takes for its name is another directory.
  mkdirSync(join(root, 'a\ufffd'));
  const client = serverIn(cx, root, `"$(printf '${root}/a\\377')"`);
  assert.match(await confirmation(client), /^Directory: the server's own$/m);
  const refusal = /not run, its directory cannot be used: .*name that is no text.*name another one/;
  assert.match(await said(client, 'pwd'), refusal);
  assert.match(await said(client, 'pwd', root), /^exit code 0/);
});

test('a directory whose name has what stands for no text is used', async (cx) => {
  const root = realpathSync(temporaryDirectory(cx));
  const directory = join(root, 'a\ufffd');
  mkdirSync(directory);
  const client = serverIn(cx, root, `'${directory}'`);
  assert.ok((await confirmation(client)).includes(`\nDirectory: ${directory}`));
});

test('an empty variable names no data directory, and the directory where a server works is none either', (cx) => {
  const root = temporaryDirectory(cx);
  const [home, place] = [join(root, 'home'), join(root, 'place')];
  mkdirSync(place);
  for (const state of ['', 'relative']) {
    const env = { ...process.env, HOME: home, BACKBURNER_DIR: '', XDG_STATE_HOME: state };
    const words = [...NODE_OPTIONS, BIN];
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: place, env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.deepEqual(readdirSync(place), []);
    assert.ok(existsSync(join(home, '.local/state/backburner-node/node.db')));
  }
});
