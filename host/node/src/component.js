/**
 * The component: instances of it, one at a time, and what is done when one traps.
 *
 * Runs in Node and in browsers. It knows nothing of transports.
 */

import { CALLS_PER_INSTANCE } from './limits.js';
import { wasi } from './wasi.js';

/** @import { ImportObject, Root } from '#server/component.js' */
/** @typedef {Root['protocol']} Protocol */
/** @typedef {ReturnType<Protocol['message']>} Outcome */
/** @typedef {Parameters<Protocol['message']>[0]} Context */
/** @typedef {Parameters<Protocol['resume']>[2]} Wake */
/** @typedef {Parameters<Protocol['refuse']>[1]} Refusal */
/** @typedef {ImportObject['backburner:server/store@0.1.0']} Store */
/** @typedef {ImportObject['backburner:server/jobs@0.1.0']} AllJobs */
/** Without `enter` where no job has a terminal. */
/** @typedef {Omit<AllJobs, 'enter'> & Partial<Pick<AllJobs, 'enter'>>} Jobs */

/**
 * What a build makes of a component: a function that links it, and its compiled core modules by file name.
 *
 * @template Exports
 * @typedef {object} Code
 * @property {(getCoreModule: (name: string) => WebAssembly.Module, imports: any) => Exports} instantiate
 * @property {Map<string, WebAssembly.Module>} modules
 */

/**
 * Makes an instance with these capabilities.
 *
 * jco's types name the imports with their version and its code reads them without, hence the `any` above.
 *
 * @template Exports
 * @param {Code<Exports>} code
 * @param {Store} store
 * @param {Jobs} jobs
 * @returns {Exports}
 */
export function instantiate({ instantiate, modules }, store, jobs) {
  /** @param {string} name */
  const coreModule = (name) => {
    const module = modules.get(name);
    if (!module) throw new Error(`the build is incomplete: there is no ${name}; build again`);
    return module;
  };
  return instantiate(coreModule, {
    ...wasi,
    'backburner:server/store': {
      get: store.get.bind(store),
      scan: store.scan.bind(store),
      commit: store.commit.bind(store),
    },
    'backburner:server/jobs': {
      start: jobs.start.bind(jobs),
      stop: jobs.stop.bind(jobs),
      inspect: jobs.inspect.bind(jobs),
      read: jobs.read.bind(jobs),
      answer: jobs.answer.bind(jobs),
      enter: jobs.enter?.bind(jobs) ?? (() => undefined),
      forget: jobs.forget.bind(jobs),
    },
  });
}

/** What a component is made of. */
/** @typedef {{ code: Code<Root>, store: Store, jobs: Jobs, config?: object, log?: (text: string) => void }} Parts */

/** The component refuses its configuration. */
export class ConfigError extends Error {
  /** @param {{ at: string, reason: string }} error as the WIT has it: `at` is a JSON pointer to the wrong member */
  constructor({ at, reason }) {
    super(at === '' ? reason : `${at}: ${reason}`);
    this.name = 'ConfigError';
    this.at = at;
    this.reason = reason;
  }
}

/** A configured component. Its methods are those of the WIT, and none of them throws. */
export class Component {
  #parts;
  /** The instance; none after it trapped. @type {Protocol | undefined} */
  #protocol;
  #calls = 0;

  /**
   * @param {Parts} parts `config` has the members of the WIT's `configure`
   * @throws {ConfigError} where a member of `config` is wrong
   */
  constructor(parts) {
    this.#parts = parts;
    this.#protocol = this.#begin();
  }

  /**
   * Handles a message of a client, which is answered in any case.
   *
   * @param {Context} context
   * @param {string} body
   * @returns {Outcome}
   */
  message(context, body) {
    return this.#call((protocol) => protocol.message(context, body)) ?? this.refuse(body, 'trapped');
  }

  /**
   * Goes on with the open request that `body` is.
   *
   * @param {Context} context
   * @param {string} ticket
   * @param {Wake} why
   * @param {string} body
   * @returns {Outcome}
   */
  resume(context, ticket, why, body) {
    return this.#call((protocol) => protocol.resume(context, ticket, why)) ?? this.refuse(body, 'trapped');
  }

  /**
   * The answer to a message that was not handled.
   *
   * @param {string} body empty where the host does not have it
   * @param {Refusal} why
   * @returns {Outcome}
   */
  refuse(body, why) {
    const reply = this.#call((protocol) => protocol.refuse(body, why));
    return reply === undefined ? { tag: 'nothing' } : { tag: 'reply', val: reply };
  }

  /**
   * Looks after tasks, and says when to do so again.
   *
   * @param {bigint} now
   * @returns {bigint | undefined}
   */
  sweep(now) {
    return this.#call((protocol) => protocol.sweep(now));
  }

  /**
   * Calls an instance; `undefined` where it trapped. It cannot be entered again then.
   *
   * @template Result
   * @param {(protocol: Protocol) => Result} call
   */
  #call(call) {
    try {
      this.#calls += 1;
      if (this.#calls > CALLS_PER_INSTANCE) this.#protocol = undefined;
      this.#protocol ??= this.#begin();
      return call(this.#protocol);
    } catch (trap) {
      this.#protocol = undefined;
      this.#parts.log?.(`an instance trapped: ${trap instanceof Error ? trap.stack : trap}`);
      return undefined;
    }
  }

  #begin() {
    const { code, store, jobs, config } = this.#parts;
    const { protocol } = instantiate(code, store, jobs);
    configure(protocol, JSON.stringify(config ?? {}));
    this.#calls = 0;
    return protocol;
  }
}

/**
 * @param {Protocol} protocol
 * @param {string} config
 */
function configure(protocol, config) {
  try {
    protocol.configure(config);
  } catch (error) {
    // jco throws the error of a call as the payload of one of its own.
    const payload = error instanceof Error && 'payload' in error ? error.payload : undefined;
    if (typeof payload !== 'object') throw error;
    throw new ConfigError(/** @type {{ at: string, reason: string }} */ (payload));
  }
}
