import type { BodyOf, endpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { relayer, transfer, wrapChain } from '../../testing/chain.ts';
import { useIndexer } from '../../testing/indexer.ts';
import { aRecord } from '../../testing/transactions.ts';
import type { Caller } from '../http/call.ts';
import { insertRecords } from '../transactions/record-store.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { indexerHandlers } from './module.ts';
import { RETURN_MS } from './store-transfers.ts';
import { syncWallet } from './sync-wallet.ts';

const fixture = useIndexer();
const STRK = '0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d';
const sync = (wallet: WalletRecord) => syncWallet(fixture(), wallet);
const summary = (records: Awaited<ReturnType<ReturnType<typeof fixture>['history']>>) =>
  records.map(({ type, amount, status }) => [type, amount, status]);

describe('looking for a wallet’s transfers on the chain', () => {
  it('adds what was received, and the second time nothing', async () => {
    const { organization, wallet, fund, history, chain } = fixture();
    const own = await wallet(await organization());
    const hash = await fund(own, '1');
    await fund(own, '2');
    expect(await sync(own)).toEqual({ synced: 2, total: 2 });
    expect(await sync(own)).toEqual({ synced: 0, total: 2 });
    const receipt = await chain.receipt(BigInt(hash));
    const block = await chain.block(receipt?.blockNumber ?? -1);
    const shared = { type: 'RECEIVE', status: 'SUCCESS', token: 'USDC', destinationWalletId: own.id };
    expect(await history(own)).toMatchObject([
      {
        ...shared,
        amount: 1_000_000n,
        blockNumber: block?.number,
        createdAt: block?.timestamp,
        confirmedAt: block?.timestamp,
      },
      { ...shared, amount: 2_000_000n },
    ]);
  });

  it('tells webhooks of what the indexer has not read yet, and not of history', async () => {
    const { db, index, organization, wallet, fund } = fixture();
    const own = await wallet(await organization());
    const told = () => db.rows(sql`select type from events where organization_id = ${own.organizationId}`);
    await fund(own, '1');
    await index();
    const late = await wallet(own.organizationId);
    await fund(late, '2');
    await db.run(sql`delete from events`);
    expect(await sync(late)).toMatchObject({ synced: 1 });
    expect(await told()).toEqual([{ type: 'transfer.received' }]);
    await index();
    expect(await told()).toHaveLength(1);
    await fund(late, '3');
    await db.run(sql`update followed_chains set block_number = block_number + 1`);
    expect(await sync(late)).toMatchObject({ synced: 1 });
    expect(await told()).toHaveLength(1);
  });

  it('adds what was sent without fees, and what it sent to itself once', async () => {
    const { organization, wallet, send, history } = fixture();
    const organizationId = await organization();
    const own = await wallet(organizationId, { address: relayer(2).address });
    const mate = await wallet(organizationId);
    await sync(own);
    const before = await history(own);
    await send([transfer('STRK', BigInt(mate.address), 5n), transfer('STRK', BigInt(own.address), 6n)], 2);
    const { synced, total } = await sync(own);
    expect(before).toEqual([]);
    expect([synced, total]).toEqual([2, 2]);
    expect(await history(own)).toMatchObject([
      {
        type: 'SEND',
        amount: 5n,
        destinationAddress: mate.address,
        senderWalletId: own.id,
        destinationWalletId: mate.id,
      },
      { type: 'SEND', amount: 6n, destinationAddress: own.address },
    ]);
    expect(await sync(own)).toEqual({ synced: 0, total: 2 });
    expect(await sync(mate)).toEqual({ synced: 0, total: 1 });
  });

  it('adds what came from a wallet of the same organisation as sent, whichever of the two is looked at', async () => {
    const { organization, wallet, send, history } = fixture();
    const organizationId = await organization();
    const sender = await wallet(organizationId, { address: relayer(1).address });
    const mate = await wallet(organizationId);
    await send([transfer('STRK', BigInt(mate.address), 5n)]);
    expect(await sync(mate)).toEqual({ synced: 1, total: 1 });
    const parties = { senderWalletId: sender.id, destinationWalletId: mate.id };
    expect(await history(sender)).toMatchObject([{ type: 'SEND', amount: 5n, ...parties }]);
  });

  it('does not double what following has found, nor what waits for its event', async () => {
    const { db, index, organization, wallet, fund, send, history } = fixture();
    await index();
    const organizationId = await organization();
    const [sender, own] = [await wallet(organizationId, { address: relayer(3).address }), await wallet(organizationId)];
    await fund(own);
    await index();
    const transactionHash = await send([transfer('STRK', BigInt(own.address), 5n)], 3);
    const parties = { senderAddress: sender.address, destinationAddress: own.address };
    const owner = { organizationId, environment: own.environment };
    const sent = aRecord(owner, { ...parties, transactionHash, token: 'STRK', tokenAddress: STRK, amount: 5n });
    await db.tx((tx) => insertRecords(tx, [sent]));
    expect(await sync(own)).toEqual({ synced: 0, total: 2 });
    await index();
    expect(summary(await history(own))).toEqual([
      ['RECEIVE', 1_000_000n, 'SUCCESS'],
      ['SEND', 5n, 'PENDING'],
    ]);
  });

  it('counts each transfer once when it is asked for many times at once', async () => {
    const { index, organization, wallet, fund, history } = fixture();
    await index();
    const own = await wallet(await organization());
    for (let n = 0; n < 5; n += 1) await fund(own);
    const [one, two] = await Promise.all([sync(own), sync(own), index()]);
    expect((one?.synced ?? 0) + (two?.synced ?? 0)).toBeLessThanOrEqual(5);
    expect(await history(own)).toHaveLength(5);
  });

  it('adds a thousand at a time, and the rest with the next calls', async () => {
    const { organization, wallet, send, history } = fixture();
    const own = await wallet(await organization());
    const calls = Array.from({ length: 60 }, () => transfer('STRK', BigInt(own.address), 1n));
    for (let n = 0; n < 20; n += 1) await send(calls, 4);
    expect(await sync(own)).toEqual({ synced: 1_000, total: 1_200 });
    expect(await sync(own)).toEqual({ synced: 200, total: 1_200 });
    expect(await sync(own)).toEqual({ synced: 0, total: 1_200 });
    expect(await history(own)).toHaveLength(1_200);
  });

  it('leaves out what following knows to be gone by now', async () => {
    const { chain, networks, db, index, organization, wallet, fund, order, history } = fixture();
    const own = await wallet(await organization());
    await fund(own);
    let asked = 0;
    const lagging = wrapChain(chain, {
      block: async (number) => {
        const block = await chain.block(number);
        if (number === 'latest' || ++asked > 1) return block;
        await order('reorg', { blocks: 1, transactions: 'drop' });
        await fund(await wallet(own.organizationId));
        await index();
        return block;
      },
    });
    const starknet = (environment: 'development' | 'production') => ({
      ...networks.starknet(environment),
      chain: lagging,
    });
    expect(await syncWallet({ db, networks: { starknet } }, own)).toEqual({ synced: 0, total: 1 });
    expect(await history(own)).toEqual([]);
  });

  it('is not believed for ever when the chain takes a block back before it was followed', async () => {
    const { db, clock, index, organization, wallet, fund, order, history } = fixture();
    await index();
    const own = await wallet(await organization());
    await fund(own);
    await order('mine', { blocks: 1 });
    expect(await sync(own)).toEqual({ synced: 1, total: 1 });
    await order('reorg', { blocks: 2, transactions: 'drop' });
    await order('mine', { blocks: 2 });
    await index();
    expect(await db.rows(sql`select transaction_id from unconfirmed_receives`)).toHaveLength(1);
    clock.advance(RETURN_MS);
    await index();
    expect(summary(await history(own))).toEqual([['RECEIVE', 1_000_000n, 'FAILED']]);
  });
});

describe('whose wallets can be looked at', () => {
  const request = (wallet: WalletRecord, given: Partial<Caller> = {}) => {
    const { organizationId, environment } = wallet;
    const proof = { keyId: 'key_1', apiPublicKey: 'pk_dev_1', proof: 'secret key', externalUserId: undefined } as const;
    const caller = { organizationId, environment, ...proof, ...given };
    const body: BodyOf<typeof endpoints.syncOnChain> = {
      walletAddress: wallet.address.toUpperCase().replace('X', 'x'),
    };
    const transact = () => Promise.reject(new Error('not needed'));
    const rest = { params: undefined, query: undefined, client: '127.0.0.1', requestKey: undefined, transact };
    return indexerHandlers(fixture()).syncOnChain({ ...rest, body, caller });
  };

  it('are one’s own alone, by any spelling of their address', async () => {
    const { organization, wallet, fund } = fixture();
    const own = await wallet(await organization(), { externalUserId: 'ana' });
    await fund(own);
    const missing = { code: 'wallet_not_found' };
    await expect(request(own, { organizationId: await organization() })).rejects.toMatchObject(missing);
    const token = { proof: 'user token' } as const;
    await expect(request(own, { ...token, externalUserId: 'eva' })).rejects.toMatchObject(missing);
    expect(await request(own, { ...token, externalUserId: 'ana' })).toEqual({ synced: 1, total: 1 });
    expect(await request(own)).toEqual({ synced: 0, total: 1 });
  });
});
