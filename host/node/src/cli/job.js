/** The job that this process is a part of, for the commands that its processes type. */

import { JOB_VARIABLE } from '../jobs/command.js';
import { JobDirectory } from '../jobs/directory.js';

/** Its directory. */
export function ownJob() {
  const path = process.env[JOB_VARIABLE];
  if (!path) throw new Error(`this is no job: ${JOB_VARIABLE} is not set; use it in a command that runs as a job`);
  if (!new JobDirectory(path).isAlive()) throw new Error(`there is no job that runs in ${path}`);
  return path;
}
