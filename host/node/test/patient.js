/**
 * The stdio server, but patient: a client may take nothing for an hour. A busy machine may keep a test from reading for
 * longer than the real one waits.
 */

import { options } from '../src/cli/serve.js';
import { serve } from '../src/index.js';

const { dataDir, configuration } = options(process.argv.slice(2));
await serve({ dataDir, config: configuration(), untakenPatienceMs: 60 * 60 * 1000 });
process.exit(0);
