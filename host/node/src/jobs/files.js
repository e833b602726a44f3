/** What several processes do with the same files: names that come and go, FIFOs, and durability. */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/** @param {any} error @returns {string} */
export function codeOf(error) {
  return error?.code ?? '';
}

/**
 * What `action` gives, or `undefined` where its file does not exist.
 *
 * @template Result
 * @param {() => Result} action
 */
export function ifThere(action) {
  try {
    return action();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Something else has the name of a file: any process of a job may have put it there. */
export class OtherKind extends Error {}

/** Opens a regular file for reading. @param {string} path @throws {OtherKind} */
export function openFile(path) {
  return open(path, O_RDONLY, (found) => found.isFile());
}

/** Makes a file that nobody has made yet, open for writing. @param {string} path */
export function createFile(path) {
  return openSync(path, O_WRONLY | O_CREAT | O_EXCL, 0o600);
}

/**
 * Opens a regular file for writing, and makes it in place of whatever else is there, or of nothing.
 *
 * @param {string} path
 */
export function overwriteFile(path) {
  const file = ifKnown(() => open(path, O_WRONLY, (found) => found.isFile()));
  if (file !== undefined) return file;
  putAside(path);
  return createFile(path);
}

/**
 * Moves what is in the place of a file out of the way: it may be anything, also what cannot be deleted.
 *
 * @param {string} path
 */
export function putAside(path) {
  ifThere(() => renameSync(path, `${path}.damaged-${crypto.randomUUID()}`));
}

/** Opens a FIFO for reading. @param {string} path @throws {OtherKind} */
export function openFifo(path) {
  return open(path, O_RDONLY, (found) => found.isFIFO());
}

/**
 * What `action` gives, or `undefined` where it looks for a file that does not exist, or is something else.
 *
 * @template Result
 * @param {() => Result} action
 */
export function ifKnown(action) {
  try {
    return ifThere(action);
  } catch (error) {
    if (error instanceof OtherKind) return undefined;
    throw error;
  }
}

/**
 * Opens what a job may have replaced: waits for nobody, as a FIFO would, and follows no link.
 *
 * @param {string} path
 * @param {number} access
 * @param {(found: import('node:fs').Stats) => boolean} isKind
 */
function open(path, access, isKind) {
  const file = opened(path, access | O_NONBLOCK | O_NOFOLLOW);
  let isRight = false;
  try {
    isRight = isKind(fstatSync(file));
  } finally {
    if (!isRight) closeSync(file);
  }
  if (!isRight) throw new OtherKind(`${path} is something else than it was made as`);
  return file;
}

/** @param {string} path @param {number} flags */
function opened(path, flags) {
  try {
    return openSync(path, flags);
  } catch (error) {
    // A link; a socket, or a FIFO that nobody reads; a directory, or none where there was one.
    const isOther = ['ELOOP', 'ENXIO', 'EISDIR', 'ENOTDIR'].includes(codeOf(error));
    if (isOther || (codeOf(error) === 'EACCES' && isClosed(path))) throw new OtherKind(`${error}`);
    throw error;
  }
}

/**
 * Whether somebody has closed a file to its owner: all that is ours is made open to it. Access may also be refused by a
 * security module, say, and then nobody has changed anything.
 *
 * @param {string} path
 */
function isClosed(path) {
  try {
    const { mode, uid } = lstatSync(path);
    return uid !== process.geteuid?.() || (mode & OWNERS_FILE) !== OWNERS_FILE;
  } catch {
    return false;
  }
}

/** What the owner of a directory may do there, and with a file. */
const OWNERS = 0o700;
const OWNERS_FILE = 0o600;

/**
 * Opens a directory to its owner again, where somebody has closed it. Where that cannot be done, what it was for fails.
 *
 * @param {string} path
 */
export function openUp(path) {
  try {
    const found = lstatSync(path);
    if (found.isDirectory() && (found.mode & OWNERS) !== OWNERS) chmodSync(path, OWNERS);
  } catch {
    // See above.
  }
}

/** Deletes whatever is there, also what somebody has closed to its owner. @param {string} path */
export function deleteAll(path) {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    openAll(Buffer.from(path));
    rmSync(path, { recursive: true, force: true });
  }
}

/** Opens a directory and all below it to their owner. @param {Buffer} path since names need not be text */
function openAll(path) {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, OWNERS);
  for (const name of readdirSync(path, { encoding: 'buffer' })) openAll(Buffer.concat([path, SLASH, name]));
}

const SLASH = Buffer.from('/');

/**
 * When a file was last written, in whole milliseconds since 1970, as far as that is a time that is exact.
 *
 * @param {import('node:fs').Stats} found
 */
export function modifiedAt({ mtimeMs }) {
  return Math.min(Math.max(Math.floor(mtimeMs), 0), Number.MAX_SAFE_INTEGER);
}

/** Makes the names in a directory survive a power failure. @param {string} path */
export function syncDirectory(path) {
  const directory = openSync(path, O_RDONLY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/**
 * As many bytes as there are from a position on, up to a limit.
 *
 * @param {number} file
 * @param {number} position
 * @param {number} limit
 */
export function readBytes(file, position, limit) {
  const bytes = Buffer.alloc(Math.max(Math.min(limit, fstatSync(file).size - position), 0));
  let filled = 0;
  while (filled < bytes.length) {
    const more = readSync(file, bytes, filled, bytes.length - filled, position + filled);
    if (more === 0) break;
    filled += more;
  }
  return bytes.subarray(0, filled);
}

/**
 * Makes FIFOs. Node has no function for this, and a FIFO is what the kernel closes whatever ends the process that reads
 * it.
 *
 * @param {string[]} paths
 */
export function makeFifos(...paths) {
  const made = spawnSync('mkfifo', ['-m', '600', ...paths]);
  if (made.status !== 0) throw made.error ?? new Error(`mkfifo: ${made.stderr}`);
}

/**
 * Wakes whoever reads a FIFO, and says whether somebody does.
 *
 * @param {string} path
 */
export function wake(path) {
  return write(path, '!');
}

/** Whether somebody reads a FIFO. @param {string} path */
export function isRead(path) {
  return write(path, '');
}

/** @param {string} path @param {string} text */
function write(path, text) {
  try {
    const fifo = open(path, O_WRONLY, (found) => found.isFIFO());
    try {
      writeSync(fifo, text);
    } finally {
      closeSync(fifo);
    }
    return true;
  } catch (error) {
    // It is full of what is still to be read.
    if (codeOf(error) === 'EAGAIN') return true;
    // Nobody reads it, or not any more, or somebody put something else in its place.
    if (error instanceof OtherKind || ['EPIPE', 'ENOENT', 'EACCES'].includes(codeOf(error))) return false;
    throw error;
  }
}

/**
 * Calls back whenever somebody wakes this process by a FIFO.
 *
 * @param {string} path
 * @param {() => void} callback
 * @returns {() => void} ends that
 */
export function whenWoken(path, callback) {
  // For writing too, so that it is never at its end.
  const fifo = openSync(path, O_RDWR | O_NONBLOCK);
  const socket = new Socket({ fd: fifo, readable: true, writable: false }).on('data', callback);
  return () => socket.destroy();
}
