import { starkKey, UDC_ADDRESS } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { TestChain } from '../../testing/test-chain.ts';
import { starknetTokens } from '../tokens.ts';
import { MESSAGE_TRANSMITTER_ADDRESS, TOKEN_MESSENGER_ADDRESS } from './cctp.ts';
import { Reader, u256 } from './codec.ts';
import { contractOf, genesis } from './genesis.ts';
import { predeployed } from './predeployed.ts';
import { TONGO_ADDRESS } from './tongo.ts';

const { sequencer, relayers, manager, faucet } = predeployed;
const accounts = [sequencer, ...relayers, manager, faucet];

describe('the first block', () => {
  it('is the same every time, for every process', () => {
    expect(genesis()).toEqual(genesis());
  });

  it('holds contracts that the sandbox can run, at different addresses', () => {
    const { classHashes } = genesis();
    expect(classHashes.size).toBe(accounts.length + starknetTokens.length + 5);
    for (const classHash of classHashes.values()) expect(contractOf(classHash)).toBeDefined();
    for (const address of [UDC_ADDRESS, TOKEN_MESSENGER_ADDRESS, MESSAGE_TRANSMITTER_ADDRESS, TONGO_ADDRESS]) {
      expect(classHashes.has(address)).toBe(true);
    }
  });

  it('has accounts that answer for their keys', async () => {
    const chain = new TestChain();
    for (const { address, privateKey, publicKey } of accounts) {
      expect(starkKey(privateKey)).toBe(publicKey);
      expect(await chain.read(address, 'get_public_key')).toEqual([publicKey]);
    }
  });

  it('has tokens whose balances sum to their supply', async () => {
    const chain = new TestChain();
    for (const { address } of starknetTokens) {
      const supply = u256.read(new Reader(await chain.read(address, 'total_supply')));
      const balances = await Promise.all(accounts.map((account) => chain.balance(address, account.address)));
      expect(balances.reduce((sum, balance) => sum + balance, 0n)).toBe(supply);
    }
  });

  it('stores no zeros', () => {
    for (const cells of genesis().storage.values()) for (const value of cells.values()) expect(value).not.toBe(0n);
  });
});
