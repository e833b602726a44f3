/**
 * Messages out of a stream of bytes: one a line, with a bound on its length. Empty lines are skipped, and a last line
 * without a line break counts.
 *
 * @typedef {{ message: string } | { refuse: 'too-large' | 'not-utf8' }} Line
 */

/** @import { Readable } from 'node:stream' */

const LINE_BREAK = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class Lines {
  #limitBytes;
  /** @type {Buffer[]} */
  #pieces = [];
  #length = 0;

  /** @param {number} limitBytes the longest line that is accepted, without its line break */
  constructor(limitBytes) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Takes bytes, and gives the lines that end in them. Keeps no more than the limit and one chunk in memory.
   *
   * @param {Buffer} bytes
   * @returns {Generator<Line>}
   */
  *push(bytes) {
    let start = 0;
    for (let end = bytes.indexOf(LINE_BREAK); end >= 0; end = bytes.indexOf(LINE_BREAK, start)) {
      this.#add(bytes.subarray(start, end));
      yield* this.end();
      start = end + 1;
    }
    this.#add(bytes.subarray(start));
  }

  /**
   * The line that has been begun, if there is one: there is nothing more of it.
   *
   * @returns {Generator<Line>}
   */
  *end() {
    let line = Buffer.concat(this.#pieces);
    const isTooLarge = this.#length > this.#limitBytes;
    this.#pieces = [];
    this.#length = 0;
    if (line.at(-1) === CARRIAGE_RETURN) line = line.subarray(0, -1);
    if (isTooLarge) yield { refuse: 'too-large' };
    else if (line.length > 0) yield decoded(line);
  }

  /** @param {Buffer} piece */
  #add(piece) {
    this.#length += piece.length;
    if (this.#length <= this.#limitBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }
}

/**
 * The messages of a client, each read when it is asked for.
 *
 * @param {Readable} input bytes
 * @param {Lines} lines
 */
export async function* messages(input, lines) {
  try {
    for await (const bytes of input) yield* lines.push(bytes);
  } catch {
    // It failed or was ended: what has come of a last message is not all of it.
    return;
  }
  yield* lines.end();
}

/** @param {Buffer} line @returns {Line} */
function decoded(line) {
  try {
    return { message: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line) };
  } catch {
    return { refuse: 'not-utf8' };
  }
}
