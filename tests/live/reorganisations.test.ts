import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { bodyOf, Owner, transferOf } from '../support/app.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { claimAt, newWallet } from '../support/gifts.ts';
import { USDC } from '../support/starknet-client.ts';
import { blockModes } from './support/devnet.ts';
import { LiveService } from './support/live-service.ts';

/** The relay worker looks at what has ended less and less often. */
const RETURN_MS = 300_000;

describe.each(blockModes)('with %s', (_, blocks) => {
  let live: LiveService;
  beforeAll(async () => {
    live = await LiveService.start(blocks);
  });
  afterAll(() => live?.stop());

  /** Removes all blocks after this one, with their transactions. */
  const forget = async (block: number) => {
    await live.devnet.mine();
    await live.devnet.abortFrom(block + 1);
  };
  const balanceReturns = async (address: string, amount: bigint) => {
    const read = () => live.app.balance(address, 'USDC');
    expect(await eventually(read, (balance) => balance === amount, RETURN_MS)).toBe(amount);
  };

  it('transfers in blocks that are dropped are sent again, and happen once', async () => {
    const owner = await live.wallet({ usdc: '20' });
    await live.devnet.mine();
    const block = await live.devnet.blockNumber();
    const recipients = Array.from({ length: 3 }, () => live.newRecipient());
    for (const recipient of recipients) {
      const sent = await live.app.execute(owner, [transferOf(USDC, recipient, 2_000_000n)]);
      expect(await live.ended(sent)).toMatchObject({ status: 'SUCCESS' });
    }
    await forget(block);
    expect(await live.app.balance(recipients[0] ?? '', 'USDC')).toBe(0n);
    for (const recipient of recipients) await balanceReturns(recipient, 2_000_000n);
    expect(await live.app.balance(owner.address, 'USDC')).toBe(14_000_000n);
  });

  it('a wallet whose creation is dropped is created again', async () => {
    await live.devnet.mine();
    const block = await live.devnet.blockNumber();
    const owner = new Owner();
    await live.app.createWallet(owner, live.newUser());
    const isThere = async () => (await live.classAt(owner.address)) !== undefined;
    await eventually(isThere, Boolean);
    await forget(block);
    expect(await isThere()).toBe(false);
    await eventually(isThere, Boolean, RETURN_MS);
  });

  it('a gift that was paid in a block that is dropped is paid again, once', async () => {
    const [{ code }, wallet] = [await live.app.gift({ amount: 2 }), newWallet('starknet')];
    await live.devnet.mine();
    const block = await live.devnet.blockNumber();
    const reply = await claimAt(live.service.server, { code, chain: 'starknet', walletAddress: wallet });
    const { giftRedeem } = bodyOf<{ giftRedeem: { id: string } }>(reply, 201);
    const status = async () =>
      bodyOf<{ status: string }>(await send(`${live.app.baseUrl}/gifts/claim/${code}/status/${giftRedeem.id}`), 200);
    await eventually(status, (found) => found.status === 'SUCCESS');
    await balanceReturns(wallet, 2_000_000n);
    await forget(block);
    await balanceReturns(wallet, 2_000_000n);
  });

  it('in the end every relay is stored as the chain shows it, and the ledger is whole', async () => {
    await settled(live.service.db, RETURN_MS);
    await auditRelays(live.service.db, live.devnet);
    expect(await findBrokenInvariants(live.service.db)).toEqual([]);
  });
});
