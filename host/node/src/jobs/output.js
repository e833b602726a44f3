/**
 * The output of a job on disk: raw bytes in segments, and beside each an index of what belongs to whom.
 *
 * A segment is two files named after the offset of its first byte: `out-<offset>` holds the bytes as they came,
 * `idx-<offset>` an entry of 16 bytes for each run of bytes of one stream. The first segment, half of the limit, is
 * the beginning of the output and stays; the others, an eighth each, are its end, and the oldest of them is deleted
 * when a new one is needed. Entries count as output, so a job that alternates between its streams is bounded too.
 */

import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, lstatSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import * as limits from '../limits.js';
import { monotonicMs } from './clock.js';
import { isWithin } from './contract.js';
import { createFile, ifKnown, ifThere, modifiedAt, openFile, readBytes } from './files.js';

/** @import { Stream } from './model.js' */
/** @typedef {{ end: number, at: number, stream: Stream }} Entry a run of bytes that ends before the offset `end` */
/** @typedef {{ offset: number, at: number, stream: Stream, bytes: Uint8Array }} Fragment */

const ENTRY_BYTES = 16;

/** Takes whatever a job writes, keeps what the limit and the disk allow, and counts the rest. Never fails. */
export class Recorder {
  #directory;
  #limitBytes;
  /** @type {Segment | undefined} */
  #open;
  /** The segment of the beginning, closed. @type {Segment | undefined} */
  #head;
  /** The closed segments of the end, oldest first. @type {Segment[]} */
  #tail = [];
  #retryAt = 0;

  /** How many bytes the job wrote, kept or not. */
  writtenBytes = 0;
  /** How many of them are not kept. */
  droppedBytes = 0;

  /**
   * @param {string} directory
   * @param {number} limitBytes
   */
  constructor(directory, limitBytes) {
    this.#directory = directory;
    this.#limitBytes = Math.max(limitBytes, limits.LEAST_OUTPUT_BYTES);
  }

  /**
   * @param {Stream} stream
   * @param {Uint8Array} bytes follow all earlier ones
   */
  record(stream, bytes) {
    const at = Date.now();
    let rest = bytes;
    while (rest.length > 0) {
      try {
        const taken = this.#append(stream, rest, at);
        this.writtenBytes += taken;
        rest = rest.subarray(taken);
      } catch {
        // A full disk mostly: a job never waits for it, and it is not tried again for each line.
        this.#close();
        this.#retryAt = Math.max(this.#retryAt, monotonicMs() + limits.OUTPUT_RETRY);
        this.writtenBytes += rest.length;
        this.droppedBytes += rest.length;
        return;
      }
    }
  }

