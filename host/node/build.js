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
  files['component.js'] = withByteOrderMarks(files['component.js']);
  const modules = Object.keys(files).filter((file) => file.endsWith('.wasm'));
  const all = { ...files, 'modules.json': JSON.stringify(modules) };
  for (const [file, content] of Object.entries(all)) {
    const path = join(dist, name, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

/**
 * Repairs what jco 1.35 does to a string that begins with U+FEFF: its decoder takes that for a mark and drops it, and
 * a job's input or a stored value would not be what was sent.
 *
 * @param {Uint8Array | undefined} code
 */
function withByteOrderMarks(code) {
  const text = new TextDecoder().decode(code);
  const decoder = 'TEXT_DECODER_UTF8 = new TextDecoder()';
  if (!text.includes(decoder)) throw new Error(`jco does not make ${decoder} any more: see whether it is repaired`);
  const repaired = text.replace(decoder, "TEXT_DECODER_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })");
  return new TextEncoder().encode(repaired);
}

const { BACKBURNER_COMPONENT: server, BACKBURNER_CONFORMANCE: kit } = process.env;
if (!server) throw new Error('set BACKBURNER_COMPONENT to the path of the component, a .wasm file');
await rm(dist, { recursive: true, force: true });
await build(server, 'server');
if (kit) await build(kit, 'conformance');
