/** What there is to embed the component in Node. */

export { Component, ConfigError, instantiate } from './component.js';
export { readConfig } from './config.js';
export { Connection } from './connection.js';
export { FunctionJobs } from './jobs/functions.js';
export { ProcessJobs } from './jobs/jobs.js';
export { loadCode, loadServer } from './load.js';
export { serve } from './server.js';
export { MemoryStore } from './store/memory.js';
export { SqliteStore } from './store/sqlite.js';
export * from './types.js';
export { WitError } from './wit-error.js';
