/** A session of the official client with the official Tasks package, and the server process that it starts. */

import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';

import { Wire } from './wire.js';

/** @import { ApplicationInputHandler } from '@modelcontextprotocol/ext-tasks/client' */

const PROTOCOL_VERSION = '2026-07-28';
const CLIENT_INFO = { name: 'typescript-client', version: '1' };
const CAPABILITIES = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** What tells this server from others, to the references of tasks that outlive a session. */
const ENDPOINT = 'backburner';

/** The program that is tested. */
const BACKBURNER = process.env.BACKBURNER ?? 'backburner';

/**
 * Starts a server, and connects with it.
 *
 * @param {string} dataDir
 * @param {ApplicationInputHandler['handle']} [onInputRequest] who answers questions
 */
export async function open(dataDir, onInputRequest) {
  const env = /** @type {Record<string, string>} */ ({ ...process.env });
  const args = ['--data-dir', dataDir, 'serve', '--direct-limit', '0'];
  const wire = new Wire({ command: BACKBURNER, args, env });
  const client = new Client(CLIENT_INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: { pin: PROTOCOL_VERSION } },
  });
  await client.connect(wire);
  const tasks = createTaskSessionFromClient(client, {
    endpointId: ENDPOINT,
    rawDispatch: (request, options) => wire.dispatch(request, options),
    v2RequestFraming: { protocolVersion: PROTOCOL_VERSION, clientInfo: CLIENT_INFO, clientCapabilities: CAPABILITIES },
    ...(onInputRequest ? { onInputRequest } : {}),
  });
  return new Session(client, tasks, wire);
}

export class Session {
  /**
   * @param {Client} client
   * @param {ReturnType<typeof createTaskSessionFromClient>} tasks
   * @param {Wire} wire
   */
  constructor(client, tasks, wire) {
    this.client = client;
    this.tasks = tasks;
    this.wire = wire;
  }

  /** How a task ends, asked of the server. @param {string} taskId */
  end(taskId) {
    return this.tasks.task(/** @type {any} */ (taskId)).result();
  }

  /** Runs a command as a task. @param {string} command */
  async run(command) {
    // A job of a test that fails ends by itself.
    const execution = await this.tasks.callTool('run', { command, timeoutSeconds: 120 });
    assert.equal(execution.kind, 'task');
    return execution;
  }

  /** Goes away, and fails where the server said anything that it should not have said. */
  async close() {
    await this.tasks.close();
    await this.client.close();
    assert.deepEqual(this.wire.problems, []);
  }
}
