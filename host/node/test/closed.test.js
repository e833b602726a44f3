/**
 * Jobs whose files and directories somebody has closed to their owner. Root may do everything, so this is done as
 * another user.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openUp } from '../src/jobs/files.js';
import { STALE } from '../src/limits.js';
import { jobsIn, printed } from './job-bench.js';
import { leaveOut } from './support.js';

/** @import { TestContext } from 'node:test' */

const PACKAGE = fileURLToPath(new URL('../package.json', import.meta.url));

/** The user that a test of root becomes: nobody, on most machines. */
const OTHER = 65534;

/**
 * What a script prints that has no more rights than a user, to whom it gives a directory.
 *
 * @param {string} path
 * @param {string} script
 */
function printedAsUser(path, script) {
  if (process.geteuid?.() !== 0) return printed(script);
  spawnSync('chown', ['-R', `${OTHER}:${OTHER}`, path]);
  return printed(`process.setgroups([]); process.setgid(${OTHER}); process.setuid(${OTHER});${script}`);
}

/** Directories that nobody may look into or change. @param {TestContext} cx @param {string} path */
function closedBelow(cx, path) {
  mkdirSync(join(path, 'x', 'y'), { recursive: true });
  writeFileSync(join(path, 'x', 'y', 'z'), '');
  chmodSync(join(path, 'x'), 0);
  cx.after(() => openUp(join(path, 'x')));
}

test('a job that has closed a directory is deleted with it', async (cx) => {
  const { path, ended } = jobsIn(cx);
  const { id } = await ended();
  closedBelow(cx, join(path, id));
  const done = printedAsUser(path, `
    const jobs = new index.ProcessJobs(${JSON.stringify(path)});
    jobs.forget('${id}');
    console.log(JSON.stringify(jobs.inspect('${id}').tag));`);
  assert.equal(done, 'unknown');
  assert.deepEqual(readdirSync(join(path, '.workshop')), []);
});

test('what cannot be deleted keeps no server from starting, and is tried again', (cx) => {
  const { path } = jobsIn(cx);
  const workshop = join(path, '.workshop');
  const names = ['gone-closed', 'gone-open'];
  for (const name of names) {
    mkdirSync(join(workshop, name));
    closedBelow(cx, join(workshop, name));
    const old = (Date.now() - 2 * STALE) / 1000;
    utimesSync(join(workshop, name), old, old);
  }
  // As where the file system or its owner forbids it: that of one directory cannot be changed.
  const open = (/** @type {string} */ forbidden) => `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { chmodSync } = fs;
    fs.chmodSync = (path, mode) => {
      if (String(path).includes('${forbidden}')) throw new Error('it is forbidden');
      chmodSync(path, mode);
    };
    syncBuiltinESMExports();
    new index.ProcessJobs(${JSON.stringify(path)});
    console.log(JSON.stringify(fs.readdirSync(${JSON.stringify(workshop)})));`;
  assert.deepEqual(printedAsUser(path, open('closed/')), ['gone-closed']);
  assert.deepEqual(printedAsUser(path, open('nothing')), []);
});

for (const mode of [0, 0o300, 0o500]) {
  test(`a job whose directory has the mode ${mode.toString(8)} is looked at all the same, and deleted`, async (cx) => {
    const { path, ended } = jobsIn(cx);
    const { id } = await ended();
    chmodSync(join(path, id), mode);
    cx.after(() => existsSync(join(path, id)) && openUp(join(path, id)));
    const done = printedAsUser(path, `
      const jobs = new index.ProcessJobs(${JSON.stringify(path)});
      const { val } = jobs.inspect('${id}');
      jobs.forget('${id}');
      console.log(JSON.stringify({ end: val.end, then: jobs.inspect('${id}').tag }));`);
    assert.deepEqual(done, { end: { tag: 'exited', val: { code: 0 } }, then: 'unknown' });
  });
}

for (const [name, end] of /** @type {const} */ ([
  ['outcome.json', { tag: 'lost', val: { kind: 'files' } }],
  ['alive', { tag: 'exited', val: { code: 0 } }],
  ['origin.json', { tag: 'exited', val: { code: 0 } }],
  [`out-${'0'.repeat(20)}`, { tag: 'exited', val: { code: 0 } }],
])) {
  test(`a job that has closed ${name} ends`, async (cx) => {
    const { jobs, path, start } = jobsIn(cx);
    const id = start('echo', 'abc');
    await new Promise((resolve) => jobs.whenEnded(id, () => resolve(undefined)));
    chmodSync(join(path, id, name), 0);
    const done = printedAsUser(path, `
      const jobs = new index.ProcessJobs(${JSON.stringify(path)});
      const { val } = jobs.inspect('${id}');
      jobs.read('${id}', 0n, 4096);
      console.log(JSON.stringify(val.end));`);
    assert.deepEqual(done, end);
  });
}

test('a job that closes its own directory, and that of all jobs, ends as it ended', (cx) => {
  const { path } = jobsIn(cx);
  const id = crypto.randomUUID();
  const line = 'chmod 0 $BACKBURNER_JOB_DIRECTORY $BACKBURNER_JOB_DIRECTORY/..; exit 3';
  const done = printedAsUser(path, `
    import { accessSync } from 'node:fs';
    const isInReach = [process.execPath, ${JSON.stringify(PACKAGE)}].every((file) => {
      try { return accessSync(file), true; } catch { return false; }
    });
    if (!isInReach) {
      console.log('"out of reach"');
      process.exit();
    }
    const jobs = new index.ProcessJobs(${JSON.stringify(path)});
    const limits = { graceMs: 0n, outputLimitBytes: 4096n };
    const given = { environment: [], stdin: '', interactive: false, directory: '/' };
    jobs.start('${id}', { command: { tag: 'shell', val: '${line}' }, ...given, ...limits });
    jobs.whenEnded('${id}', () => console.log(JSON.stringify(jobs.inspect('${id}').val.end)));`);
  // Where the package is root's alone, no other user has a supervisor.
  const lack = leaveOut(done === 'out of reach' ? 'another user cannot read this package' : undefined);
  if (lack) return cx.skip(lack);
  assert.deepEqual(done, { tag: 'exited', val: { code: 3 } });
});

test('a server starts where a job has closed the directories that all jobs share', (cx) => {
  const { path } = jobsIn(cx);
  for (const closed of [join(path, '.workshop'), path]) {
    chmodSync(closed, 0);
    const names = printedAsUser(path, `
      new index.ProcessJobs(${JSON.stringify(path)});
      console.log('"it starts"');`);
    assert.equal(names, 'it starts');
  }
});

test('whatever has what name is deleted', (cx) => {
  const { path } = jobsIn(cx);
  const place = join(path, 'place');
  mkdirSync(place);
  // A name that is no text.
  const made = spawnSync('sh', ['-c', `cd '${place}' && d=$(printf '\\377') && mkdir -p "$d/y" && chmod 0 "$d"`]);
  assert.equal(made.status, 0, String(made.stderr));
  const left = printedAsUser(path, `
    files.deleteAll(${JSON.stringify(place)});
    files.deleteAll(${JSON.stringify(place)});
    console.log('"gone"');`);
  assert.equal(left, 'gone');
  assert.ok(!existsSync(place));
});
