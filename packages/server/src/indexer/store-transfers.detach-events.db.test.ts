import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { relayer, transfer, wrapChain } from '../../testing/chain.ts';
import { useIndexer } from '../../testing/indexer.ts';
import type { EmittedEvent, StarknetChain } from '../chains/starknet/chain.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { syncWallet } from './sync-wallet.ts';

const fixture = useIndexer();
const summary = async (wallet: WalletRecord) =>
  (await fixture().history(wallet)).map(({ type, amount, status, eventIndex }) => [type, amount, status, eventIndex]);

/** A chain on which the transaction was executed with another outcome. */
function changed(hash: string, change: (event: EmittedEvent) => EmittedEvent): StarknetChain {
  const { chain } = fixture();
  return wrapChain(chain, {
    events: async (filter) => {
      const page = await chain.events(filter);
      const events = page.events.map((event) => (toHex(event.transactionHash) === hash ? change(event) : event));
      return { ...page, events };
    },
  });
}

const withAmount = (amount: bigint) => (event: EmittedEvent) => ({ ...event, data: [amount, 0n] });

function syncOn(chain: StarknetChain, wallet: WalletRecord) {
  const { db, networks } = fixture();
  const starknet = (environment: 'development' | 'production') => ({ ...networks.starknet(environment), chain });
  return syncWallet({ db, networks: { starknet } }, wallet);
}

/** A transfer that was followed, and whose transaction is in a new block since. */
async function executedAgain(own: WalletRecord): Promise<string> {
  const { index, fund, order } = fixture();
  await index();
  const hash = await fund(own);
  await index();
  await order('reorg', { blocks: 1, transactions: 'requeue' });
  await order('mine', { blocks: 1 });
  return hash;
}

describe('a transaction that a reorganisation executes again', () => {
  it('with another amount has that amount in the history, and the former one failed', async () => {
    const { index, organization, wallet } = fixture();
    const own = await wallet(await organization());
    const hash = await executedAgain(own);
    await index(changed(hash, withAmount(7n)));
    const expected = [
      ['RECEIVE', 7n, 'SUCCESS', 0],
      ['RECEIVE', 1_000_000n, 'FAILED', undefined],
    ];
    expect((await summary(own)).sort()).toEqual(expected.sort());
  });

  it('is told truly by looking for a wallet’s transfers, too', async () => {
    const { organization, wallet, index, fund } = fixture();
    const own = await wallet(await organization());
    await index();
    const chain = changed(await fund(own), withAmount(8n));
    await index();
    expect(await syncOn(chain, own)).toEqual({ synced: 1, total: 1 });
    const expected = [
      ['RECEIVE', 8n, 'SUCCESS', 0],
      ['RECEIVE', 1_000_000n, 'FAILED', undefined],
    ];
    expect((await summary(own)).sort()).toEqual(expected.sort());
  });

  it('with the first outcome after all is what it was at first', async () => {
    const { index, organization, wallet, order } = fixture();
    const own = await wallet(await organization());
    const hash = await executedAgain(own);
    await index(changed(hash, withAmount(7n)));
    await order('reorg', { blocks: 2, transactions: 'requeue' });
    await order('mine', { blocks: 1 });
    await index();
    const expected = [
      ['RECEIVE', 1_000_000n, 'SUCCESS', 0],
      ['RECEIVE', 7n, 'FAILED', undefined],
    ];
    expect((await summary(own)).sort()).toEqual(expected.sort());
  });

  it('with its events in another order keeps its records', async () => {
    const { index, organization, wallet, send, order, history } = fixture();
    const own = await wallet(await organization());
    await index();
    const calls = [transfer('STRK', BigInt(own.address), 3n), transfer('STRK', BigInt(own.address), 4n)];
    const hash = await send(calls, 2);
    await index();
    const ids = (await history(own)).map(({ id }) => id);
    await order('reorg', { blocks: 1, transactions: 'requeue' });
    await order('mine', { blocks: 1 });
    await index(changed(hash, (event) => ({ ...event, index: [1, 0][event.index ?? 2] ?? event.index })));
    expect(await summary(own)).toEqual([
      ['RECEIVE', 3n, 'SUCCESS', 1],
      ['RECEIVE', 4n, 'SUCCESS', 0],
    ]);
    expect((await history(own)).map(({ id }) => id)).toEqual(ids);
  });

  it('with another recipient is in the history of that one, and looked at again in the other’s', async () => {
    const { db, index, organization, wallet, send, history } = fixture();
    const organizationId = await organization();
    const sender = await wallet(organizationId, { address: relayer(3).address });
    const [own, other] = [await wallet(organizationId), await wallet(organizationId)];
    await index();
    const hash = await send([transfer('STRK', BigInt(own.address), 3n)], 3);
    await index();
    const toOther = (event: EmittedEvent) => {
      const [kind = 0n, from = 0n] = event.keys;
      return event.index === 0 ? { ...event, keys: [kind, from, BigInt(other.address)] } : event;
    };
    await syncOn(changed(hash, toOther), sender);
    expect(await summary(other)).toEqual([['SEND', 3n, 'SUCCESS', 0]]);
    expect(await summary(own)).toEqual([['SEND', 3n, 'SUCCESS', undefined]]);
    const [gone] = await history(own);
    expect(await db.rows(sql`select key, tenant from jobs where task = 'confirm-transaction'`)).toEqual([
      { key: gone?.id, tenant: organizationId },
    ]);
  });
});
