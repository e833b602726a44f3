/** What the command line says of itself. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { BIN } from './client.js';

for (const command of ['serve', 'ask', 'progress']) {
  test(`${command} --help helps whatever else is on the command line`, () => {
    for (const words of [[], ['--nonsense'], ['--grace', 'x'], ['--choice', 'a'], ['a', 'b', '--deadline']]) {
      const ended = spawnSync(process.execPath, [BIN, command, ...words, '--help'], { encoding: 'utf8' });
      assert.match(ended.stdout, new RegExp(`^Usage: backburner-node .*${command}`), `${words}: ${ended.stderr}`);
      assert.equal(ended.status, 0);
    }
  });
}

test('a text may be --help', () => {
  const env = { ...process.env, BACKBURNER_JOB_DIRECTORY: '' };
  const ended = spawnSync(process.execPath, [BIN, 'progress', '--', '--help'], { encoding: 'utf8', env });
  assert.deepEqual([ended.status, ended.stdout], [125, '']);
});
