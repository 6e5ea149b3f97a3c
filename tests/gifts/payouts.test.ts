import { randomUUID } from 'node:crypto';
import { selector } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { giftBody } from '../support/app.ts';
import { auditRelays } from '../support/audit.ts';
import { caller, type Reply, send } from '../support/client.ts';
import { atMost, eventually } from '../support/eventually.ts';
import { pick, random, seedCount } from '../support/faults.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

const SEEDS = seedCount(10);
const EACH_MS = 4_000;
/** Sweeps run every 15 s; a reverted payout needs one after its block is accepted on L1. */
const SETTLE_MS = 120_000;
const L1_AFTER_BLOCKS = 100;

let service: TestService;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await TestService.hosted();
  sandbox = new Sandbox(service.server);
  await sandbox.ask('/starknet/mine', { blocks: 10 });
}, 180_000);
beforeEach(() => sandbox.ask('/starknet/faults', undefined, 'DELETE'));
afterAll(() => service.stop());

const newWallet = () => `0x${randomUUID().replaceAll('-', '')}`;

async function newGift(changes: object): Promise<{ id: string; code: string }> {
  const reply = await caller(service.server)('/gifts', { method: 'POST', body: giftBody(changes) });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body as { id: string; code: string };
}

const redeem = (code: string, walletAddress: string): Promise<Reply> =>
  send(`${service.server.credentials.baseUrl}/gifts/claim/${code}/redeem`, {
    method: 'POST',
    body: { walletAddress, chain: 'starknet' },
  });

async function paidTo(address: string): Promise<bigint> {
  const request = {
    contract_address: USDC,
    entry_point_selector: `0x${selector('balanceOf').toString(16)}`,
    calldata: [address],
  };
  const { result } = await sandbox.rpc('call', [request, 'latest']);
  const [low = '0'] = (result ?? []) as string[];
  return BigInt(low);
}

interface Row {
  readonly address: string;
  readonly status: string;
  readonly amount: bigint;
  readonly relay: string | null;
}

const rowsOf = (giftId: string) =>
  service.database.db.rows<Row>(sql`
    select address, status, amount_micros as amount, relay_id as relay from gift_redeems where gift_id = ${giftId}`);

/** Waits until all relays have ended and reverted payouts are repeated. */
async function settled(giftId: string): Promise<Row[]> {
  const { db } = service.database;
  const open = async () => {
    await sandbox.ask('/starknet/mine', { blocks: L1_AFTER_BLOCKS });
    const relays = await db.rows(sql`select from relays where state in ('STORED', 'SENT')`);
    const owed = await db.rows(sql`
      select from gift_redeems left join relays on relays.id = relay_id
       where gift_id = ${giftId}
         and (status = 'PENDING' or status = 'SUCCESS' and relays.state is distinct from 'SUCCEEDED')`);
    return relays.length + owed.length;
  };
  expect(await eventually(open, (count) => count === 0, SETTLE_MS)).toBe(0);
  return rowsOf(giftId);
}

describe('sixty people who redeem at once', () => {
  it('are all paid, by few transactions', { timeout: 120_000 }, async () => {
    const gift = await newGift({ amount: 1.25, maxRedeems: 60 });
    const replies = await Promise.all(Array.from({ length: 60 }, () => redeem(gift.code, newWallet())));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    const rows = await settled(gift.id);
    expect(await Promise.all(rows.map(({ address }) => paidTo(address)))).toEqual(Array(60).fill(1_250_000n));
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['SUCCESS']));
    expect(new Set(rows.map(({ relay }) => relay)).size).toBeLessThan(20);
    expect(await findBrokenInvariants(service.database.db)).toEqual([]);
  });
});

describe('a payout that the chain reverts', () => {
  it('is a 500 for the one who waits, who can try again', { timeout: 60_000 }, async () => {
    const [gift, wallet] = [await newGift({ amount: 2, maxRedeems: 1 }), newWallet()];
    await sandbox.orderFault({ kind: 'revert', reason: 'out of luck' });
    const failed = await redeem(gift.code, wallet);
    expect(failed).toMatchObject({ status: 500, body: { error: 'payout_failed' } });
    expect(await redeem(gift.code, wallet)).toMatchObject({ status: 201, body: { giftRedeem: { status: 'SUCCESS' } } });
    expect(await paidTo(wallet)).toBe(2_000_000n);
  });
});

const METHODS = [
  'starknet_addInvokeTransaction',
  'starknet_estimateFee',
  'starknet_getNonce',
  'starknet_call',
  'starknet_getTransactionReceipt',
  'starknet_getTransactionStatus',
];

/** A fault before, at or after the sending. */
function faultOf(next: () => number): [path: string, order: object] {
  const method = pick(next, METHODS);
  const count = 1 + Math.floor(next() * 3);
  const orders: [string, object][] = [
    ['/starknet/faults', { kind: 'lose-answer' }],
    ['/starknet/faults', { kind: 'forget', count }],
    ['/starknet/faults', { kind: 'reject', reason: 'not today' }],
    ['/starknet/faults', { kind: 'revert', reason: 'out of luck', count }],
    ['/starknet/faults', { kind: 'unavailable', method, count }],
    ['/starknet/faults', { kind: 'error', code: pick(next, [-32603, 63, 52, 55]), message: 'no', method, count }],
    ['/starknet/faults', { kind: 'slow', delayMs: 100, method, count }],
    ['/starknet/faults', { kind: 'stale', blocks: 1 + Math.floor(next() * 5), count, method }],
    ['/starknet/reorg', { blocks: 1 + Math.floor(next() * 3), transactions: pick(next, ['drop', 'requeue']) }],
  ];
  return pick(next, orders);
}

/** Every redeem is part of a payout. */
const allSent = (count: number) => (rows: readonly Row[]) =>
  rows.length === count && rows.every(({ status, relay }) => status !== 'PENDING' || relay !== null);

describe('under any fault of a node', () => {
  it(
    `every redeem is paid once or not at all, and the ledger says which: ${SEEDS} seeds`,
    async () => {
      const gift = await newGift({ amount: 0.5, maxRedeems: 1_000, maxRedeemsPerUser: 1_000 });
      const asked: Promise<Reply>[] = [];
      for (let seed = 0; seed < SEEDS; seed += 1) {
        const next = random(seed);
        const [path, order] = faultOf(next);
        const isLate = path === '/starknet/reorg' && next() < 0.7;
        if (!isLate) await sandbox.ask(path, order);
        const some = Array.from({ length: 1 + Math.floor(next() * 3) }, () => redeem(gift.code, newWallet()));
        asked.push(...some);
        // Some go on during the next fault.
        if (next() < 0.7) await atMost(EACH_MS, () => rowsOf(gift.id), allSent(asked.length));
        if (isLate) await sandbox.ask(path, order);
      }
      await sandbox.ask('/starknet/faults', undefined, 'DELETE');
      const replies = await Promise.all(asked);
      expect(replies.filter(({ status }) => ![201, 500].includes(status))).toEqual([]);
      const rows = await settled(gift.id);
      expect(rows).toHaveLength(replies.length);
      const seen = await Promise.all(rows.map(async (row) => ({ ...row, paid: await paidTo(row.address) })));
      expect(seen).toEqual(rows.map((row) => ({ ...row, paid: row.status === 'SUCCESS' ? row.amount : 0n })));
      expect(await findBrokenInvariants(service.database.db)).toEqual([]);
      await auditRelays(service.database.db, sandbox);
    },
    SETTLE_MS + 60_000 + SEEDS * EACH_MS,
  );
});
