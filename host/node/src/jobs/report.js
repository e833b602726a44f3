/** What a job last said of itself: `report.json` in its directory, which any process of the job may have written. */

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { REPORT_BYTES, WRITTEN_REPORT_BYTES } from '../limits.js';
import { isWithin } from './contract.js';
import { encode, readRecord } from './model.js';

/** @typedef {{ percent: number | null, text: string, at: number }} Report */

/**
 * What it last said; `undefined` where it has said nothing, or the file is damaged.
 *
 * @param {string} job its directory
 * @returns {Report | undefined}
 */
export function readReport(job) {
  const { percent, text, at } = readRecord(join(job, 'report.json'), WRITTEN_REPORT_BYTES) ?? {};
  const isReport = typeof text === 'string' && isWithin(at);
  if (!isReport || (percent !== null && !isWithin(percent, 100))) return undefined;
  return { percent, text: bounded(text), at };
}

/**
 * Writes it in one step. The last one stays.
 *
 * @param {string} job its directory
 * @param {Report} report
 */
export function writeReport(job, { percent, text, at }) {
  const draft = join(job, `report.draft-${process.pid}`);
  try {
    writeFileSync(draft, encode({ percent, text: bounded(text), at }), { mode: 0o600 });
    renameSync(draft, join(job, 'report.json'));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** As much as fits, without half a character at its end. @param {string} text */
function bounded(text) {
  const bytes = Buffer.from(text).subarray(0, REPORT_BYTES);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}
