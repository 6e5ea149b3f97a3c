import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { recordingChain, relayer, smallPages, transfer, wrapChain } from '../../testing/chain.ts';
import { useIndexer } from '../../testing/indexer.ts';
import { chainIndexer, indexChain } from './index-blocks.ts';
import type { IndexerContext, TransferWatcher } from './indexer.ts';

const fixture = useIndexer();

const countOf = sql`select count(*) from transactions`;
const run = (follower: IndexerContext) => indexChain(follower, new AbortController().signal);

/** Releases all callers once so many have arrived. */
function barrier(size: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missing = size;
  return () => {
    missing -= 1;
    if (missing === 0) resolve();
    return promise;
  };
}

describe('following the chain', () => {
  it('shows money that arrives in the history, once, with the time of its block', async () => {
    const { index, organization, wallet, fund, chain, history } = fixture();
    await index();
    const own = await wallet(await organization());
    const hash = await fund(own, '2.5');
    await index();
    await index();
    const receipt = await chain.receipt(BigInt(hash));
    const block = await chain.block(receipt?.blockNumber ?? -1);
    expect(await history(own)).toMatchObject([
      {
        organizationId: own.organizationId,
        environment: 'development',
        apiPublicKey: own.apiPublicKey,
        type: 'RECEIVE',
        subType: 'TRANSFER',
        chain: 'STARKNET',
        transactionHash: hash,
        eventIndex: 0,
        relayId: undefined,
        senderAddress: `0x${'0'.repeat(64)}`,
        destinationAddress: own.address,
        functionName: 'transfer',
        token: 'USDC',
        amount: 2_500_000n,
        status: 'SUCCESS',
        blockNumber: receipt?.blockNumber,
        senderWalletId: undefined,
        destinationWalletId: own.id,
        createdAt: block?.timestamp,
        confirmedAt: block?.timestamp,
      },
    ]);
  });

  it('finds nothing in other people’s transfers, nor in tokens that the network does not know', async () => {
    const { db, context, index, organization, wallet, fund, send, history } = fixture();
    await index();
    const before = await db.rows(countOf);
    const own = await wallet(await organization());
    await send([transfer('STRK', 0xb0bn, 7n)]);
    const tokens = new Map([...context().tokens].filter(([, { token }]) => token !== 'USDC'));
    await fund(own);
    await run({ ...context(), tokens });
    expect(await history(own)).toEqual([]);
    expect(await db.rows(countOf)).toEqual(before);
  });

  it('is money that was sent within an organisation, and that came in to another one', async () => {
    const { db, index, organization, wallet, send, history } = fixture();
    await index();
    const [one, two] = [await organization(), await organization()];
    const sender = await wallet(one, { address: relayer(2).address });
    const [mate, stranger] = [await wallet(one), await wallet(two)];
    await send([transfer('STRK', BigInt(mate.address), 5n), transfer('STRK', BigInt(stranger.address), 6n)], 2);
    await index();
    const shared = { senderAddress: sender.address, status: 'SUCCESS' };
    const within = { ...shared, type: 'SEND', organizationId: one, amount: 5n };
    const records = [{ ...within, senderWalletId: sender.id, destinationWalletId: mate.id }];
    expect(await history(mate)).toMatchObject(records);
    expect(await history(sender)).toMatchObject(records);
    expect(await history(stranger)).toMatchObject([
      {
        ...shared,
        type: 'RECEIVE',
        organizationId: two,
        amount: 6n,
        senderWalletId: undefined,
        destinationWalletId: stranger.id,
      },
    ]);
    expect(await db.rows(sql`select payload from jobs where task = 'confirm-transaction'`)).toEqual([]);
  });

  it('reads transfers whose parties stand in the data, as older tokens have it', async () => {
    const { chain, index, organization, wallet, fund, history } = fixture();
    await index();
    const own = await wallet(await organization());
    await fund(own);
    const older = wrapChain(chain, {
      events: async (filter) => {
        const page = await chain.events(filter);
        const events = page.events.map((event) => {
          const [kind = 0n, ...parties] = event.keys;
          return { ...event, keys: [kind], data: [...parties, ...event.data] };
        });
        return { ...page, events };
      },
    });
    await index(older);
    expect(await history(own)).toMatchObject([{ type: 'RECEIVE', amount: 1_000_000n, token: 'USDC' }]);
  });

  it('tells equal transfers of one transaction apart, also where the node does not', async () => {
    const { earlierChain, index, organization, wallet, send, history } = fixture();
    await index();
    const [own, other] = [await wallet(await organization()), await wallet(await organization())];
    const [twice, once] = [transfer('STRK', BigInt(own.address), 3n), transfer('STRK', BigInt(other.address), 3n)];
    await send([twice, once, twice]);
    await index(earlierChain);
    await index();
    expect((await history(own)).map(({ eventIndex }) => eventIndex)).toEqual([0, 2]);
    expect((await history(other)).map(({ eventIndex }) => eventIndex)).toEqual([1]);
  });

  it('finds thousands of transfers across pages and blocks, each once', async () => {
    const { index, organization, wallet, send, history } = fixture();
    await index();
    const wallets = await Promise.all([1, 2, 3].map(async () => wallet(await organization())));
    const calls = wallets.flatMap(({ address }) =>
      Array.from({ length: 25 }, (_, n) => transfer('STRK', BigInt(address), BigInt(n))),
    );
    for (let n = 0; n < 20; n += 1) await send(calls);
    await index();
    for (const one of wallets) {
      const records = await history(one);
      expect(records).toHaveLength(500);
      expect(new Set(records.map(({ transactionHash, eventIndex }) => `${transactionHash} ${eventIndex}`)).size).toBe(
        500,
      );
    }
  });
});

