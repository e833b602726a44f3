/**
 * Transpiles components into `dist/`: the server, named by BACKBURNER_COMPONENT, and the host conformance kit where
 * BACKBURNER_CONFORMANCE names it. Each gets a directory with its JavaScript, its core modules, the types that jco
 * makes of its WIT, and `modules.json`, a list of the core modules for hosts that have to fetch them beforehand.
 */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { transpile } from '@bytecodealliance/jco';

const dist = join(import.meta.dirname, 'dist');

/**
 * @param {string} component the path of a component
 * @param {string} name of its directory
 */
async function build(component, name) {
  const { files } = await transpile(await readFile(component), {
    name: 'component',
    // A function that links the component, again and again: an instance that trapped is replaced.
    instantiation: 'sync',
    // The host says what WASI is: `src/wasi.js`.
    wasiShim: false,
  });
  const modules = Object.keys(files).filter((file) => file.endsWith('.wasm'));
  const all = { ...files, 'modules.json': JSON.stringify(modules) };
  for (const [file, content] of Object.entries(all)) {
    const path = join(dist, name, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

const { BACKBURNER_COMPONENT: server, BACKBURNER_CONFORMANCE: kit } = process.env;
if (!server) throw new Error('set BACKBURNER_COMPONENT to the path of the component, a .wasm file');
await rm(dist, { recursive: true, force: true });
await build(server, 'server');
if (kit) await build(kit, 'conformance');
