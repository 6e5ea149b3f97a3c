import type { Environment } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { Networks } from '../chains/networks.ts';
import type { EvmChainName } from '../chains/tokens.ts';
import { observeTransaction } from './chain-transaction.ts';

const HASH = `0x${'12'.repeat(32)}`;

/** Whether a transaction in block 100 counts when the newest block has this number. */
async function accepted(name: EvmChainName, newest: number, environment: Environment = 'production') {
  const receipt = { succeeded: true, blockNumber: 100, transfers: [], timestamp: new Date(0) };
  const chain = { receipt: async () => receipt, blockNumber: async () => newest };
  const networks = { evm: () => chain } as unknown as Networks;
  const observation = await observeTransaction(networks, environment, name, HASH);
  return typeof observation === 'string' ? observation : observation.accepted;
}

describe('a transaction on an EVM chain', () => {
  it('counts on Rootstock under twelve blocks, because the newest ones are replaced now and then', async () => {
    expect(await accepted('ROOTSTOCK', 110)).toBe(false);
    expect(await accepted('ROOTSTOCK', 111)).toBe(true);
    expect(await accepted('ROOTSTOCK', 99)).toBe(false);
  });

  it('counts on a rollup as soon as it is in a block', async () => {
    expect(await accepted('BASE', 100)).toBe(true);
    expect(await accepted('ARBITRUM', 100)).toBe(true);
  });

  it('counts on the sandbox’s Rootstock at once: nothing would make it deeper', async () => {
    expect(await accepted('ROOTSTOCK', 100, 'development')).toBe(true);
  });
});
