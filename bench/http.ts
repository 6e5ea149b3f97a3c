// Requests a second of the whole service beside a bare node:http server that runs the same SQL on the same PostgreSQL.
// Measured in turns within one run, because the machine's speed drifts; the ratio is what counts. npm run bench:http
// With BENCH_REQUEST_LOG=on the second side is the service without its request log, instead of the bare server.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startEmbedded } from '@svc/store';
import { keyHeaders } from '../tests/support/client.ts';
import { type Credentials, newDataDir, startServer } from '../tests/support/server.ts';
import { load } from './support/load.ts';
import { median } from './support/median.ts';

const ROUNDS = 7;
const ROUND_MS = 2_000;
// The compiler needs thousands of requests before it is done.
const WARM_UP_MS = 6_000;
const CONNECTIONS = 32;
/** Fresh processes: how well the compiler did in one of them is luck. */
const LOG_PAIRS = 3;
const CLOCK_TICK_MICROS = 10_000;

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
interface Side {
  readonly label: string;
  readonly pid: number | undefined;
  readonly origin: string;
  readonly headers: Record<string, string>;
}
interface Samples {
  readonly ratios: number[];
  readonly costs: number[];
  readonly rates: [number[], number[]];
  readonly p99: [number[], number[]];
  readonly micros: [number[], number[]];
}
const samples = (): Samples => ({ ratios: [], costs: [], rates: [[], []], p99: [[], []], micros: [[], []] });
const results = { '/v1/skus/telmex-recibo': samples(), '/v1/organization': samples() };
let labels: string[] = [];
try {
  for (let pair = 0; pair < (isLogBench ? LOG_PAIRS : 1); pair++) {
    const service = await startServer({ dataDir, env });
    const headers = keyHeaders(service);
    const own: Side = { label: 'svc', pid: service.process.pid, origin: service.origin, headers };
    const yardstick = isLogBench ? await startUnlogged(service.credentials) : await startBare(service.credentials);
    labels = [own.label, yardstick.label];
    for (const [path, found] of Object.entries(results)) await compare([own, yardstick], path, found);
    await yardstick.stop();
    await service.end();
  }
} finally {
  await postgres.stop();
}
for (const [path, found] of Object.entries(results)) report(path, found);

async function compare(sides: readonly [Side, Side], path: string, found: Samples): Promise<void> {
  for (const side of sides) await load(side.origin + path, side.headers, CONNECTIONS, WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const index of round % 2 ? ([1, 0] as const) : ([0, 1] as const)) {
      const side = sides[index];
      const before = processorMicros(side.pid);
      const result = await load(side.origin + path, side.headers, CONNECTIONS, ROUND_MS);
      if (result.failures > 0) throw new Error(`${side.label}: ${result.failures} answers were not 200`);
      found.micros[index].push((processorMicros(side.pid) - before) / result.requests);
      found.rates[index].push(result.requests / result.seconds);
      found.p99[index].push(result.latencies[Math.floor(result.latencies.length * 0.99)] ?? 0);
    }
    found.ratios.push((found.rates[0].at(-1) ?? 0) / (found.rates[1].at(-1) ?? 1));
    found.costs.push((found.micros[0].at(-1) ?? 0) / (found.micros[1].at(-1) ?? 1));
  }
}

function report(path: string, { ratios, costs, rates, micros, p99 }: Samples): void {
  const both = (values: readonly number[][], digits: number) =>
    values.map((side, index) => `${labels[index]} ${median(side).toFixed(digits)}`).join(', ');
  console.log(`GET ${path}: ${both(rates, 0)} a second`);
  console.log(`  ratio ${median(ratios).toFixed(2)} (rounds ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`);
  console.log(`  processor time a request: ${both(micros, 0)} µs, ratio ${median(costs).toFixed(2)}`);
  console.log(`  p99: ${both(p99, 1)} ms`);
}

/** Of all threads of a process. It does not depend on what else runs, so it is steadier than a rate. */
function processorMicros(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MICROS;
}

/** Another process on the same database, with the same keys. */
async function startUnlogged({ publicKey, secretKey }: Credentials): Promise<Side & { stop(): Promise<unknown> }> {
  const keys = { SVC_DEV_PUBLIC_KEY: publicKey, SVC_DEV_SECRET_KEY: secretKey };
  const server = await startServer({ env: { ...env, ...keys, REQUEST_LOG: 'off' } });
  const { origin, process: child } = server;
  return { label: 'without log', pid: child.pid, origin, headers: keyHeaders(server), stop: () => server.end() };
}

async function startBare({ organizationId }: Credentials): Promise<Side & { stop(): Promise<unknown> }> {
  const child = spawn(process.execPath, [path.resolve(import.meta.dirname, 'support/bare-server.ts')], {
    env: { ...process.env, DATABASE_URL: postgres.url, ORGANIZATION_ID: organizationId },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /listening (\d+)/.exec(chunk.toString());
      if (found?.[1]) resolve(found[1]);
    });
    child.once('exit', () => reject(new Error('the bare server did not start')));
  });
  const stop = async () => child.kill();
  return { label: 'bare', pid: child.pid, origin: `http://127.0.0.1:${port}`, headers: {}, stop };
}
