/**
 * One client: its messages are answered, and its requests are kept open where the component says so.
 *
 * Runs in Node and in browsers. Whoever has a transport gives this the messages and sends what it is given.
 */

import { OPEN_REQUESTS, SHORTEST_WAIT } from './limits.js';
import { at } from './timer.js';

/** @import { Component, Outcome, Wake, Refusal } from './component.js' */
/** @typedef {Extract<Outcome, { tag: 'wait' }>['val']} Pending */

/**
 * Tells when jobs end: calls back, later, once the job does not run or not any more, and gives a function that
 * takes the request back. It is a wake-up and no verdict.
 *
 * @typedef {{ whenEnded(id: string, callback: () => void): () => void }} Endings
 */

/**
 * A request that is kept open.
 *
 * @typedef {{ pending: Pending, body: string, disarm: (() => unknown)[] }} Wait
 */

/**
 * What a connection is made of.
 *
 * @typedef {object} Parts
 * @property {Component} component
 * @property {Endings} endings
 * @property {string} principal who calls, as the transport authenticated it
 * @property {(message: string) => void} send takes one message
 * @property {() => Promise<void> | undefined} [room] what resolves when the client has taken what was sent, `undefined`
 *   where it has; without it every client is taken for one that reads
 */

/** A client. What it does not take holds back what it waits for, so that replies do not pile up. */
export class Connection {
  #component;
  #endings;
  #principal;
  #send;
  #room;
  /** @type {Set<Wait>} */
  #open = new Set();

  /** @param {Parts} parts */
  constructor({ component, endings, principal, send, room }) {
    this.#component = component;
    this.#endings = endings;
    this.#principal = principal;
    this.#send = send;
    this.#room = room ?? (() => undefined);
  }

  /**
   * Handles one message, at once. Whoever reads messages reads the next one when there is `room` again.
   *
   * @param {string} body
   */
  receive(body) {
    const outcome = this.#component.message(this.#context(), body);
    const pending = this.#pending(outcome);
    if (pending) this.#keep({ pending, body, disarm: [] });
    else if (outcome.tag === 'cancel') this.#cancel(outcome.val.request);
    else this.#answer(outcome);
  }

  /**
   * Answers a message that cannot be given to the component.
   *
   * @param {Refusal} why
   */
  refuse(why) {
    this.#answer(this.#component.refuse('', why));
  }

  /** Answers what is open, with what is known by now. Jobs go on. */
  shutdown() {
    for (const wait of [...this.#open]) this.#wake(wait, 'shutdown');
  }

  /** @param {Wait} wait */
  #keep(wait) {
    const isFull = this.#open.size >= OPEN_REQUESTS;
    this.#open.add(wait);
    if (isFull) this.#wake(wait, 'shutdown');
    else this.#arm(wait);
  }

  /** @param {Wait} wait */
  #arm(wait) {
    wait.disarm = wait.pending.jobs.map((id) =>
      this.#endings.whenEnded(id, () => this.#wakeWithRoom(wait, 'job-ended')),
    );
    wait.disarm.push(at(wait.pending.deadline, () => this.#wakeWithRoom(wait, 'deadline')));
  }

  /**
   * Wakes it when the client takes what was sent, one at a time: each may send so much that there is no room any more.
   *
   * @param {Wait} wait
   * @param {Wake} why
   */
  #wakeWithRoom(wait, why) {
    for (const disarm of wait.disarm.splice(0)) disarm();
    const room = this.#room();
    if (!room) return this.#wake(wait, why);
    let isWanted = true;
    wait.disarm = [() => (isWanted = false)];
    room.then(() => isWanted && this.#wakeWithRoom(wait, why));
  }

  /**
   * @param {Wait} wait
   * @param {Wake} why
   */
  #wake(wait, why) {
    for (const disarm of wait.disarm.splice(0)) disarm();
    const outcome = this.#component.resume(this.#context(), wait.pending.ticket, why, wait.body);
    const pending = why === 'shutdown' ? undefined : this.#pending(outcome);
    if (pending) {
      // The job ended and is not over, say because a process of it cannot be killed: look again, but not at once.
      wait.pending = pending;
      const timer = setTimeout(() => this.#arm(wait), SHORTEST_WAIT);
      wait.disarm = [() => clearTimeout(timer)];
      return;
    }
    this.#open.delete(wait);
    this.#answer(outcome);
  }

  /** @param {string} request */
  #cancel(request) {
    const wait = [...this.#open].find((open) => open.pending.request === request);
    if (wait) this.#wake(wait, 'cancelled');
  }

  /**
   * The request that stays open, when what is to be told first has been sent.
   *
   * @param {Outcome} outcome
   * @returns {Pending | undefined}
   */
  #pending(outcome) {
    if (outcome.tag === 'wait') return outcome.val;
    if (outcome.tag !== 'notify') return undefined;
    for (const message of outcome.val.messages) this.#send(message);
    return outcome.val.pending;
  }

  /** @param {Outcome} outcome */
  #answer(outcome) {
    if (outcome.tag === 'reply') this.#send(outcome.val);
  }

  #context() {
    return { now: BigInt(Date.now()), principal: this.#principal };
  }
}
