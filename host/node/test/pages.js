/**
 * The browser for any number of `page-server.js`: `node pages.js`. It writes one line, what these need in the variable
 * BACKBURNER_PAGES, and goes on until its input ends.
 */

import { launch, serveFiles } from './browser.js';

/**
 * How long the browser may take to close, in milliseconds: otherwise it is killed, which puppeteer does when this
 * process ends.
 */
const CLOSING = 10_000;

const [{ origin }, browser] = await Promise.all([serveFiles(), launch()]);
process.stdin.on('end', async () => {
  setTimeout(() => process.exit(1), CLOSING);
  await browser.close();
  process.exit(0);
});
process.stdin.resume();
process.stdout.write(`${JSON.stringify({ origin, endpoint: browser.wsEndpoint() })}\n`);
