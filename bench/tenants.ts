// How long one organisation's reads take while another sends 90 bulk requests at once, beside the same reads alone.
// Server, database and load share the machine. npm run bench:tenants
import { setTimeout as pause } from 'node:timers/promises';
import { connect, startEmbedded } from '@svc/store';
import { credit } from '../packages/server/src/ledger/ledger.ts';
import { createOrganization, issueKey } from '../packages/server/src/organizations/api-keys.ts';
import { newDataDir, startServer } from '../tests/support/server.ts';
import { median } from './support/median.ts';

const BULK_REQUESTS = 90;
const RECIPIENTS = 500;
const ROUNDS = 3;
const ROUND_MS = 10_000;
const WARM_UP_MS = 3_000;
/** Between two reads: 50 a second at most. */
const PAUSE_MS = 20;
const LIMIT_MS = 250;

type Headers = Record<string, string>;

const dataDir = await newDataDir();
const postgres = await startEmbedded({ dataDir });
const env = { DATABASE_URL: postgres.url, RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' };
const service = await startServer({ dataDir, env });
const db = connect(postgres.url, { max: 2, applicationName: 'bench' });
const { baseUrl } = service.credentials;
try {
  const [busy, other] = [await newOrganization('Busy'), await newOrganization('Other')];
  await measure(other, WARM_UP_MS);
  const idle: number[] = [];
  const loaded: number[] = [];
  let bulks = 0;
  for (let round = 0; round < ROUNDS; round++) {
    idle.push(percentile(await measure(other, ROUND_MS), 0.99));
    const load = startBulks(busy);
    await pause(1_000);
    const latencies = await measure(other, ROUND_MS);
    bulks += await load.stop();
    loaded.push(percentile(latencies, 0.99));
    console.log(
      `round ${round + 1}: ${latencies.length} reads, p50 ${percentile(latencies, 0.5).toFixed(1)} ms, ` +
        `p99 ${loaded.at(-1)?.toFixed(1)} ms, longest ${Math.max(...latencies).toFixed(1)} ms; alone p99 ${idle.at(-1)?.toFixed(1)} ms`,
    );
  }
  const worst = Math.max(...loaded);
  console.log(
    `p99 beside ${BULK_REQUESTS} bulk requests of ${RECIPIENTS} recipients: median ${median(loaded).toFixed(1)} ms`,
  );
  console.log(
    `alone: median ${median(idle).toFixed(1)} ms; ${(bulks / ROUNDS / (ROUND_MS / 1_000)).toFixed(1)} bulk requests/s`,
  );
  console.log(worst < LIMIT_MS ? `below ${LIMIT_MS} ms in every round` : `ABOVE ${LIMIT_MS} ms`);
} finally {
  await db.close();
  await service.end();
  await postgres.stop();
}

async function newOrganization(name: string): Promise<Headers> {
  const organizationId = await createOrganization(db, name);
  const owner = { organizationId, environment: 'development' } as const;
  await credit(db, { ...owner, type: 'GRANT', amount: 10n ** 15n, reference: 'bench' });
  const publicKey = await issueKey(db, { ...owner, kind: 'public' });
  const secretKey = await issueKey(db, { ...owner, kind: 'secret' });
  return { 'x-api-key': publicKey.value, authorization: `Bearer ${secretKey.value}` };
}

async function measure(headers: Headers, ms: number): Promise<number[]> {
  const paths = ['/organization', '/skus/telmex-recibo', '/gifts?limit=10', '/organization/ledger?limit=10', '/config'];
  const latencies: number[] = [];
  const endsAt = performance.now() + ms;
  for (let read = 0; performance.now() < endsAt; read++) {
    const startedAt = performance.now();
    const response = await fetch(baseUrl + (paths[read % paths.length] ?? ''), { headers });
    await response.text();
    if (response.status !== 200) throw new Error(`A read was answered with ${response.status}.`);
    latencies.push(performance.now() - startedAt);
    await pause(PAUSE_MS);
  }
  return latencies;
}

/** 90 at any time: each is followed by the next. `stop` answers how many succeeded. */
function startBulks(headers: Headers): { stop(): Promise<number> } {
  const recipients = Array.from({ length: RECIPIENTS }, (_, n) => ({ email: `ana${n}@example.com` }));
  const body = JSON.stringify({ name: 'Navidad', amount: 0.01, recipients });
  let isOver = false;
  let succeeded = 0;
  const client = async () => {
    while (!isOver) {
      const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
      const response = await fetch(`${baseUrl}/gifts/bulk`, init);
      await response.text();
      if (response.status === 201) succeeded += 1;
      else if (response.status !== 429) throw new Error(`A bulk request was answered with ${response.status}.`);
    }
  };
  const clients = Promise.all(Array.from({ length: BULK_REQUESTS }, client));
  return {
    stop: async () => {
      isOver = true;
      await clients;
      return succeeded;
    },
  };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
