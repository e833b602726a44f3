/**
 * The process that accompanies one job from its start to its end: `node supervisor.js ID`, in the job's directory,
 * with the FIFO `alive` as its standard output.
 *
 * It knows no server. It starts the command, writes its output to disk, stops it when its time is over or somebody
 * wants that, and leaves an outcome when nothing of the job runs any more. What a command leaves behind when it ends
 * by itself gets half a second to end too; then it is named in the outcome and stopped in the same way.
 */

import { dirname } from 'node:path';

import { DRAIN, LEFTOVERS, LOOK_AGAIN, OUTCOME_RETRY, REQUEST_LOOK } from '../limits.js';
import { pause } from '../pause.js';
import { monotonicMs } from './clock.js';
import { endOf, execute } from './command.js';
import { JobDirectory } from './directory.js';
import { codeOf, openUp } from './files.js';
import { Life } from './life.js';
import { outcome } from './model.js';
import { Recorder } from './output.js';
import { describe, isOther, look, remains, signalAll } from './processes.js';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Action } from './life.js' */
/** @import { End, Leftover, Origin, Outcome, Spec } from './model.js' */
/** @typedef {{ id: string, directory: JobDirectory, origin: Origin, spec: Spec, recorder: Recorder }} Post */

/** The descriptor of the FIFO `alive`. */
const ALIVE = 1;

/** Watches a command until nothing of it runs any more. */
class Watch {
  #post;
  #life;
  #started;
  /** @type {End | undefined} */
  #end;
  /** @type {Leftover[]} */
  #leftovers = [];
  #isAskedToEnd = false;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {(known: Pick<Outcome, 'end' | 'stopped' | 'leftovers'>) => void} */
  #over = () => undefined;

  /**
   * @param {Post} post
   * @param {number} pid
   */
  constructor(post, pid) {
    this.#post = post;
    this.#life = new Life(post.spec, { asked: post.origin.monotonicMs, executed: monotonicMs() });
    this.#started = { pid, startTicks: look(pid)?.startTicks ?? 0 };
  }

  /**
   * @param {Promise<End>} end of the command
   * @returns {Promise<Pick<Outcome, 'end' | 'stopped' | 'leftovers'>>}
   */
  run(end) {
    this.#recordStarted();
    process.on('SIGTERM', () => {
      this.#isAskedToEnd = true;
      this.#step();
    });
    end.then((known) => {
      this.#end = known;
      this.#step();
    });
    return new Promise((resolve) => {
      this.#over = resolve;
      // After the control is open: a request that was made before it is found now, a later one wakes.
      this.#step();
    });
  }

  /** Somebody wants something of the job. */
  wake() {
    this.#step();
  }

  #recordStarted() {
    try {
      this.#post.directory.recordStarted(this.#started);
    } catch {
      // On a full disk it is not recorded: what is left of a lost job is found by its environment too.
    }
  }

  /** Something happened, or time has passed. */
  #step() {
    clearTimeout(this.#timer);
    const now = monotonicMs();
    if (this.#end) this.#life.commandEnded(now);
    const cause = this.#hasEndedUntold() ? undefined : this.#stopCause(now);
    if (cause) this.#act(this.#life.stop(cause, now));
    this.#act(this.#life.tick(now));
    if (this.#end && this.#remains().length === 0) {
      this.#over({ end: this.#end, stopped: this.#life.stopped, leftovers: this.#leftovers });
      return;
    }
    // The job may have taken away what wakes this, and what it needs to be found.
    const wait = Math.min(this.#life.wakeAt - now, this.#end ? LOOK_AGAIN : REQUEST_LOOK);
    this.#timer = setTimeout(() => this.#step(), wait);
  }

  /** Whether the command has ended by itself, and Node is about to say so: then it is not stopped any more. */
  #hasEndedUntold() {
    return !this.#end && (look(this.#started.pid)?.isZombie ?? true);
  }

  /** Why the job is to stop, settled with everybody else who may have had a cause. @param {number} now */
  #stopCause(now) {
    const { directory } = this.#post;
    const cause = this.#life.overdue(now) ?? (this.#isAskedToEnd ? 'shut-down' : undefined);
    if (!cause || !this.#life.isRunning) return this.#requested() ?? cause;
    try {
      return directory.requestStop(cause);
    } catch {
      // Where it cannot be recorded, it is done all the same.
      return cause;
    }
  }

  /** Why somebody wants the job to stop. */
  #requested() {
    const { directory } = this.#post;
    try {
      return directory.stopCause();
    } catch {
      // The job has closed its directory: who wants it to stop opens that first, and wakes this process afterwards.
      return undefined;
    }
  }

  /** @param {Action} action */
  #act(action) {
    if (action === 'wait') return;
    const processes = this.#remains();
    if (this.#life.hasLeftovers && this.#leftovers.length === 0) {
      this.#leftovers = processes.slice(0, LEFTOVERS).map(describe);
    }
    signalAll(processes, action === 'kill' ? 'SIGKILL' : 'SIGTERM');
  }

  #remains() {
    // A supervisor whose server is a job itself is a part of that one, and never of its own.
    return remains(this.#post.id, this.#started, 'certain').filter(isOther);
  }
}