describe('a look at a chain', () => {
  it('where nothing is new is one question', async () => {
    const { chain, index, fund, organization, wallet } = fixture();
    await fund(await wallet(await organization()));
    await index();
    const asked: string[] = [];
    await index(recordingChain(chain, asked));
    expect(asked).toEqual(['head']);
  });
});

describe('a follower that is interrupted', () => {
  it('between any two pages leaves nothing half done, and the next one finds everything once', async () => {
    const { chain, index, organization, wallet, fund, history, cursor } = fixture();
    await index();
    const own = await wallet(await organization());
    for (let n = 1; n <= 4; n += 1) await fund(own, `${n}`);
    const start = await cursor();
    // Each funding has two events: the money and its fee.
    for (let page = 1; page <= 8; page += 1) {
      const failing = smallPages(chain, 1, (count) => {
        if (count === page) throw new Error('killed');
      });
      await expect(index(failing)).rejects.toThrow('killed');
      expect(await history(own)).toEqual([]);
      expect(await cursor()).toBe(start);
    }
    await index(smallPages(chain, 1));
    expect((await history(own)).map(({ amount }) => amount)).toEqual([1n, 2n, 3n, 4n].map((n) => n * 1_000_000n));
  });

  it('has stored the blocks that were read whole when there are very many pages', async () => {
    const { chain, index, organization, wallet, fund, history } = fixture();
    await index();
    const own = await wallet(await organization());
    for (let n = 0; n < 15; n += 1) await fund(own);
    const failing = smallPages(chain, 1, (page) => {
      if (page > 20) throw new Error('killed');
    });
    await expect(index(failing)).rejects.toThrow('killed');
    // The twentieth event is the second of the tenth block, and it may not be the last.
    expect(await history(own)).toHaveLength(9);
    await index(smallPages(chain, 1));
    expect(await history(own)).toHaveLength(15);
  });
});

describe('two followers at once', () => {
  it('count nothing twice and leave nothing out', async () => {
    const { chain, index, organization, wallet, fund, history, cursor } = fixture();
    await index();
    const own = await wallet(await organization());
    for (let n = 0; n < 3; n += 1) await fund(own);
    const all = barrier(2);
    const waiting = () => smallPages(chain, 1_000, (page) => (page === 1 ? all() : undefined));
    await Promise.all([index(waiting()), index(waiting())]);
    expect(await history(own)).toHaveLength(3);
    expect(await cursor()).toBe(await chain.blockNumber());
  });
});

describe('indexing again and again', () => {
  const { signal } = new AbortController();

  it('leaves a head that it has reached alone for five seconds', async () => {
    const { context, clock, index } = fixture();
    await index();
    let passes = 0;
    const watcher = { settle: async () => void passes++ } as Partial<TransferWatcher> as TransferWatcher;
    const indexAgain = chainIndexer(() => ({ ...context(), watcher }));
    const passesAfter = async (ms: number) => {
      clock.advance(ms);
      await indexAgain(signal);
      return passes;
    };
    expect(await passesAfter(0)).toBe(1);
    expect(await passesAfter(4_999)).toBe(1);
    expect(await passesAfter(1)).toBe(2);
  });

  it('reads a new block at once, also one that replaces the head', async () => {
    const { context, chain, order, db } = fixture();
    const indexAgain = chainIndexer(context);
    const followed = async (number: number) => {
      await indexAgain(signal);
      const found = await db.one<{ hash: string }>(sql`
        select block_hash as hash from followed_blocks where block_number = ${number}`);
      return found && BigInt(found.hash);
    };
    await order('mine', { blocks: 1 });
    const first = await chain.head();
    expect(await followed(first.number)).toBe(first.hash);
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 1 });
    const second = await chain.head();
    expect(second.number).toBe(first.number);
    expect(await followed(first.number)).toBe(second.hash);
    expect(second.hash).not.toBe(first.hash);
  });
});
