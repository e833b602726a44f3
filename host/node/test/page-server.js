/**
 * A stdio server that is a page, for the corpus of transcripts: `node page-server.js [OPTIONS]`, with the options of
 * `serve`. It gives each line of its input to a page of its own in the browser of `pages.js`, and writes what that
 * answers: what is tested is in the page, see `page.js`.
 */

import puppeteer from 'puppeteer-core';

import { options } from '../src/cli/serve.js';
import { serveLines } from './stdio.js';

// Nothing but messages gets into the client's stream.
globalThis.console = new console.Console(process.stderr);
const config = options(process.argv.slice(2)).configuration();
const { origin, endpoint } = JSON.parse(process.env.BACKBURNER_PAGES ?? '{}');
if (!endpoint) throw new Error('set BACKBURNER_PAGES to the line that pages.js writes');
const browser = await puppeteer.connect({ browserWSEndpoint: endpoint });
const page = await browser.newPage();
// A machine may be busy with many of these.
page.setDefaultTimeout(60_000);
page.on('pageerror', (error) => console.error(error));
page.on('console', (message) => console.error(message.text()));

await serveLines(async (send) => {
  await page.exposeFunction('answer', send);
  await page.goto(`${origin}/test/page.html`);
  await page.waitForFunction(() => document.title === 'ready');
  await page.evaluate((it) => /** @type {any} */ (globalThis).open(it), config);
  return {
    receive: (line) => page.evaluate((it) => /** @type {any} */ (globalThis).server.receive(it), line),
    end: async () => {
      await page.evaluate(() => /** @type {any} */ (globalThis).server.end());
      await page.close();
    },
  };
});