/**
 * Executes the command, stays with it, and gives its outcome when nothing of it runs any more.
 *
 * @param {Post} post
 * @returns {Promise<Pick<Outcome, 'end' | 'stopped' | 'leftovers'>>}
 */
async function carryOut(post) {
  const stopped = post.directory.stopCause();
  if (stopped) return notStarted('it was stopped before its command was executed', stopped);
  /** @type {Watch | undefined} */
  let watch;
  // Before its command can put something else in the place of that.
  post.directory.whenWoken(() => watch?.wake());
  /** @type {ChildProcess} */
  let child;
  try {
    child = await execute(post.id, post.spec, post.directory.path);
  } catch (error) {
    return notStarted(error instanceof Error ? error.message : String(error));
  }
  const drained = record(child, post.recorder);
  watch = new Watch(post, child.pid ?? 0);
  const known = await watch.run(endOf(child));
  await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, DRAIN))]);
  return known;
}

/** @param {string} detail @param {Outcome['stopped']} stopped */
function notStarted(detail, stopped = null) {
  return { end: /** @type {End} */ ({ tag: 'not-started', val: { detail } }), stopped, leftovers: [] };
}

/**
 * Records what a command writes; resolved when nobody can write any more.
 *
 * @param {ChildProcess} child
 * @param {Recorder} recorder
 */
function record(child, recorder) {
  child.stdout?.on('data', (bytes) => recorder.record('stdout', bytes));
  child.stderr?.on('data', (bytes) => recorder.record('stderr', bytes));
  return new Promise((resolve) => child.on('close', resolve));
}

/**
 * Writes the outcome, whatever it takes.
 *
 * @param {Post} post
 * @param {Pick<Outcome, 'end' | 'stopped' | 'leftovers'>} known
 */
function conclude({ directory, origin, recorder }, known) {
  const durationMs = monotonicMs() - origin.monotonicMs;
  reopen(directory);
  // First, so that no outcome counts bytes as kept that a power failure would take.
  recorder.sync();
  const finished = outcome(known.end, {
    ...known,
    startedAt: origin.startedAt,
    durationMs,
    outputBytes: recorder.writtenBytes,
    droppedBytes: recorder.droppedBytes,
  });
  for (let isFirst = true; ; ) {
    try {
      // As long as everybody sees that this process lives, nobody else says how the job ended but the job itself.
      if (isFirst && directory.isAliveFile(ALIVE)) directory.disownOutcome();
      isFirst = false;
      return directory.conclude(finished);
    } catch (error) {
      // Somebody deleted the whole directory: there is nobody left to tell.
      if (codeOf(error) === 'ENOENT') throw error;
      reopen(directory);
      pause(OUTCOME_RETRY);
    }
  }
}

/** Opens what the job may have closed: its directory, and that of all jobs. @param {JobDirectory} directory */
function reopen({ path }) {
  for (const place of [dirname(path), path]) openUp(place);
}

async function supervise() {
  const [, , id = ''] = process.argv;
  const directory = new JobDirectory(process.cwd());
  // A person who tries this out must not start a job a second time.
  if (!directory.isAliveFile(ALIVE)) throw new Error('a supervisor is started by a server');
  // A terminal that goes away has no effect; SIGTERM is what a machine sends when it ends.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']) process.on(signal, () => undefined);
  const spec = directory.spec();
  const recorder = new Recorder(directory.path, spec.outputLimitBytes);
  const post = { id, directory, origin: directory.origin(), spec, recorder };
  conclude(post, await carryOut(post));
  // Only now may the job count as ended: the FIFO closes with this process.
  process.exit();
}

await supervise();
