/**
 * Runs a command as a task and goes away, without waiting for it:
 *
 *     node leave.js DATA-DIR COMMAND
 *
 * It prints what another process needs to go on with the task.
 */

import { open } from './session.js';

const [dataDir = '', command = ''] = process.argv.slice(2);
const session = await open(dataDir);
const execution = await session.run(command);
await execution.handoff((reference) => console.log(JSON.stringify(reference)));
// It settles here without its end. A session cancels the executions that have not settled when it is closed.
await execution.result();
await session.close();
