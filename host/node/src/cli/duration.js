/** Durations and moments as people write and read them, in the words of the native program. Pure. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What a unit is called, and how many milliseconds it has. */
const UNITS = new Map([['d', DAY], ['h', HOUR], ['m', MINUTE], ['min', MINUTE], ['s', SECOND], ['ms', 1]]);

/**
 * Reads a number of seconds, or numbers with a unit each, the longest one first, as in `1h30m`. What is less than a
 * millisecond counts as one more.
 *
 * @param {string} text
 * @returns {number | undefined} milliseconds; `undefined` where it is no duration
 */
export function milliseconds(text) {
  const seconds = amount(text, SECOND);
  if (seconds !== undefined) return seconds;
  let sum = 0;
  let longer = Infinity;
  // Between a unit and the next number there may be a blank.
  for (const part of text.split(/(?<=[a-z]) ?(?=[\d.])/)) {
    const [, number = '', name = ''] = /^([\d.]+)([a-z]+)$/.exec(part) ?? [];
    const unit = UNITS.get(name) ?? Infinity;
    // Twice the same unit, or a longer one behind a shorter one, is a slip of the finger.
    const ms = unit < longer ? amount(number, unit) : undefined;
    if (ms === undefined) return undefined;
    sum += ms;
    longer = unit;
  }
  return sum;
}

/**
 * So many of a unit, such as `1`, `1.5` or `.5`, in milliseconds. Counts exactly: 1.1 days are no odd number of
 * milliseconds.
 *
 * @param {string} number
 * @param {number} unit
 */
function amount(number, unit) {
  const [found, whole, fraction = ''] = /^(\d*)(?:\.(\d{1,12}))?$/.exec(number) ?? [];
  if (!found) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const parts = BigInt(fraction) * BigInt(unit);
  return Number(whole) * unit + Number((parts + scale - 1n) / scale);
}

/** How long something lasts, in all its units: nothing of a deadline is rounded away. @param {number} ms whole */
export function lasting(ms) {
  if (ms < SECOND) return `${ms} ms`;
  const parts = [];
  let rest = ms;
  for (const [unit, name] of /** @type {const} */ ([[DAY, 'd'], [HOUR, 'h'], [MINUTE, 'min']])) {
    if (rest >= unit) parts.push(`${Math.floor(rest / unit)} ${name}`);
    rest %= unit;
  }
  // As many digits as it has: at most three.
  if (rest > 0) parts.push(`${rest / SECOND} s`);
  return parts.join(' ');
}

/**
 * A moment as a person reads it: in UTC, since nobody knows where, and with whole seconds.
 *
 * @param {number} ms since 1970
 */
export function moment(ms) {
  const [date, time = ''] = new Date(ms).toISOString().split('T');
  return `${date} ${time.slice(0, 8)} UTC`;
}
