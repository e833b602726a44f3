/** The page, in a headless Chromium out of a package. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LACK, launch, serveFiles } from './browser.js';
import { leaveOut } from './support.js';

const skip = leaveOut(LACK);

test('the same component runs in a page, with its store in memory and functions as jobs', { skip }, async (cx) => {
  const [{ origin, close }, browser] = await Promise.all([serveFiles(), launch()]);
  cx.after(() => Promise.all([close(), browser.close()]));
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
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
