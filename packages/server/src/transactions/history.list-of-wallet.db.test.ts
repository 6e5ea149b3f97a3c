import { toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stranger, TransactionFixture, transferOf } from '../../testing/transactions.ts';
import { refusal } from '../../testing/wallets.ts';
import { listOfWallet } from './history.ts';

let fixture: TransactionFixture;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
});
afterAll(() => fixture.stop());

const list = (walletAddress: string, caller = fixture.caller(), query = {}) =>
  listOfWallet(fixture.db.reads, caller, { walletAddress, ...query });

describe('the transactions of a wallet', () => {
  it('are what it sent and what wallets of the organisation sent to it, by any spelling of its address', async () => {
    const [ana, luis] = [await fixture.funded('ana'), await fixture.funded('luis')];
    const hash = await fixture.execute(ana, [transferOf(luis.address, 1), transferOf(stranger(), 2)]);
    expect(await list(ana.address)).toMatchObject({
      total: 2,
      data: [{ transactionHash: hash }, { transactionHash: hash }],
    });
    expect(await list(toHex(BigInt(luis.address)))).toMatchObject({
      total: 1,
      data: [{ destinationAddress: luis.address }],
    });
    expect(await list(ana.address, fixture.caller('ana'), { calledFunction: 'approve' })).toMatchObject({ total: 0 });
  });

  it('are visible to callers who have the wallet only', async () => {
    const ana = await fixture.funded('ana');
    await refusal(list(ana.address, fixture.caller('luis')), 'wallet_not_found');
    await refusal(list(ana.address, fixture.caller(undefined, await fixture.newOrganization())), 'wallet_not_found');
    await refusal(list(stranger()), 'wallet_not_found');
  });

  it('need an address that is one, and dates that go together', async () => {
    const ana = await fixture.funded('ana');
    expect(await refusal(list('ana'), 'invalid_request')).toContain('query.walletAddress');
    expect(await refusal(list(ana.address, fixture.caller(), { day: 1 }), 'invalid_request')).toContain('month');
  });
});
