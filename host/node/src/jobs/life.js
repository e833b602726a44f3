/**
 * When a job is stopped, how, and when something has to be looked at: a state machine without clock, file or process.
 *
 * ```text
 * running ──stop──▶ ending ──grace──▶ killing
 *    │                ▲
 *    └─command ended─▶ lingering ──too long──┘
 * ```
 */

import { LINGER, LOOK_AGAIN } from '../limits.js';

/** @import { Spec, StopCause } from './model.js' */
/** @typedef {'wait' | 'terminate' | 'kill'} Action what the supervisor has to do now */

export class Life {
  /** @type {'running' | 'lingering' | 'ending' | 'killing'} */
  #phase = 'running';
  /** When the phase is over. */
  #until = Infinity;
  #grace;
  /** @type {[number, StopCause][]} */
  #deadlines;

  /** Why the job was stopped; none where its command ended by itself. @type {StopCause | null} */
  stopped = null;
  /** Whether something outlived a command that had ended by itself, and is being stopped. */
  hasLeftovers = false;

  /**
   * @param {Spec} spec
   * @param {{ asked: number, executed: number }} moments when the job was asked for, and when its command was
   *   executed: the time that Node needs to start a supervisor is not the command's. As all times of this class on the
   *   clock that does not jump.
   */
  constructor({ graceMs, timeoutMs, lifetimeMs }, { asked, executed }) {
    this.#grace = graceMs;
    this.#deadlines = [
      [executed + (timeoutMs ?? Infinity), 'timed-out'],
      [asked + (lifetimeMs ?? Infinity), 'expired'],
    ];
  }

  get isRunning() {
    return this.#phase === 'running';
  }

  /** Why the time alone says that the job is to stop. @param {number} now */
  overdue(now) {
    const [at, cause] = this.#firstDeadline();
    return this.isRunning && now >= at ? cause : undefined;
  }

  /** When something has to be done next, if nothing happens before. */
  get wakeAt() {
    return this.isRunning ? this.#firstDeadline()[0] : this.#until;
  }

  /** The command has ended, and others may run. @param {number} now */
  commandEnded(now) {
    if (!this.isRunning) return;
    this.#phase = 'lingering';
    this.#until = now + LINGER;
  }

  /**
   * Somebody wants the job to stop. The first cause stays; a command that ended by itself was not stopped, and only
   * what it left behind is hurried.
   *
   * @param {StopCause} cause
   * @param {number} now
   * @returns {Action}
   */
  stop(cause, now) {
    if (this.#phase === 'lingering') return this.#endLeftovers(now);
    if (!this.isRunning) return 'wait';
    this.stopped = cause;
    return this.#end(now);
  }

  /**
   * Time has passed.
   *
   * @param {number} now
   * @returns {Action}
   */
  tick(now) {
    if (now < this.#until) return 'wait';
    return this.#phase === 'lingering' ? this.#endLeftovers(now) : this.#kill(now);
  }

  #firstDeadline() {
    const [timeout, lifetime] = /** @type {[[number, StopCause], [number, StopCause]]} */ (this.#deadlines);
    return timeout[0] <= lifetime[0] ? timeout : lifetime;
  }

  /** @param {number} now */
  #endLeftovers(now) {
    this.hasLeftovers = true;
    return this.#end(now);
  }

  /** @param {number} now @returns {Action} */
  #end(now) {
    if (this.#grace === 0) return this.#kill(now);
    this.#phase = 'ending';
    this.#until = now + this.#grace;
    return 'terminate';
  }

  /** @param {number} now @returns {Action} */
  #kill(now) {
    this.#phase = 'killing';
    this.#until = now + LOOK_AGAIN;
    return 'kill';
  }
}