  /** Makes what is kept survive a power failure. What the disk refuses counts as dropped. */
  sync() {
    this.#close();
    for (const { start, length } of [this.#head, ...this.#tail].filter((it) => it !== undefined)) {
      if (!isSynced(this.#directory, start)) this.droppedBytes += length;
    }
  }

  /**
   * @param {Stream} stream
   * @param {Uint8Array} bytes
   * @param {number} at
   */
  #append(stream, bytes, at) {
    if (!this.#open || this.#open.room(stream, at) <= 0) {
      this.#close();
      if (monotonicMs() < this.#retryAt) throw new Error('the disk was full a moment ago');
      this.#open = this.#begin();
    }
    return this.#open.append(stream, bytes, at);
  }

  #begin() {
    const isHead = this.writtenBytes === 0;
    if (!isHead && this.#tail.length === limits.TAIL_SEGMENTS) {
      const oldest = /** @type {Segment} */ (this.#tail.shift());
      this.droppedBytes += oldest.length;
      oldest.delete();
    }
    return new Segment(this.#directory, this.writtenBytes, Math.floor(this.#limitBytes / (isHead ? 2 : 8)));
  }

  #close() {
    const segment = this.#open;
    this.#open = undefined;
    segment?.close();
    if (segment?.length === 0) segment.delete();
    else if (segment?.start === 0) this.#head = segment;
    else if (segment) this.#tail.push(segment);
  }
}

/** A segment that is being written. */
class Segment {
  #directory;
  #capacity;
  #index;
  #data;
  #entries = 0;
  /** @type {Entry | undefined} */
  #last;
  length = 0;

  /**
   * @param {string} directory
   * @param {number} start
   * @param {number} capacity
   */
  constructor(directory, start, capacity) {
    this.#directory = directory;
    this.start = start;
    this.#capacity = capacity;
    // The index first: whoever finds the bytes finds it too.
    this.#index = createFile(join(directory, indexName(start)));
    try {
      this.#data = createFile(join(directory, dataName(start)));
    } catch (error) {
      closeSync(this.#index);
      throw error;
    }
  }

  close() {
    closeSync(this.#index);
    closeSync(this.#data);
  }

  delete() {
    try {
      // The bytes first, for the same reason.
      rmSync(join(this.#directory, dataName(this.start)), { force: true });
      rmSync(join(this.#directory, indexName(this.start)), { force: true });
    } catch {
      // The job has closed its directory, say. What stays can be read, and counts as dropped all the same.
    }
  }

  /** How many bytes of this stream still fit. @param {Stream} stream @param {number} at */
  room(stream, at) {
    const added = this.#extensible(stream, at) ? 0 : 1;
    return this.#capacity - this.length - (this.#entries + added) * ENTRY_BYTES;
  }

  /**
   * Writes at least one byte and its entry, or nothing.
   *
   * @param {Stream} stream
   * @param {Uint8Array} bytes
   * @param {number} at
   */
  append(stream, bytes, at) {
    const taken = writeSync(this.#data, bytes, 0, Math.min(bytes.length, this.room(stream, at)), this.length);
    const end = this.start + this.length + taken;
    const last = this.#extensible(stream, at);
    const number = last ? this.#entries - 1 : this.#entries;
    const entry = last ? { ...last, end } : { end, at, stream };
    try {
      writeSync(this.#index, encodeEntry(entry), 0, ENTRY_BYTES, number * ENTRY_BYTES);
    } catch (error) {
      // Bytes whose stream nobody would know are not kept.
      ftruncateSync(this.#data, this.length);
      throw error;
    }
    this.length += taken;
    this.#entries = number + 1;
    this.#last = entry;
    return taken;
  }

  /** The last entry, where more bytes of this stream may be added to it. @param {Stream} stream @param {number} at */
  #extensible(stream, at) {
    const last = this.#last;
    const age = at - (last?.at ?? 0);
    return last?.stream === stream && age >= 0 && age < limits.ENTRY_SPAN ? last : undefined;
  }
}

/**
 * Reads kept output in order of arrival, while it is written or afterwards.
 *
 * @param {string} directory
 * @param {{ offset: number, limit: number, isGrowing: boolean }} request
 */
export function readOutput(directory, request) {
  const reading = new Reading(directory, request);
  for (let attempt = 0; attempt < limits.READ_ATTEMPTS; attempt += 1) {
    // Where everything that was listed has been deleted meanwhile there is something newer.
    if (reading.addAll(listSegments(directory)) || reading.fragments.length > 0) break;
  }
  return reading.fragments;
}

/** What has been read, and what may still be. */
class Reading {
  #directory;
  #next;
  #left;
  #isGrowing;
  /** @type {Fragment[]} */
  fragments = [];

  /**
   * @param {string} directory
   * @param {{ offset: number, limit: number, isGrowing: boolean }} request
   */
  constructor(directory, { offset, limit, isGrowing }) {
    this.#directory = directory;
    this.#next = offset;
    this.#left = limit;
    this.#isGrowing = isGrowing;
  }

  /** Reads what these segments have; false where one of them is not there any more. @param {Listed[]} segments */
  addAll(segments) {
    let isComplete = true;
    for (const [number, segment] of segments.entries()) {
      if (this.#isFull()) break;
      // The last one may have grown since it was listed.
      const isLast = number + 1 === segments.length;
      if (!isLast && segment.start + segment.length <= this.#next) continue;
      isComplete = this.#addSegment(segment) && isComplete;
    }
    return isComplete;
  }

  /** @param {Listed} segment */
  #addSegment(segment) {
    // The index first: bytes are deleted before their index, so bytes without one never had one.
    const index = open(join(this.#directory, indexName(segment.start)));
    const data = open(join(this.#directory, dataName(segment.start)));
    try {
      if (data !== undefined) this.#collect(segment, data, index);
      return data !== undefined;
    } finally {
      if (index !== undefined) closeSync(index);
      if (data !== undefined) closeSync(data);
    }
  }

  /**
   * @param {Listed} segment
   * @param {number} data
   * @param {number | undefined} index
   */
  #collect(segment, data, index) {
    this.#next = Math.max(this.#next, segment.start);
    const start = this.#next;
    const first = firstEntryAfter(index, start);
    const bytes = readBytes(data, start - segment.start, this.#left);
    for (let number = first; !this.#isFull(); number += 1) {
      const entry = readEntry(index, number);
      // Each run ends behind the one before it. What does not is damaged, and what it would be of is not known.
      if (!entry || entry.end <= this.#next) break;
      this.#add(entry, bytes, start);
      if (this.#next < entry.end) return;
    }
    // Bytes without an entry are about to get one, or, after a supervisor was killed, count as standard output.
    if (this.#isGrowing || this.#isFull()) return;
    this.#add({ end: start + bytes.length, at: segment.modifiedAt, stream: 'stdout' }, bytes, start);
  }

  /**
   * Adds what is wanted of a run, out of bytes that begin at an offset.
   *
   * @param {Entry} run
   * @param {Uint8Array} bytes
   * @param {number} start
   */
  #add({ end, at, stream }, bytes, start) {
    const wanted = bytes.subarray(this.#next - start, Math.max(end - start, 0));
    if (wanted.length === 0) return;
    this.fragments.push({ offset: this.#next, at, stream, bytes: wanted });
    this.#next += wanted.length;
    this.#left -= wanted.length;
  }

  #isFull() {
    return this.#left <= 0 || this.fragments.length >= limits.READ_FRAGMENTS;
  }
}

/**
 * How much a job wrote and how much is there, from the segments' places alone. Any process of the job may have put
 * another one beside them, or made one longer: then the numbers are wrong, and numbers all the same.
 *
 * @param {string} directory
 */
export function usage(directory) {
  const segments = listSegments(directory);
  const last = segments.at(-1);
  const writtenBytes = last ? Math.min(last.start + last.length, Number.MAX_SAFE_INTEGER) : 0;
  const keptBytes = segments.reduce((sum, { length }) => sum + length, 0);
  return {
    writtenBytes,
    keptBytes,
    lastAt: last?.modifiedAt,
  };
}

/**
 * Makes all output of a job survive a power failure, and gives how many bytes of it may not.
 *
 * @param {string} directory
 */
export function syncOutput(directory) {
  const refused = listSegments(directory).filter(({ start }) => !isSynced(directory, start));
  return refused.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Makes one segment survive a power failure, and says whether it will.
 *
 * @param {string} directory
 * @param {number} start
 */
function isSynced(directory, start) {
  // The bytes first: an entry without its bytes would promise some.
  return [dataName(start), indexName(start)].every((name) => {
    try {
      const file = openFile(join(directory, name));
      try {
        fdatasyncSync(file);
      } finally {
        closeSync(file);
      }
      return true;
    } catch {
      // The disk refuses it, or it is gone or something else, and nobody can read it either.
      return false;
    }
  });
}

/** @typedef {{ start: number, length: number, modifiedAt: number }} Listed */

/**
 * All segments in ascending order; what else is called `out-…` is none.
 *
 * @param {string} directory
 * @returns {Listed[]}
 */
function listSegments(directory) {
  return readdirSync(directory).sort().flatMap((name) => {
    const start = Number(name.slice(4));
    if (!isWithin(start) || name !== dataName(start)) return [];
    const found = ifThere(() => lstatSync(join(directory, name)));
    // Deleted since the directory was read: dropped output.
    if (!found?.isFile()) return [];
    return [{ start, length: found.size, modifiedAt: modifiedAt(found) }];
  });
}

/**
 * The number of the first entry whose run ends after `offset`.
 *
 * @param {number | undefined} index
 * @param {number} offset
 */
function firstEntryAfter(index, offset) {
  if (index === undefined) return 0;
  let [low, high] = [0, Math.floor(fstatSync(index).size / ENTRY_BYTES)];
  while (low < high) {
    // Not by bits, of which JavaScript takes 32: a file may be said to be longer.
    const middle = Math.floor((low + high) / 2);
    const entry = readEntry(index, middle);
    if (entry && entry.end <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * @param {number | undefined} index
 * @param {number} number
 */
function readEntry(index, number) {
  if (index === undefined) return undefined;
  const bytes = readBytes(index, number * ENTRY_BYTES, ENTRY_BYTES);
  return bytes.length === ENTRY_BYTES ? decodeEntry(bytes) : undefined;
}

/**
 * Two numbers: the offset, and the time shifted by one with the stream below it.
 *
 * @param {Entry} entry
 */
function encodeEntry({ end, at, stream }) {
  const bytes = Buffer.alloc(ENTRY_BYTES);
  bytes.writeBigUInt64LE(BigInt(end), 0);
  bytes.writeBigUInt64LE((BigInt(at) << 1n) | (stream === 'stderr' ? 1n : 0n), 8);
  return bytes;
}

/** @param {Buffer} bytes @returns {Entry} */
function decodeEntry(bytes) {
  const packed = bytes.readBigUInt64LE(8);
  return {
    end: Number(bytes.readBigUInt64LE(0)),
    at: Number(packed >> 1n),
    stream: packed & 1n ? 'stderr' : 'stdout',
  };
}

/** @param {string} path */
const open = (path) => ifKnown(() => openFile(path));
/** @param {number} start */
const dataName = (start) => `out-${String(start).padStart(20, '0')}`;
/** @param {number} start */
const indexName = (start) => `idx-${String(start).padStart(20, '0')}`;
