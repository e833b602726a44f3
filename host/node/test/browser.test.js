/** The page, in a headless Chromium out of a package. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import puppeteer from 'puppeteer-core';

import { leaveOut } from './support.js';

// The package brings the libraries and fonts that Chromium needs, and takes them out where it believes to be in Lambda.
process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs22.x';
const { default: chromium } = await import('@sparticuz/chromium');

const ROOT = new URL('../', import.meta.url);
const TYPES = new Map([
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
  ['.json', 'application/json'],
]);

/** Serves the package's files on a free port of this machine. @param {import('node:test').TestContext} cx */
async function serveFiles(cx) {
  const server = createServer((request, response) => {
    const path = fileURLToPath(new URL(`.${new URL(request.url ?? '/', 'http://page').pathname}`, ROOT));
    try {
      const content = readFileSync(path);
      response.setHeader('content-type', TYPES.get(extname(path)) ?? 'application/octet-stream').end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  cx.after(() => server.close());
  const address = server.address();
  return `http://127.0.0.1:${address && typeof address === 'object' ? address.port : 0}`;
}

/** A page of a browser that is closed after the test. @param {import('node:test').TestContext} cx */
async function openPage(cx) {
  const browser = await puppeteer.launch({
    // A container's root has no sandbox; the page is our own.
    args: [...chromium.args, '--no-sandbox'],
    executablePath: await chromium.executablePath(),
    headless: 'shell',
    timeout: 120_000,
  });
  cx.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  return page;
}

const skip = leaveOut(process.arch === 'x64' ? undefined : 'the package has Chromium for x86-64 only');

test('the same component runs in a page, with its store in memory and functions as jobs', { skip }, async (cx) => {
  const [origin, page] = await Promise.all([serveFiles(cx), openPage(cx)]);
  /** @type {string[]} */
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  const text = (/** @type {string} */ selector) => page.$eval(selector, (element) => element.textContent ?? '');
  const waitFor = (/** @type {string} */ words) =>
    page.waitForFunction((wanted) => document.body.innerText.includes(wanted), {}, words);

  await page.goto(`${origin}/browser/index.html`);
  await page.waitForSelector('#run:enabled');
  await page.click('#run');
  await waitFor('completed:');
  const log = await text('#log');
  assert.match(log, /"resultType":"task"/);
  assert.match(log, /"status":"working"/);
  assert.match(log, /lift-off/);

  await page.click('#form button');
  await waitFor('"id":"mine","result"');
  assert.deepEqual(problems, []);
});
