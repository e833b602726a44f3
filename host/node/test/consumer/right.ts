/** What somebody writes in TypeScript who has a store and jobs of their own. It has to compile. */

import {
  Component,
  Connection,
  FunctionJobs,
  MemoryStore,
  ProcessJobs,
  SqliteStore,
  WitError,
  loadServer,
  serve,
} from 'backburner-node';
import type { Change, Entry, Jobs, Outcome, Run, Store, Versioned } from 'backburner-node';
import { loadServer as loadInPage } from 'backburner-node/browser';

class OwnStore implements Store {
  readonly #entries = new Map<string, Versioned>();

  get(key: string): Versioned | undefined {
    return this.#entries.get(key);
  }

  scan(prefix: string, after: string | undefined, limit: number): Entry[] {
    const found = [...this.#entries].filter(([key]) => key.startsWith(prefix) && key > (after ?? ''));
    return found.slice(0, limit).map(([key, entry]) => ({ key, ...entry }));
  }

  commit(changes: Change[]): void {
    for (const { tag, val } of changes) {
      if (val.expect.tag === 'absent' && this.#entries.has(val.key)) {
        throw new WitError({ kind: 'conflict', detail: val.key });
      }
      if (tag === 'put') this.#entries.set(val.key, { value: val.value, version: 1n });
      else this.#entries.delete(val.key);
    }
  }
}

const countdown: Run = async ({ words, signal, write }) => {
  signal.throwIfAborted();
  write(`${words.length}\n`, 'stderr');
  return 0;
};

const shell: Run = async ({ line, words, killed, ask, report }) => {
  report({ percent: 50, text: line ?? words.join(' ') });
  killed.throwIfAborted();
  if ((await ask('{"message":"Go on?"}')) === '') return 1;
  return { tag: 'signalled', val: { signal: 'SIGTERM', coreDumped: false } };
};

export async function embed(send: (message: string) => void): Promise<Connection> {
  const jobs = new FunctionJobs({ countdown });
  const code = await loadServer();
  const component = new Component({ code, store: new OwnStore(), jobs, config: { directLimitMs: 100 } });
  const outcome: Outcome = component.message({ now: BigInt(Date.now()), principal: 'somebody' }, '{}');
  if (outcome.tag === 'reply') send(outcome.val);
  return new Connection({ component, endings: jobs, principal: 'somebody', send, room: () => undefined });
}

export const ours: { stores: Store[]; jobs: Jobs[] } = {
  stores: [new MemoryStore(), new SqliteStore('tasks.db')],
  jobs: [new ProcessJobs('/tmp/jobs'), new FunctionJobs({}), new FunctionJobs(shell, { isDirectory: () => true })],
};

export const inPage: () => Promise<Component> = async () =>
  new Component({ code: await loadInPage(), store: new OwnStore(), jobs: new FunctionJobs({}) });

export const server: Promise<void> = serve({ dataDir: 'somewhere', maxMessageBytes: 1024 });
