import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, Owner, transferOf } from '../support/app.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { openDatabaseProxy, pick, random, seedCount } from '../support/faults.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

const KILLS = seedCount(6);
/** The relay worker goes on after the answer. */
const STEPS_AFTER_ANSWER = 10;
const EACH_MS = 15_000;
const UNKILLED = 1_000_000;

let service: TestService;
let survivor: App;
let payer: Owner;

beforeAll(async () => {
  service = await TestService.hosted();
  survivor = new App(service.server);
  payer = new Owner();
  await survivor.createWallet(payer, 'payer');
  await new Sandbox(service.server).faucet(payer.address, 'USDC', '1000');
});
afterAll(() => service.stop());

const kinds = ['create', 'execute'] as const;
type Kind = (typeof kinds)[number];
type Attempt = { readonly path: string; readonly body: Record<string, unknown> };

interface Killed {
  readonly seed: number;
  readonly attempt: Attempt;
  readonly owner: Owner;
  /** Whether the client repeats its request at the survivor. */
  readonly asksAgain: boolean;
}

/** Prepared at the survivor, so that the victim does the relevant step alone. */
async function prepareAttempt(seed: number, kind: Kind): Promise<[Attempt, Owner]> {
  const owner = new Owner();
  if (kind === 'create') return [{ path: '/svc-wallets', body: await survivor.creation(owner, `user ${seed}`) }, owner];
  const message = await survivor.prepare(payer.address, [transferOf(USDC, owner.address, BigInt(seed + 1))]);
  const body = { publicKey: payer.address, typedData: message, userSignature: payer.sign(message) };
  return [{ path: '/transactions/execute-sponsored-transaction', body }, owner];
}

/** Chunks sent to the database until such a request is answered, those of the sandbox included. */
async function countSteps(kind: Kind): Promise<number> {
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const whole = await service.anotherHosted({ DATABASE_URL: proxy.url });
  const app = new App(whole, survivor.headers);
  // The first request finds empty caches, as with every victim.
  const [attempt] = await prepareAttempt(UNKILLED + kinds.indexOf(kind), kind);
  const before = proxy.sent();
  expect(await app.post(attempt.path, attempt.body)).toMatchObject({ status: 200 });
  const steps = proxy.sent() - before;
  await whole.stop();
  proxy.close();
  return steps;
}

/** Starts a process, sends it a request, and kills it at the seed's step. */
async function killOne(seed: number, steps: Record<Kind, number>): Promise<Killed> {
  const next = random(seed);
  const kind = pick(next, kinds);
  const [attempt, owner] = await prepareAttempt(seed, kind);
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const victim = await service.another({ DATABASE_URL: proxy.url, SVC_ROLE: pick(next, ['api', 'all']) });
  proxy.cutAfter(
    1 + Math.floor(next() * (steps[kind] + STEPS_AFTER_ANSWER)),
    pick(next, ['before', 'after'] as const),
    () => {
      victim.process.kill('SIGKILL');
    },
  );
  await new App(victim, survivor.headers).post(attempt.path, attempt.body).catch(() => undefined);
  await victim.end('SIGKILL');
  proxy.close();
  return { seed, attempt, owner, asksAgain: next() < 0.5 };
}

describe('a process that is killed while it creates or executes', () => {
  it(
    `leaves exactly one effect or none, and records that tell the truth: ${KILLS} seeds`,
    async () => {
      const steps = { create: await countSteps('create'), execute: await countSteps('execute') };
      const killed: Killed[] = [];
      for (let seed = 0; seed < KILLS; seed += 2) {
        killed.push(...(await Promise.all([killOne(seed, steps), killOne(seed + 1, steps)])));
      }
      for (const { attempt, asksAgain } of killed) {
        if (asksAgain) expect(await survivor.post(attempt.path, attempt.body)).toMatchObject({ status: 200 });
      }
      await settled(service.database.db);
      for (const one of killed) await expectTruth(one);
      await auditRelays(service.database.db, new Sandbox(service.server));
    },
    60_000 + KILLS * EACH_MS,
  );
});

async function expectTruth({ seed, attempt, owner, asksAgain }: Killed): Promise<void> {
  const { db } = service.database;
  if (attempt.path === '/svc-wallets') {
    const { body } = await survivor.get(`/svc-wallets/by-user?externalUserId=${encodeURIComponent(`user ${seed}`)}`);
    const { isDeployed = false } = body as { isDeployed?: boolean };
    const { result } = await new Sandbox(service.server).rpc('getClassHashAt', ['latest', owner.address]);
    expect({ seed, isDeployed }).toEqual({ seed, isDeployed: result !== undefined });
    if (asksAgain) expect({ seed, isDeployed }).toEqual({ seed, isDeployed: true });
    return;
  }
  const records = await db.rows<{ status: string }>(
    sql`select status from transactions where amount = ${BigInt(seed + 1)} and type = 'SEND'`,
  );
  const paid = await survivor.balance(owner.address, 'USDC');
  expect({ seed, records, paid }).toEqual(
    records.length > 0
      ? { seed, records: [{ status: 'SUCCESS' }], paid: BigInt(seed + 1) }
      : { seed, records: [], paid: 0n },
  );
  if (asksAgain) expect({ seed, paid }).toEqual({ seed, paid: BigInt(seed + 1) });
}
