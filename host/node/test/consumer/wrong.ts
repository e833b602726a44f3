/** What the types have to find. Where a line that is marked compiles, this does not. */

import { Component, Connection, FunctionJobs, MemoryStore, loadServer } from 'backburner-node';
import type { Jobs, Store } from 'backburner-node';

const code = await loadServer();
const jobs = new FunctionJobs({});
const store = new MemoryStore();

// A store that cannot be written.
const { get, scan } = store;
// @ts-expect-error
new Component({ code, jobs, store: { get, scan } });

// A store whose functions are asynchronous, which those of the WIT are not.
const late: Store = {
  scan,
  commit: () => undefined,
  // @ts-expect-error
  get: async () => undefined,
};

// A version is a `u64`, which is no number.
const counted: Store = {
  scan,
  commit: () => undefined,
  // @ts-expect-error
  get: () => ({ value: '', version: 1 }),
};

// Jobs that cannot be stopped.
// @ts-expect-error
const unstoppable: Jobs = { start: () => undefined };

// A function as a job that gives a text as its exit code.
// @ts-expect-error
new FunctionJobs({ run: async () => 'done' });

const component = new Component({ code, store, jobs });
// @ts-expect-error
component.message({ now: Date.now(), principal: 'somebody' }, '{}');
// @ts-expect-error
component.refuse('{}', 'no such reason');
// @ts-expect-error
new Connection({ component, endings: jobs, send: () => undefined });

export { counted, late, unstoppable };
