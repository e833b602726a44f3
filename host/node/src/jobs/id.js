/** The names of jobs. */

/**
 * Whether this names a job: a UUID in its lower-case form, and nothing else, so that no name can be a path.
 *
 * @param {string} id
 */
export function isJobId(id) {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

/** What is said of anything else. */
export const NO_JOB_ID = "a job's name is a UUID";
