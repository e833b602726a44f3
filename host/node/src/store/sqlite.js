/**
 * The store as a SQLite file, which several processes use at the same time: write-ahead logging, so that reads never
 * wait for writes, and each commit synchronised to the disk before it returns.
 */

import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { BUSY_TIMEOUT, SCAN_BYTES, SCAN_ENTRIES } from '../limits.js';
import { pause } from '../pause.js';
import { WitError } from '../wit-error.js';
import { checkChanges, checkExpectation, compareKeys, endOfPrefix, storeError } from './contract.js';

/** @import { Change, Entry, ErrorKind, Versioned } from '#server/interfaces/backburner-server-store.js' */

/** The number of the schema below, in the file's `user_version`. */
const FORMAT = 1;

/** Values are blobs, since `node:sqlite` gives a text back only up to the first NUL in it. */
const SCHEMA = `
  CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL) STRICT;
  CREATE TABLE sequence (last INTEGER NOT NULL) STRICT;
  INSERT INTO sequence VALUES (0);
  PRAGMA user_version = ${FORMAT};`;

/**
 * A row of the table, or those of its columns that a statement asks for; the schema is strict.
 *
 * @typedef {{ key: string, value: Uint8Array, version: number }} Row
 */

export class SqliteStore {
  #database;
  #statements;

  /**
   * Opens the store at `path`, which is on a local disk, and creates it where there is none.
   *
   * @param {string} path
   */
  constructor(path) {
    create(path);
    this.#database = new DatabaseSync(path);
    try {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
      patiently(() => this.#database.exec('PRAGMA journal_mode = WAL'));
      this.#database.exec('PRAGMA synchronous = FULL');
      this.#prepareSchema();
      this.#statements = statements(this.#database);
    } catch (error) {
      // Whoever is refused it may go on for long.
      this.#database.close();
      throw error;
    }
  }

  /** Closes the file. What was committed stays. */
  close() {
    this.#database.close();
  }

  /**
   * @param {string} key
   * @returns {Versioned | undefined}
   */
  get(key) {
    return guarded(() => {
      const row = this.#row(key);
      return row && { value: text(row.value), version: BigInt(row.version) };
    });
  }

  /**
   * @param {string} prefix
   * @param {string | undefined} after
   * @param {number} limit
   * @returns {Entry[]}
   */
  scan(prefix, after, limit) {
    const { scanFrom, scanAfter } = this.#statements;
    const goesOn = after !== undefined && compareKeys(after, prefix) >= 0;
    const most = Math.min(Math.max(limit, 1), SCAN_ENTRIES);
    // U+10FFFF, the last of the characters, has no text beyond it: then the end is a blob, which is after all texts.
    const end = endOfPrefix(prefix) ?? Buffer.alloc(0);
    return guarded(() => page((goesOn ? scanAfter : scanFrom).iterate(goesOn ? after : prefix, end, most)));
  }

  /** @param {Change[]} changes */
  commit(changes) {
    checkChanges(changes);
    guarded(() => {
      this.#database.exec('BEGIN IMMEDIATE');
      try {
        this.#write(changes);
        this.#database.exec('COMMIT');
      } catch (error) {
        this.#rollBack();
        throw error;
      }
    });
  }

  /** @param {string} key @returns {Omit<Row, 'key'> | undefined} */
  #row(key) {
    return /** @type {any} */ (this.#statements.get.get(key));
  }

  /** @param {Change[]} changes */
  #write(changes) {
    const { next, put, remove } = this.#statements;
    for (const change of changes) {
      const found = this.#row(change.val.key);
      checkExpectation(change, found && BigInt(found.version));
    }
    const { last } = /** @type {{ last: number }} */ (next.get());
    for (const { tag, val } of changes) {
      if (tag === 'put') put.run(val.key, Buffer.from(val.value), last);
      else remove.run(val.key);
    }
  }

  #rollBack() {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // SQLite takes a transaction back by itself where the disk is full; then there is none any more.
    }
  }

  #prepareSchema() {
    this.#database.exec('BEGIN IMMEDIATE');
    const pragma = this.#database.prepare('PRAGMA user_version').get();
    const { user_version: found } = /** @type {{ user_version: number }} */ (pragma);
    if (found === 0) this.#database.exec(SCHEMA);
    this.#database.exec('COMMIT');
    if (found > FORMAT) throw new Error(`the store has format ${found}, which only a newer version knows`);
  }
}

/**
 * Makes an empty file that nobody else can read; what SQLite puts beside it gets its mode.
 *
 * @param {string} path
 */
function create(path) {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (/** @type {any} */ error) {
    // And it is not opened: closing it again would let go of all locks that this process has on it.
    if (error.code !== 'EEXIST') throw error;
  }
  chmodSync(path, 0o600);
}

/** @param {DatabaseSync} database */
function statements(database) {
  const scan = (/** @type {string} */ start) =>
    database.prepare(
      `SELECT key, value, version FROM entries WHERE ${start} AND key < ? ORDER BY key LIMIT ?`,
    );
  return {
    get: database.prepare('SELECT value, version FROM entries WHERE key = ?'),
    scanFrom: scan('key >= ?'),
    scanAfter: scan('key > ?'),
    next: database.prepare('UPDATE sequence SET last = last + 1 RETURNING last'),
    put: database.prepare(
      `INSERT INTO entries VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version`,
    ),
    remove: database.prepare('DELETE FROM entries WHERE key = ?'),
  };
}

/** @param {Iterable<any>} rows of the type `Row` */
function page(rows) {
  /** @type {Entry[]} */
  const entries = [];
  let left = SCAN_BYTES;
  for (const { key, value, version } of rows) {
    entries.push({ key, value: text(value), version: BigInt(version) });
    left -= key.length + value.length;
    if (left <= 0) break;
  }
  return entries;
}

/** @param {Uint8Array} value */
function text(value) {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
}

/**
 * Does something that needs the file alone, which SQLite does not wait for by itself where two begin with it.
 *
 * @param {() => void} action
 */
function patiently(action) {
  const deadline = Date.now() + BUSY_TIMEOUT;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (kindOf(error) !== 'busy' || Date.now() > deadline) throw error;
      pause(10);
    }
  }
}

/**
 * Turns what SQLite says into what the WIT knows.
 *
 * @template Result
 * @param {() => Result} action
 * @returns {Result}
 */
function guarded(action) {
  try {
    return action();
  } catch (error) {
    const kind = kindOf(error);
    if (error instanceof WitError || kind === undefined) throw error;
    throw storeError(kind === 'busy' ? 'other' : kind, String(error));
  }
}

/** @typedef {Exclude<ErrorKind, 'conflict' | 'too-large'> | 'busy'} Kind */

/**
 * SQLite's primary result codes that mean something here.
 *
 * @type {Map<number, Kind>}
 */
const KINDS = new Map([
  [5, 'busy'],
  [11, 'corrupt'],
  [13, 'no-space'],
  [26, 'corrupt'],
]);

/**
 * What an error means; `undefined` where it is none of SQLite's.
 *
 * @param {any} error
 * @returns {Kind | undefined}
 */
function kindOf(error) {
  if (error?.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'corrupt';
  if (error?.code !== 'ERR_SQLITE_ERROR') return undefined;
  return KINDS.get(error.errcode & 0xff) ?? 'other';
}
