// Requests a second of the whole service beside a bare node:http server that runs the same SQL on the same PostgreSQL.
// Measured in turns within one run, because the machine's speed drifts; the ratio is what counts. npm run bench:http
// With BENCH_REQUEST_LOG=on the second side is the service without its request log, instead of the bare server.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { startEmbedded } from '@svc/store';
import { keyHeaders } from '../tests/support/client.ts';
import { newDataDir, startServer } from '../tests/support/server.ts';
import { load } from './support/load.ts';
import { median } from './support/median.ts';

const ROUNDS = 7;
const ROUND_MS = 2_000;
// The compiler needs thousands of requests before it is done.
const WARM_UP_MS = 6_000;
const CONNECTIONS = 32;

const dataDir = await newDataDir();
const postgres = await startEmbedded({ dataDir });
const isLogBench = process.env.BENCH_REQUEST_LOG === 'on';
const env = {
  DATABASE_URL: postgres.url,
  RATE_LIMIT_PER_MINUTE: '1000000000',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'info',
  // Jobs on one side alone would not be fair.
  ...(isLogBench && { SVC_ROLE: 'api' }),
};
const service = await startServer({ dataDir, env });
const unlogged = isLogBench ? await startUnlogged() : undefined;
const bare = await startBareServer(postgres.url);
try {
  const { organizationId } = service.credentials;
  const headers = keyHeaders(service);
  await compare('GET /v1/skus/{id}', '/skus/telmex-recibo', '/skus/telmex-recibo', headers);
  await compare('GET /v1/organization', '/organization', `/organization/${organizationId}`, headers);
} finally {
  bare.stop();
  await unlogged?.end();
  await service.end();
  await postgres.stop();
}

async function compare(name: string, path: string, barePath: string, headers: Record<string, string>): Promise<void> {
  const sides = [
    { label: 'svc', url: service.credentials.baseUrl + path, headers, rates: [] as number[], p99: [] as number[] },
    unlogged
      ? { label: 'off', url: unlogged.credentials.baseUrl + path, headers, rates: [] as number[], p99: [] as number[] }
      : { label: 'bare', url: bare.origin + barePath, headers: {}, rates: [] as number[], p99: [] as number[] },
  ];
  for (const side of sides) await load(side.url, side.headers, CONNECTIONS, WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of round % 2 ? [...sides].reverse() : sides) {
      const result = await load(side.url, side.headers, CONNECTIONS, ROUND_MS);
      if (result.failures > 0) throw new Error(`${side.label}: ${result.failures} answers were not 200`);
      side.rates.push(result.requests / result.seconds);
      side.p99.push(result.latencies[Math.floor(result.latencies.length * 0.99)] ?? 0);
    }
  }
  const [svc, yardstick] = sides.map(({ rates }) => median(rates));
  const ratios = sides[0]?.rates.map((rate, round) => rate / (sides[1]?.rates[round] ?? 1)) ?? [];
  console.log(`${name}: ${svc?.toFixed(0)}/s beside ${yardstick?.toFixed(0)}/s ${sides[1]?.label}`);
  console.log(`  ratio ${median(ratios).toFixed(2)} (rounds ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`);
  console.log(`  p99 ${sides.map(({ label, p99 }) => `${label} ${median(p99).toFixed(1)} ms`).join(', ')}`);
}

/** Another process on the same database, with the same keys. */
async function startUnlogged() {
  const { publicKey, secretKey } = service.credentials;
  const keys = { SVC_DEV_PUBLIC_KEY: publicKey, SVC_DEV_SECRET_KEY: secretKey };
  return startServer({ env: { ...env, ...keys, REQUEST_LOG: 'off' } });
}

async function startBareServer(databaseUrl: string): Promise<{ origin: string; stop(): void }> {
  const child = spawn(process.execPath, [path.resolve(import.meta.dirname, 'support/bare-server.ts')], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /listening (\d+)/.exec(chunk.toString());
      if (found?.[1]) resolve(found[1]);
    });
    child.once('exit', () => reject(new Error('the bare server did not start')));
  });
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}
