import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditGifts, giftsSettled, hasEnded, type RedeemRow, redeemRows, resumeStuck } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { atMost } from '../support/eventually.ts';
import { type FaultCase, faultCases, type Moment, seedCount } from '../support/faults.ts';
import { claimAt, GiftFixture, newWallet } from '../support/gifts.ts';
import { TestService } from '../support/service.ts';

const SEEDS = seedCount(20);
const EACH_MS = 10_000;
const SETTLE_MS = 600_000;
/** A slower redeem goes on during the next fault. */
const WAIT_LIMIT_MS = 5_000;

let service: TestService;
let gifts: GiftFixture;
beforeAll(async () => {
  service = await TestService.hosted();
  gifts = new GiftFixture(service);
  await gifts.removeFaults();
  // Reorganisations reach back to here at most.
  await gifts.sandbox.ask('/starknet/mine', { blocks: 10 });
}, 300_000);
afterAll(() => service.stop());

interface Asked {
  readonly seed: number;
  readonly fault: FaultCase;
  readonly reply: Promise<Reply>;
}

async function reached(moment: Moment, walletAddress: string): Promise<void> {
  const isThere = (row: RedeemRow) => hasEnded(row) || (moment === 'under way' && row.relay !== null);
  const own = async () => (await redeemRows(service.database.db)).filter((row) => sameWallet(row, walletAddress));
  await atMost(WAIT_LIMIT_MS, own, (rows) => rows.some(isThere));
}

const sameWallet = ({ chain, address }: RedeemRow, wallet: string) =>
  chain === 'solana' ? address === wallet : wallet.startsWith('0x') && BigInt(address) === BigInt(wallet);

async function redeemUnderFault(seed: number, code: string): Promise<Asked> {
  const fault = faultCases[seed % faultCases.length];
  if (!fault) throw new Error('There are no faults to try.');
  const order = async () => {
    for (const [path, body] of fault.orders) await gifts.sandbox.ask(path, body);
  };
  const walletAddress = newWallet(fault.chain);
  if (fault.moment === 'before') await order();
  const reply = claimAt(service.server, { code, chain: fault.chain, walletAddress });
  await reached(fault.moment === 'ended' ? 'ended' : 'under way', walletAddress);
  if (fault.moment !== 'before') await order();
  return { seed, fault, reply };
}

describe('under any fault of the node and the bridge', () => {
  it(
    `a redeem is paid once or not at all, and everything that is stored says which: ${SEEDS} seeds`,
    async () => {
      const manager = await gifts.managerBalance();
      const { code } = await gifts.gift({ amount: 1.5, maxRedeems: SEEDS + 1, maxRedeemsPerUser: 1 });
      const asked: Asked[] = [];
      for (let seed = 0; seed < SEEDS; seed += 1) asked.push(await redeemUnderFault(seed, code));
      await gifts.removeFaults();
      for (const one of asked) await expectHonest(one);
      await giftsSettled(gifts);
      // The bridge has no fault any more, so stuck redeems can go on.
      if ((await resumeStuck(gifts)) > 0) await giftsSettled(gifts);
      const rows = await redeemRows(service.database.db);
      expect(rows).toHaveLength(SEEDS);
      for (const { reply } of asked) expectKept(await reply, rows);
      await auditGifts(gifts, manager);
    },
    SETTLE_MS + SEEDS * EACH_MS,
  );
});

async function expectHonest({ seed, fault, reply }: Asked): Promise<void> {
  const { status, body } = await reply;
  const told = status === 500 ? (body as { error: string }).error : String(status);
  const admitted = fault.chain === 'solana' ? ['202', 'payout_failed'] : ['201', 'payout_failed'];
  expect({ seed, fault, told }).toEqual({ seed, fault, told: admitted.find((one) => one === told) });
}

/** A redeem that was answered as paid is paid, also after a reorganisation. */
function expectKept({ body }: Reply, rows: readonly RedeemRow[]): void {
  const { giftRedeem } = body as { giftRedeem?: { id: string; status: string } };
  if (giftRedeem?.status !== 'SUCCESS') return;
  expect(rows.find(({ id }) => id === giftRedeem.id)).toMatchObject({ status: 'SUCCESS' });
}
