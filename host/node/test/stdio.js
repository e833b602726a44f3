/** A server for tests over standard input and output, whatever it is that answers. */

import { Lines, messages } from '../src/lines.js';
import { MAX_MESSAGE_BYTES } from '../src/server.js';

/** @typedef {{ receive: (line: string) => unknown, end: () => unknown }} Answering each is waited for */

/**
 * Gives each line of the input to what answers, to the end of the input, and then ends this process.
 *
 * @param {(send: (message: string) => void) => Answering | Promise<Answering>} begin
 */
export async function serveLines(begin) {
  const server = await begin((message) => process.stdout.write(`${message}\n`));
  for await (const line of messages(process.stdin, new Lines(MAX_MESSAGE_BYTES))) {
    if (!('message' in line)) throw new Error(`a test sends no line that is ${line.refuse}`);
    await server.receive(line.message);
  }
  await server.end();
  // When all of it has been written. Functions may run that nobody waits for.
  process.stdout.write('', () => process.exit(0));
}
