// Webhooks that one process delivers a second, from the stored event to the stored attempt: to one receiver (at most
// four requests under way at a time) and to ten. Beside the same requests by node:http alone, four and forty at a time,
// in turns. Then its memory over 12,000 events of which a third fails at first, some of them with a gigabyte as answer.
// npm run bench:webhooks
import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Database, sql, startEmbedded } from '@svc/store';
import { type NewEvent, publishEvent } from '../packages/server/src/events/events.ts';
import { type Behaviour, openReceiver, type Receiver, status } from '../packages/server/testing/receiver.ts';
import { caller, send } from '../tests/support/client.ts';
import { newDataDir, rssOf, startServer } from '../tests/support/server.ts';
import { badReceivers } from '../tests/support/webhooks.ts';
import { median } from './support/median.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const EVENTS = 500;
const RECEIVERS = 10;
const IN_FLIGHT = 4;
const MEMORY_EVENTS = 12_000;
const BATCH = 500;
const LOOK_EVERY_MS = 20;

const env = { ALLOW_LOOPBACK_URLS: 'on', RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' };
const dataDir = await newDataDir();
const postgres = await startEmbedded({ dataDir });
const server = await startServer({ env: { ...env, DATABASE_URL: postgres.url } });
const db: Database = connect(postgres.url, { max: 2, applicationName: 'bench' });
let subjects = 0;
try {
  for (const count of [1, RECEIVERS]) await compare(count);
  await memory();
} finally {
  await db.close();
  await server.stop();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function compare(count: number): Promise<void> {
  const receivers = await open(count, status(204));
  const rates = { svc: [] as number[], bare: [] as number[] };
  const measure = {
    svc: async () => {
      const published = await publish(EVENTS);
      return timed(EVENTS * count, () => delivered(published));
    },
    bare: () => timed(EVENTS * count, () => Promise.all(receivers.map(({ url }) => post(url)))),
  };
  for (let round = -1; round < ROUNDS; round++) {
    // The order changes from round to round; the first round warms up.
    for (const side of round % 2 ? (['svc', 'bare'] as const) : (['bare', 'svc'] as const)) {
      const rate = await measure[side]();
      if (round >= 0) rates[side].push(rate);
    }
  }
  const ratios = rates.svc.map((rate, round) => rate / (rates.bare[round] ?? 1));
  const shown = (values: readonly number[], digits: number) => values.map((value) => value.toFixed(digits)).join(' ');
  console.log(`${count} receivers: ${median(rates.svc).toFixed(0)}/s (rounds ${shown(rates.svc, 0)})`);
  console.log(`  node:http: ${median(rates.bare).toFixed(0)}/s (rounds ${shown(rates.bare, 0)})`);
  console.log(`  ratio ${median(ratios).toFixed(2)} (rounds ${shown(ratios, 2)})`);
  await close(receivers);
}

/** Over so many events that the heap is collected several times: between two collections it grows in any case. */
async function memory(): Promise<void> {
  const receivers = await open(1, failingAThird());
  const seen: string[] = [];
  for (let published = 0; published < MEMORY_EVENTS; published += BATCH) {
    await delivered(await publish(BATCH));
    if (published % 1_000 === 0) seen.push(`${(await rssOf(server.process.pid)).toFixed(0)}/${await heapUsed()}`);
  }
  console.log(
    `memory and heap over ${MEMORY_EVENTS} events, a third of which failed at first, in MB: ${seen.join(' ')}`,
  );
  await close(receivers);
}

async function heapUsed(): Promise<string> {
  const { text } = await send(`${server.origin}/metrics`);
  return (Number(/^svc_nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]) / 2 ** 20).toFixed(0);
}

function failingAThird(): Behaviour {
  const ways = ['answers 500', 'closes', 'sends a gigabyte'].map((name) => badReceivers[name]?.behave);
  let count = 0;
  const failed = new Set<string>();
  return (response, received) => {
    count += 1;
    const id = String(received.headers['webhook-id']);
    const way = count % 3 === 0 && !failed.has(id) ? ways[(count / 3) % ways.length] : undefined;
    if (!way) return void response.writeHead(204).end();
    failed.add(id);
    way(response, received);
  };
}

async function open(count: number, behave: Behaviour): Promise<Receiver[]> {
  const receivers = await Promise.all(Array.from({ length: count }, () => openReceiver(behave)));
  for (const { url } of receivers) {
    const reply = await caller(server)('/organization/webhooks', { method: 'POST', body: { url } });
    if (reply.status !== 201) throw new Error(reply.text);
  }
  return receivers;
}

async function close(receivers: readonly Receiver[]): Promise<void> {
  const { data } = (await caller(server)('/organization/webhooks?limit=100')).body as { data: { id: string }[] };
  for (const { id } of data) await caller(server)(`/organization/webhooks/${id}`, { method: 'DELETE' });
  for (const receiver of receivers) receiver.close();
}

async function publish(count: number): Promise<string[]> {
  const { organizationId } = server.credentials;
  const published = Array.from({ length: count }, () => `bench ${subjects++}`);
  await db.tx(async (tx) => {
    for (const subject of published) {
      const data = { id: subject, status: 'SUCCESS', padding: 'x'.repeat(800) };
      const event: NewEvent = {
        ...{ organizationId, environment: 'development', type: 'sku-purchase.completed', subject, data },
      };
      await publishEvent(tx, event);
    }
  });
  return published;
}

/** Until every delivery of them has ended; those that failed are tried again at once. */
async function delivered(subjects: readonly string[]): Promise<void> {
  for (;;) {
    const row = await db.one<{ waiting: number }>(sql`
      select count(*)::integer as waiting from webhook_deliveries join events on events.id = event_id
       where subject = any (${subjects}::text[]) and state = 'WAITING'`);
    if (row?.waiting === 0) return;
    await db.run(sql`
      update webhook_deliveries set next_attempt_at = now() where state = 'WAITING' and next_attempt_at > now()`);
    await db.run(
      sql`update jobs set run_at = now() where task = 'deliver-webhooks' and worker is null and run_at > now()`,
    );
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function post(url: string): Promise<void> {
  const body = JSON.stringify({
    type: 'sku-purchase.completed',
    timestamp: new Date(),
    data: { padding: 'x'.repeat(850) },
  });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
        response.resume().once('end', resolve);
      });
      sent.once('error', reject).end(body);
    });
  let left = EVENTS;
  const lane = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

async function timed(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (1_000 * count) / (performance.now() - startedAt);
}
