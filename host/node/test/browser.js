/** A headless Chromium out of a package, and a server of this package's files for its pages. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import puppeteer from 'puppeteer-core';

/** What is missing for it on this machine. */
export const LACK = process.arch === 'x64' ? undefined : 'the package has Chromium for x86-64 only';

const ROOT = new URL('../', import.meta.url);
const TYPES = new Map([
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
  ['.json', 'application/json'],
]);

/** Serves the package's files on a free port of this machine, and gives where. */
export async function serveFiles() {
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
  const address = server.address();
  const origin = `http://127.0.0.1:${address && typeof address === 'object' ? address.port : 0}`;
  return { origin, close: () => server.close() };
}

/** What fontconfig reads to find the fonts below a directory. @param {string} directory */
function fontsOf(directory) {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${join(directory, 'fonts')}</dir>
  <cachedir>${join(directory, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}

/** Starts the browser, which whoever did that closes. */
export async function launch() {
  // The package brings the libraries and fonts that Chromium needs, and takes them out where it believes to be in
  // Lambda.
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs22.x';
  // It takes a program that is there for whole, though another process may still be unpacking it.
  const own = mkdtempSync(join(tmpdir(), 'chromium-'));
  process.env.TMPDIR = own;
  process.on('exit', () => rmSync(own, { recursive: true, force: true }));
  // The package's own file looks for the fonts in `/tmp` alone, and text without a font is not there to be read.
  process.env.FONTCONFIG_FILE = join(own, 'fonts.conf');
  writeFileSync(process.env.FONTCONFIG_FILE, fontsOf(own));
  const { default: chromium } = await import('@sparticuz/chromium');
  return puppeteer.launch({
    // A container's root has no sandbox; the pages are our own.
    args: [...chromium.args, '--no-sandbox'],
    executablePath: await chromium.executablePath(),
    headless: 'shell',
    timeout: 120_000,
  });
}
