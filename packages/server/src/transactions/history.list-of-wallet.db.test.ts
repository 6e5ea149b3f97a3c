import { toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTransactionHouse, stranger, type TransactionHouse, transferOf } from '../../testing/transactions.ts';
import { refusal } from '../../testing/wallets.ts';
import { listOfWallet } from './history.ts';

let house: TransactionHouse;
beforeAll(async () => {
  house = await openTransactionHouse();
});
afterAll(() => house.stop());

const list = (walletAddress: string, caller = house.caller(), query = {}) =>
  listOfWallet(house.db.reads, caller, { walletAddress, ...query });

describe('the transactions of a wallet', () => {
  it('are what it sent and what wallets of the organisation sent to it, by any spelling of its address', async () => {
    const [ana, luis] = [await house.funded('ana'), await house.funded('luis')];
    const hash = await house.execute(ana, [transferOf(luis.address, 1), transferOf(stranger(), 2)]);
    expect(await list(ana.address)).toMatchObject({
      total: 2,
      data: [{ transactionHash: hash }, { transactionHash: hash }],
    });
    expect(await list(toHex(BigInt(luis.address)))).toMatchObject({
      total: 1,
      data: [{ destinationAddress: luis.address }],
    });
    expect(await list(ana.address, house.caller('ana'), { calledFunction: 'approve' })).toMatchObject({ total: 0 });
  });

  it('are nobody’s but those who have the wallet', async () => {
    const ana = await house.funded('ana');
    await refusal(list(ana.address, house.caller('luis')), 'wallet_not_found');
    await refusal(list(ana.address, house.caller(undefined, await house.newOrganization())), 'wallet_not_found');
    await refusal(list(stranger()), 'wallet_not_found');
  });

  it('need an address that is one, and dates that go together', async () => {
    const ana = await house.funded('ana');
    expect(await refusal(list('ana'), 'invalid_request')).toContain('query.walletAddress');
    expect(await refusal(list(ana.address, house.caller(), { day: 1 }), 'invalid_request')).toContain('month');
  });
});
