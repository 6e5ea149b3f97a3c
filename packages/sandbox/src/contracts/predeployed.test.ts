import { contractAddress, starkKey } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { plainAccount } from './plain-account.ts';
import { predeployed } from './predeployed.ts';

const { sequencer, relayers, manager, faucet } = predeployed;

describe('the accounts that exist from the start', () => {
  it.each([sequencer, ...relayers, manager, faucet])('have what follows from their private key: $label', (account) => {
    const publicKey = starkKey(account.privateKey);
    const { classHash } = plainAccount;
    const address = contractAddress({ salt: publicKey, classHash, constructorCalldata: [publicKey], deployer: 0n });
    expect({ publicKey: account.publicKey, address: account.address }).toEqual({ publicKey, address });
  });
});
