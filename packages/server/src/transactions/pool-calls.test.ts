import type { StarknetAddress } from '@svc/protocol';
import { type Call, selector } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { livePool, mainnetPool, type PoolTerms } from '../chains/private-pool.ts';
import type { EmittedEvent, EventFilter } from '../chains/starknet/chain.ts';
import { tokensOf } from '../chains/tokens.ts';
import { requirePoolTerms } from './pool-calls.ts';

const HEAD = 100;
const FEE = 4n * 10n ** 18n;
const PAYMENT = `0x${'77'.padStart(64, '0')}` as StarknetAddress;
const WALLET = `0x${'a11ce'.padStart(64, '0')}` as StarknetAddress;
const tokens = tokensOf('mainnet', 'STARKNET');
const STRK = BigInt(tokens.find(({ token }) => token === 'STRK')?.address ?? 0);
const POOL = BigInt(mainnetPool.address);

const operation = (name: string): Call => ({ to: POOL, selector: selector(name), calldata: [11n, 12n, 5n, 5n] });
const payment = (amount: bigint, to = BigInt(PAYMENT)): Call => ({
  to: STRK,
  selector: selector('transfer'),
  calldata: [to, amount, 0n],
});

/** A live network whose account had an operation in these blocks. */
function network(terms: Partial<PoolTerms> = {}, { isSponsored = true, blocks = [] as number[] } = {}) {
  const asked: EventFilter[] = [];
  const all = { fee: FEE, shieldPaused: false, lagBlocks: 12, ...terms };
  const events = async (filter: EventFilter) => {
    asked.push(filter);
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
    const found = blocks.filter((block) => block >= from && block <= to);
    return { events: found.map((blockNumber) => ({ blockNumber }) as EmittedEvent), continuation: undefined };
  };
  const chain = { blockNumber: async () => HEAD, events };
  const pool = livePool({ ...mainnetPool, terms: all, isSponsored }, tokens, PAYMENT);
  const require = (...calls: Call[]) => requirePoolTerms({ pool, tokens, chain } as never, WALLET, calls);
  return { asked, require };
}

describe('operations in the private pool of a live network', () => {
  it('are paid for by the sponsor, beside the execution: once for all shields, once for each other', async () => {
    const { require } = network();
    const paid = (fri: bigint) => ({ fri, payment: payment(fri) });
    expect(await require(operation('fund'), operation('fund'))).toEqual(paid(FEE));
    expect(await require(operation('fund'), operation('withdraw'), operation('rollover'))).toEqual(paid(3n * FEE));
    expect(await require(payment(1n, 5n))).toBeUndefined();
    expect(await network({ fee: 0n }).require(operation('fund'))).toBeUndefined();
  });

  it('are paid for by the wallet where a paymaster pays for gas alone', async () => {
    const { require } = network({}, { isSponsored: false });
    await expect(require(operation('withdraw'))).rejects.toMatchObject({ code: 'pool_fee_unpaid' });
    await expect(require(payment(FEE, 5n), operation('withdraw'))).rejects.toMatchObject({ code: 'pool_fee_unpaid' });
    await expect(require(payment(FEE - 1n), operation('withdraw'))).rejects.toMatchObject({ code: 'pool_fee_unpaid' });
    expect(await require(payment(FEE), operation('withdraw'))).toBeUndefined();
    expect(await require(payment(1n), payment(FEE - 1n), operation('withdraw'))).toBeUndefined();
  });

  it('are everything but shields while shields are paused', async () => {
    const { require } = network({ shieldPaused: true });
    await expect(require(operation('fund'))).rejects.toMatchObject({ code: 'shield_paused' });
    await expect(require(operation('withdraw'), operation('fund'))).rejects.toMatchObject({ code: 'shield_paused' });
    for (const name of ['withdraw', 'ragequit', 'transfer', 'rollover']) {
      expect(await require(operation(name))).toMatchObject({ fri: FEE });
    }
  });

  it('wait until the last one of the account is older than the lag', async () => {
    const after = (block: number) => network({}, { blocks: [block] }).require(operation('withdraw'));
    await expect(after(HEAD)).rejects.toMatchObject({
      code: 'pool_busy',
      message: expect.stringContaining('for 12 blocks'),
    });
    await expect(after(HEAD - 11)).rejects.toMatchObject({ message: expect.stringContaining('for 1 blocks') });
    expect(await after(HEAD - 12)).toMatchObject({ fri: FEE });
    const { asked, require } = network();
    await require(operation('fund'), operation('withdraw'));
    expect(asked.map(({ keys }) => keys?.slice(1))).toEqual([
      [[11n], [12n]],
      [[], [], [11n], [12n]],
    ]);
    const many = [1n, 2n, 3n, 4n, 5n].map((x) => ({ ...operation('fund'), calldata: [x, 12n, 5n, 5n] }));
    const flooded = network();
    await expect(flooded.require(...many)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(flooded.asked).toEqual([]);
    const free = network({ lagBlocks: 0 });
    await free.require(operation('fund'));
    expect(free.asked).toEqual([]);
  });
});
