/** The package's types, as a program in TypeScript sees them. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { compile, consumer } from './consumer.js';

test('a right store compiles, and what is wrong does not', (cx) => {
  assert.equal(compile(consumer(cx)), '');
});

test('what a wrong store lacks is named where it is', (cx) => {
  const directory = consumer(cx);
  const path = join(directory, 'wrong.ts');
  const source = readFileSync(path, 'utf8');
  const marks = source.split('\n').flatMap((line, index) => (line.includes('@ts-expect-error') ? [index + 2] : []));
  writeFileSync(path, source.replaceAll('@ts-expect-error', 'wrong:'));
  const found = compile(directory);
  const lines = [...found.matchAll(/^wrong\.ts\((\d+),\d+\): error/gm)].map(([, line]) => Number(line));
  assert.deepEqual([...new Set(lines)], marks, found);
  assert.match(found, /Property 'commit' is missing/);
});
