import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USDC } from '../sandbox/support/client.ts';
import { Sandbox } from '../sandbox/support/sandbox.ts';
import { startService, type TestService } from '../support/service.ts';
import { auditRelays, settled } from './support/audit.ts';
import { App, Owner, transferOf } from './support/owner.ts';
import { pick, random, seedCount } from './support/seeds.ts';

const SEEDS = seedCount(200);
/** A client that got no answer asks again; longer than any ordered fault lasts. */
const MAX_TRIES = 20;
const EACH_MS = 2_000;

let service: TestService;
let app: App;
let sandbox: Sandbox;
let payer: Owner;

beforeAll(async () => {
  service = await startService();
  app = new App(service.server);
  sandbox = new Sandbox(service.server);
  payer = new Owner();
  await app.createWallet(payer, 'payer');
  await sandbox.faucet(payer.address, 'USDC', '1000');
  // What happens from here on may be taken back; this may not.
  await sandbox.ask('/starknet/mine', { blocks: 10 });
});
afterAll(() => service.stop());

const METHODS = [
  'starknet_addInvokeTransaction',
  'starknet_estimateFee',
  'starknet_getNonce',
  'starknet_getTransactionReceipt',
  'starknet_getTransactionStatus',
  'starknet_blockNumber',
  'starknet_getEvents',
];

/** Something that goes wrong before, at, or after the sending. */
function faultOf(next: () => number): [path: string, order: object] {
  const method = pick(next, METHODS);
  const count = 1 + Math.floor(next() * 3);
  const orders: [string, object][] = [
    ['/starknet/faults', { kind: 'lose-answer' }],
    ['/starknet/faults', { kind: 'forget', count }],
    ['/starknet/faults', { kind: 'reject', reason: 'not today' }],
    ['/starknet/faults', { kind: 'revert', reason: 'out of luck' }],
    ['/starknet/faults', { kind: 'unavailable', method, count }],
    ['/starknet/faults', { kind: 'error', code: pick(next, [-32603, 63, 52, 55]), message: 'no', method, count }],
    ['/starknet/faults', { kind: 'slow', delayMs: 100, method, count }],
    ['/starknet/faults', { kind: 'stale', blocks: 1 + Math.floor(next() * 5), count, method }],
    ['/starknet/reorg', { blocks: 1 + Math.floor(next() * 2), transactions: pick(next, ['drop', 'requeue']) }],
  ];
  return pick(next, orders);
}

interface Payment {
  readonly seed: number;
  readonly to: string;
  readonly fault: string;
  /** What the client was told in the end. */
  readonly status: number;
}

async function payUnderFault(seed: number): Promise<Payment> {
  const next = random(seed);
  const [path, order] = faultOf(next);
  const after = path === '/starknet/reorg' && next() < 0.7;
  const to = new Owner().address;
  const message = await prepared(to, BigInt(seed + 1));
  const body = { publicKey: payer.address, typedData: message, userSignature: payer.sign(message) };
  if (!after) await sandbox.ask(path, order);
  let status = 500;
  for (let tries = 0; tries < MAX_TRIES && status >= 500; tries++) {
    status = (await app.post('/transactions/execute-sponsored-transaction', body)).status;
  }
  if (after) await sandbox.ask(path, order);
  return { seed, to, fault: JSON.stringify(order), status };
}

/** Preparing asks the chain for its time, and may meet the fault of the seed before. */
async function prepared(to: string, amount: bigint): Promise<object> {
  for (let tries = 0; ; tries++) {
    try {
      return await app.prepare(payer.address, [transferOf(USDC, to, amount)]);
    } catch (error) {
      if (tries >= MAX_TRIES) throw error;
    }
  }
}

describe('whatever a node does wrong', () => {
  it(
    `a payment happens once or not at all, and its record ends with the truth: ${SEEDS} seeds`,
    async () => {
      const payments: Payment[] = [];
      for (let seed = 0; seed < SEEDS; seed++) payments.push(await payUnderFault(seed));
      await sandbox.ask('/starknet/faults', undefined, 'DELETE');
      await settled(service.database.db);
      for (const payment of payments) await expectTruth(payment);
      await auditRelays(service.database.db, sandbox);
    },
    60_000 + SEEDS * EACH_MS,
  );
});

async function expectTruth(payment: Payment): Promise<void> {
  const amount = BigInt(payment.seed + 1);
  const records = await service.database.db.rows<{ status: string }>(
    sql`select status from transactions where amount = ${amount} and type = 'SEND'`,
  );
  const paid = await app.balance(payment.to, 'USDC');
  const found = { ...payment, paid, statuses: records.map(({ status }) => status) };
  expect(found.statuses.length, JSON.stringify(payment)).toBeLessThanOrEqual(1);
  const [status] = found.statuses;
  expect(found).toEqual({ ...found, paid: status === 'SUCCESS' ? amount : 0n });
  if (status !== undefined) expect(['SUCCESS', 'FAILED']).toContain(status);
  // Who was told of a hash has a record; who was refused has none.
  expect(found).toEqual({ ...found, status: status === undefined ? 400 : 200 });
}
