/**
 * What is done about a job whose supervisor ended without an outcome, or cannot be found since somebody damaged the
 * job's files: kill what is left of it, and say so.
 *
 * Several processes may do this at the same time, and each of them may be killed in the middle of it: no step depends
 * on being the only one, and the first outcome that is written stays.
 */

import { BURIAL, BURIAL_PAUSE } from '../limits.js';
import { pause } from '../pause.js';
import { ifThere } from './files.js';
import { Damaged, outcome } from './model.js';
import { syncOutput, usage } from './output.js';
import { hasSupervisor, isOther, remains, signalAll } from './processes.js';

/** @import { JobDirectory } from './directory.js' */
/** @import { LossKind, Started } from './model.js' */

/**
 * @typedef {object} Burial
 * @property {string} id
 * @property {JobDirectory} directory
 * @property {string} bootId this boot
 * @property {string} draft a file name that nobody else uses
 */

/** Why a job cannot be said to have ended by one of its own processes. */
const INSIDE = 'its supervisor is gone, and this process is a part of it and runs; ask from outside of the job';

/**
 * Kills what is left of a lost job, and leaves an outcome, which it gives; `undefined` where what was killed has not
 * disappeared yet. Fails where this process is itself a part of the job: the rest has been killed then.
 *
 * @param {Burial} burial
 */
export function bury({ id, directory, bootId, draft }) {
  const origin = unlessDamaged(() => directory.origin());
  const isThisBoot = origin === undefined || origin.bootId === bootId;
  const isReserved = directory.isReserved();
  // A supervisor that lives holds another FIFO than the one that is there.
  const isWhole = origin !== undefined && directory.hasAlive() && !hasSupervisor(id);
  // The number that was recorded in another boot is a stranger's. What has the job's id in its environment is the job's
  // whatever its record says, which a process of the job may have written.
  const started = isThisBoot ? directory.started() : undefined;
  const found = killAll(id, started, () => directory.markFound());
  if (found === 'still there') return undefined;
  const wasFound = found === 'killed' || directory.wasFound();
  // First, so that no outcome counts bytes as kept that a power failure would take.
  const refusedBytes = syncOutput(directory.path);
  const { writtenBytes, keptBytes } = usage(directory.path);
  const safeBytes = Math.max(keptBytes - refusedBytes, 0);
  const wasDamaged = directory.isOutcomeDamaged();
  const kind = lossKind({ isReserved, wasDamaged, isWhole, isThisBoot, wasFound });
  const lost = outcome(/** @type {const} */ ({ tag: 'lost', val: { kind } }), {
    startedAt: origin?.startedAt ?? directory.madeAt(),
    // Whoever reserved the id did so only because there seemed to be no job.
    stopped: (isReserved && kind === 'files' ? undefined : directory.stopCause()) ?? null,
    outputBytes: writtenBytes,
    droppedBytes: Math.max(writtenBytes - safeBytes, 0),
  });
  directory.conclude(lost, draft);
  return directory.outcome();
}

/**
 * What happened to a job.
 *
 * @param {Record<'isReserved' | 'wasDamaged' | 'isWhole' | 'isThisBoot' | 'wasFound', boolean>} known whether it seemed
 *   to be unknown when it was stopped, its outcome was damaged, its record and FIFO are whole, that says this boot, and
 *   something of it ran
 * @returns {LossKind}
 */
function lossKind({ isReserved, wasDamaged, isWhole, isThisBoot, wasFound }) {
  if (isReserved) return wasFound ? 'files' : 'never-started';
  // It may have ended long ago, by itself.
  if (wasDamaged) return 'files';
  if (isThisBoot) return isWhole ? 'supervisor' : 'files';
  return wasFound ? 'files' : 'machine';
}

/**
 * Kills what is left of a job, and its supervisor where that lives and cannot be reached.
 *
 * @param {string} id
 * @param {Started | undefined} started
 * @param {() => void} onFound called before anything is killed
 * @returns {'nothing' | 'killed' | 'still there'}
 */
function killAll(id, started, onFound) {
  const deadline = Date.now() + BURIAL;
  for (let wasFound = false; ; wasFound = true) {
    const left = remains(id, started, 'unproven');
    const others = left.filter(isOther);
    if (others.length < left.length && others.length === 0) throw new Error(INSIDE);
    if (others.length === 0) return wasFound ? 'killed' : 'nothing';
    onFound();
    signalAll(others, 'SIGKILL');
    if (Date.now() > deadline) return 'still there';
    pause(BURIAL_PAUSE);
  }
}

/**
 * What `action` gives, or `undefined` where its file is missing or was damaged: what only a newer version can read is
 * neither.
 *
 * @template Result
 * @param {() => Result} action
 */
function unlessDamaged(action) {
  try {
    return ifThere(action);
  } catch (error) {
    if (error instanceof Damaged) return undefined;
    throw error;
  }
}
