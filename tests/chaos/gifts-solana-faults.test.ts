import { sql } from '@svc/store';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { openDatabaseProxy, pick, random, seedCount } from '../support/faults.ts';
import { GiftFixture, newSolanaWallet, type RedeemEnd } from '../support/gifts.ts';
import { TestService } from '../support/service.ts';

const FAULTS = seedCount(12);
const KILLS = seedCount(4);
const FAULT_MS = 15_000;
const KILL_MS = 30_000;
const START_MS = 120_000;
/** Somewhat more chunks than from the request to the first poll of the bridge. */
const STEPS = 80;
/** 5 USDC and what the bridge leaves of its ceiling. */
const ARRIVES = 5_000_326n;

let service: TestService;
let gifts: GiftFixture;
beforeAll(async () => {
  service = await TestService.hosted();
  gifts = new GiftFixture(service);
  await gifts.removeFaults();
}, START_MS);
afterAll(() => service.stop());

const SEND = 'starknet_addInvokeTransaction';
const nodeFaults = [
  { kind: 'revert', reason: 'out of luck', method: SEND },
  { kind: 'reject', reason: 'not today', method: SEND },
  { kind: 'forget', method: SEND },
  { kind: 'lose-answer', method: SEND },
  { kind: 'slow', delayMs: 300, method: SEND },
  { kind: 'unavailable', method: 'starknet_estimateFee' },
  { kind: 'unavailable', method: SEND },
  { kind: 'unavailable', method: 'starknet_getTransactionReceipt', count: 2 },
];
const bridgeFaults = [
  { kind: 'delayed', delaySeconds: 2 },
  { kind: 'expired' },
  { kind: 'tampered-message', field: 'amount' },
  { kind: 'tampered-message', field: 'recipient' },
  { kind: 'forward-failed' },
  { kind: 'unavailable', count: 2 },
  { kind: 'no-answer', count: 2 },
];

/** Resumes stuck redeems; then every paid redeem was paid once and in full, and nothing else was. */
async function expectExact(giftId: string, managerBefore: bigint, spentBefore: bigint): Promise<RedeemEnd[]> {
  await gifts.removeFaults();
  const stuck = (await gifts.allEnded(giftId)).filter(({ status, reason }) => status === 'FAILED' && isStuck(reason));
  for (const { id } of stuck) await gifts.resume(id);
  const rows = await gifts.allEnded(giftId);
  await settled(service.database.db);
  const paid = rows.filter(({ status }) => status === 'SUCCESS');
  for (const { address, status, reason } of rows) {
    const arrived = await gifts.onSolana(address);
    expect({ status, reason, arrived }).toEqual({ status, reason, arrived: status === 'SUCCESS' ? ARRIVES : 0n });
  }
  const burned = paid.reduce((sum, row) => sum + row.burned, 0n);
  const shares = paid.reduce((sum, row) => sum + row.share, 0n);
  expect(managerBefore - (await gifts.managerBalance())).toBe(burned);
  expect((await spent()) - spentBefore).toBe(shares);
  expect(await findBrokenInvariants(service.database.db)).toEqual([]);
  await auditRelays(service.database.db, gifts.sandbox);
  return rows;
}

const isStuck = (reason: string | null) => reason?.includes('does not say what was burned') === true;

async function spent(): Promise<bigint> {
  const row = await service.database.db.one<{ spent: bigint }>(sql`
    select sum(spent)::bigint as spent from ledger_balances`);
  return row?.spent ?? 0n;
}

it('under any fault of the node and the bridge, a redeem arrives once or is given back', {
  timeout: START_MS + FAULTS * FAULT_MS,
}, async () => {
  const { id, code } = await gifts.gift({ amount: 5, maxRedeems: FAULTS, maxRedeemsPerUser: 1 });
  const [manager, spentBefore] = [await gifts.managerBalance(), await spent()];
  for (let seed = 0; seed < FAULTS; seed += 1) {
    const next = random(seed);
    if (next() < 0.5) await gifts.sandbox.orderFault(pick(next, nodeFaults));
    if (next() < 0.7) await gifts.order(pick(next, bridgeFaults));
    await gifts.redeem(code, newSolanaWallet());
  }
  expect(await expectExact(id, manager, spentBefore)).toHaveLength(FAULTS);
});

it('wherever a process is killed, a redeem arrives once or is given back', {
  timeout: START_MS + KILLS * KILL_MS,
}, async () => {
  await gifts.removeFaults();
  const { id, code } = await gifts.gift({ amount: 5, maxRedeems: 2 * KILLS, maxRedeemsPerUser: 1 });
  const [manager, spentBefore] = [await gifts.managerBalance(), await spent()];
  for (let seed = 0; seed < KILLS; seed += 1) {
    const next = random(seed);
    const proxy = await openDatabaseProxy(service.databaseUrl);
    const victim = await service.another({ DATABASE_URL: proxy.url });
    proxy.cutAfter(1 + Math.floor(next() * STEPS), pick(next, ['before', 'after'] as const), () => {
      victim.process.kill('SIGKILL');
    });
    await gifts.redeem(code, newSolanaWallet(), victim).catch(() => undefined);
    await victim.end('SIGKILL');
    proxy.close();
  }
  await expectExact(id, manager, spentBefore);
});
