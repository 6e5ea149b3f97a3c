import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, Owner, transferOf } from '../support/app.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { pick, random, seedCount } from '../support/faults.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

const SEEDS = seedCount(20);
/** Longer than any ordered fault. */
const MAX_TRIES = 20;
const EACH_MS = 2_000;

let service: TestService;
let app: App;
let sandbox: Sandbox;
let payer: Owner;

beforeAll(async () => {
  service = await TestService.hosted();
  app = new App(service.server);
  sandbox = new Sandbox(service.server);
  payer = new Owner();
  await app.createWallet(payer, 'payer');
  await sandbox.faucet(payer.address, 'USDC', '1000');
  // Reorganisations reach back to here at most.
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

/** A fault before, at or after the sending. */
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

interface Asked {
  readonly seed: number;
  readonly kind: 'create' | 'execute';
  /** The new wallet, or the recipient. */
  readonly address: string;
  readonly fault: string;
  /** The last answer. */
  readonly status: number;
}

async function askUnderFault(seed: number): Promise<Asked> {
  const next = random(seed);
  const [path, order] = faultOf(next);
  const after = path === '/starknet/reorg' && next() < 0.7;
  const kind = pick(next, ['create', 'execute', 'execute'] as const);
  const owner = new Owner();
  const request = await insist(() => (kind === 'create' ? creation(seed, owner) : payment(seed, owner)));
  if (!after) await sandbox.ask(path, order);
  let status = 500;
  for (let tries = 0; tries < MAX_TRIES && status >= 500; tries++) {
    status = (await app.post(request.path, request.body)).status;
  }
  if (after) await sandbox.ask(path, order);
  return { seed, kind, address: owner.address, fault: JSON.stringify(order), status };
}

async function creation(seed: number, owner: Owner) {
  return { path: '/svc-wallets', body: await app.creation(owner, `user ${seed}`) };
}

async function payment(seed: number, { address }: Owner) {
  const typedData = await app.prepare(payer.address, [transferOf(USDC, address, BigInt(seed + 1))]);
  const body = { publicKey: payer.address, typedData, userSignature: payer.sign(typedData) };
  return { path: '/transactions/execute-sponsored-transaction', body };
}

/** Preparing reads the chain's time and may meet the fault of the previous seed. */
async function insist<T>(prepare: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await prepare();
    } catch (error) {
      if (tries >= MAX_TRIES) throw error;
    }
  }
}

describe('under any fault of a node', () => {
  it(
    `a wallet is created and a payment made once or not at all, and what is stored ends with the truth: ${SEEDS} seeds`,
    async () => {
      const all: Asked[] = [];
      for (let seed = 0; seed < SEEDS; seed++) all.push(await askUnderFault(seed));
      await sandbox.ask('/starknet/faults', undefined, 'DELETE');
      await settled(service.database.db);
      for (const asked of all) await (asked.kind === 'create' ? expectWallet(asked) : expectPayment(asked));
      await auditRelays(service.database.db, sandbox);
    },
    60_000 + SEEDS * EACH_MS,
  );
});

async function expectWallet(asked: Asked): Promise<void> {
  const { body } = await app.get(`/svc-wallets/by-user?externalUserId=${encodeURIComponent(`user ${asked.seed}`)}`);
  const { isDeployed } = body as { isDeployed?: boolean };
  const { result } = await sandbox.rpc('getClassHashAt', ['latest', asked.address]);
  expect({ ...asked, isDeployed: isDeployed ?? false }).toEqual({ ...asked, isDeployed: result !== undefined });
  // An answered wallet exists, a refused one does not.
  expect({ ...asked, status: isDeployed === undefined ? 400 : 200 }).toEqual(asked);
}

async function expectPayment(asked: Asked): Promise<void> {
  const amount = BigInt(asked.seed + 1);
  const records = await service.database.db.rows<{ status: string }>(
    sql`select status from transactions where amount = ${amount} and type = 'SEND'`,
  );
  const paid = await app.balance(asked.address, 'USDC');
  const [{ status } = { status: undefined }, ...others] = records;
  expect({ ...asked, others }).toEqual({ ...asked, others: [] });
  expect({ ...asked, recorded: status, paid }).toEqual({
    ...asked,
    recorded: status === undefined ? undefined : expect.stringMatching(/^(SUCCESS|FAILED)$/),
    paid: status === 'SUCCESS' ? amount : 0n,
  });
  expect({ ...asked, status: status === undefined ? 400 : 200 }).toEqual(asked);
}
