import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditGifts, giftsSettled } from '../support/audit.ts';
import { caller, type Reply } from '../support/client.ts';
import { sized } from '../support/faults.ts';
import { claimAt, GiftFixture, newWallet } from '../support/gifts.ts';
import { TestService } from '../support/service.ts';

const WALLETS = sized(150, 45);
const MAX_REDEEMS = sized(100, 30);
/** An odd amount, so that a lost or doubled unit shows. */
const AMOUNT_USD = 0.700001;
const AMOUNT = 700_001n;
/** The default gas of one redeem. */
const GAS = 10_000n;

let service: TestService;
let gifts: GiftFixture;
beforeAll(async () => {
  service = await TestService.hosted();
  gifts = new GiftFixture(service);
}, 300_000);
afterAll(() => service.stop());

/** Two spellings of one address: in capitals without leading zeros, and in full. */
const spellings = (wallet: string): [string, string] => {
  const digits = wallet.slice(2);
  return [`0x${digits.replace(/^0+/, '').toUpperCase()}`, `0x${digits.padStart(64, '0')}`];
};

const ledgerOf = async () =>
  service.database.db.one<{ available: bigint; held: bigint; spent: bigint }>(sql`
    select available, held, spent from ledger_balances where environment = 'development'`);

const codeOf = ({ status, body }: Reply) => `${status} ${(body as { error?: string }).error ?? ''}`.trim();

describe(`${2 * WALLETS} clients that redeem one code at once, at two processes`, () => {
  it(`are paid ${MAX_REDEEMS} times, once for each wallet however it is spelt, to the unit`, {
    timeout: 400_000,
  }, async () => {
    const servers = [service.server, await service.another()] as const;
    const [ledger, manager] = [await ledgerOf(), await gifts.managerBalance()];
    const limits = { maxRedeems: MAX_REDEEMS, maxRedeemsPerUser: 1, cctpFast: false };
    const { id, code } = await gifts.gift({ amount: AMOUNT_USD, ...limits });
    const wallets = Array.from({ length: WALLETS }, () => newWallet('starknet'));
    const asked = wallets.flatMap((wallet, index) =>
      spellings(wallet).map((walletAddress, place) =>
        claimAt(servers[(index + place) % 2 === 0 ? 0 : 1], { code, chain: 'starknet', walletAddress }),
      ),
    );
    const replies = await Promise.all(asked);
    const accepted = replies.filter(({ status }) => status === 201);
    const refused = replies.filter(({ status }) => status !== 201);
    expect(accepted).toHaveLength(MAX_REDEEMS);
    expect(refused.filter((reply) => !/^400 gift_(user_)?limit_reached$/.test(codeOf(reply)))).toEqual([]);

    const rows = await giftsSettled(gifts);
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['SUCCESS']));
    expect(new Set(rows.map(({ address }) => BigInt(address))).size).toBe(MAX_REDEEMS);
    expect(rows).toHaveLength(MAX_REDEEMS);
    await auditGifts(gifts, manager);
    expect(manager - (await gifts.managerBalance())).toBe(AMOUNT * BigInt(MAX_REDEEMS));
    const cost = (AMOUNT + GAS) * BigInt(MAX_REDEEMS);
    const { available = 0n, held = 0n, spent = 0n } = ledger ?? {};
    expect(await ledgerOf()).toEqual({ available: available - cost, held, spent: spent + cost });
    const shown = await caller(servers[1])(`/gifts/${id}`);
    expect(shown.body).toMatchObject({ totalRedeems: MAX_REDEEMS, totalHeldUsd: null });
    // Every later claim is refused, too.
    const [last] = wallets;
    const late = await claimAt(servers[1], { code, chain: 'starknet', walletAddress: last ?? '' });
    expect(codeOf(late)).toBe('400 gift_limit_reached');
  });
});
