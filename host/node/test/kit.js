/** Drives the host conformance kit: begins checks and does what their progress says, until they are over. */

/** @typedef {{ tag: string, val?: any }} Progress as jco gives it */
/** @typedef {{ name: string, promise: string, needs: string[] }} Check */

/**
 * What has the kit do a step, in an instance of its own: `{ begin }` or `{ resume }`.
 *
 * @typedef {object} Host
 * @property {(step: { begin?: string, resume?: string }) => Promise<Progress>} ask
 * @property {() => Promise<void>} end as a crash would
 */

/**
 * Runs one check, and gives why its promise is not kept; `undefined` only where the kit says that it passed.
 *
 * @param {() => Host} open begins a host on the same store and jobs, again where the old one has ended
 * @param {boolean} isAlone whether there is one host at a time, so that it is also every member of a crowd
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
export async function runCheck(open, isAlone, name) {
  let host = open();
  try {
    let progress = await host.ask({ begin: name });
    for (;;) {
      const { tag, val } = progress;
      if (tag === 'passed') return undefined;
      if (tag === 'wait') await until(Math.min(val.deadline, Date.now() + 20));
      else if (tag === 'restart') {
        await host.end();
        await until(val.notBefore);
        host = open();
      } else if (tag === 'crowd') {
        const failure = await runCrowd(isAlone ? () => host : open, host, val.members);
        if (failure) return failure;
      } else return reason(progress);
      progress = await host.ask({ resume: val.ticket });
    }
  } finally {
    await host.end();
  }
}

/**
 * Has all members do their part at the same time; each has to pass, and has nothing else to do.
 *
 * @param {() => Host} open
 * @param {Host} own that is not ended
 * @param {string[]} members
 */
async function runCrowd(open, own, members) {
  const hosts = members.map(open);
  const ends = await Promise.all(hosts.map((host, index) => host.ask({ resume: String(members[index]) })));
  await Promise.all(hosts.filter((host) => host !== own).map((host) => host.end()));
  const failed = ends.find(({ tag }) => tag !== 'passed');
  return failed && reason(failed);
}

/** @param {Progress} progress */
const reason = ({ tag, val }) =>
  tag === 'failed' ? String(val.reason) : `the kit says \`${tag}\` where it has to end`;

/** @param {number} moment */
const until = (moment) => new Promise((resolve) => setTimeout(resolve, moment - Date.now()));
