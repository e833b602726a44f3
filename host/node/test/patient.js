/**
 * Makes a server patient that loads this first (`node --import`): a client may take nothing for an hour. A busy machine may keep
 * a test from reading for longer than the real one waits.
 */

import { registerHooks } from 'node:module';

const LIMITS = new URL('../src/limits.js', import.meta.url).href;

registerHooks({
  load(url, cx, next) {
    const loaded = next(url, cx);
    if (url !== LIMITS) return loaded;
    const source = String(loaded.source);
    const patient = source.replace(/(?<=UNTAKEN_PATIENCE = )\d+(?=;)/, String(60 * 60 * 1000));
    if (patient === source) throw new Error('how long a server waits for a client is not said any more as it was');
    return { ...loaded, source: patient };
  },
});
