/**
 * The little of WASI that the component imports, in Node and in browsers: randomness, a standard error for the last
 * words of a panic, and empty hands for the rest, which Rust's standard library links but never calls.
 *
 * `@bytecodealliance/preview2-shim` does the same and much more; it takes a tenth of a second to load in Node.
 */

class Stream {
  checkWrite() {
    return 65536n;
  }

  /** @param {Uint8Array} bytes */
  write(bytes) {
    console.error(new TextDecoder().decode(bytes).trimEnd());
  }

  blockingFlush() {}

  subscribe() {
    return new Pollable();
  }
}

class Pollable {
  block() {}
}

class Unused {}

const stream = () => new Stream();
const nothing = () => undefined;

/** The imports, by interface. */
export const wasi = {
  'wasi:random/random': {
    getRandomU64: () => crypto.getRandomValues(new BigUint64Array(1))[0],
    /** @param {bigint} length */
    getRandomBytes: (length) => crypto.getRandomValues(new Uint8Array(Number(length))),
  },
  // What hash tables of the component begin with.
  'wasi:random/insecure-seed': { insecureSeed: () => [...crypto.getRandomValues(new BigUint64Array(2))] },
  'wasi:cli/environment': { getEnvironment: () => [] },
  'wasi:cli/exit': {
    exit() {
      throw new Error('the component ended itself');
    },
  },
  'wasi:cli/stdin': { getStdin: stream },
  'wasi:cli/stdout': { getStdout: stream },
  'wasi:cli/stderr': { getStderr: stream },
  'wasi:cli/terminal-input': { TerminalInput: Unused },
  'wasi:cli/terminal-output': { TerminalOutput: Unused },
  'wasi:cli/terminal-stdin': { getTerminalStdin: nothing },
  'wasi:cli/terminal-stdout': { getTerminalStdout: nothing },
  'wasi:cli/terminal-stderr': { getTerminalStderr: nothing },
  'wasi:io/error': { Error: Unused },
  'wasi:io/poll': { Pollable },
  'wasi:io/streams': { InputStream: Unused, OutputStream: Stream },
};
