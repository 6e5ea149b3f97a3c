import fc from 'fast-check';
import { hash } from 'starknet';
import { hash as hash9 } from 'starknet-9';
import { describe, expect, it } from 'vitest';
import { contractAddress } from './addresses.ts';
import { address, felt, felts } from './testing/arbitraries.ts';

describe('contract addresses', () => {
  it('agree with starknet.js for any salt, class, constructor and deployer', () => {
    fc.assert(
      fc.property(felt, felt, felts, address, (salt, classHash, constructorCalldata, deployer) => {
        const own = contractAddress({ salt, classHash, constructorCalldata, deployer });
        expect(own).toBe(BigInt(hash.calculateContractAddressFromHash(salt, classHash, constructorCalldata, deployer)));
        expect(own).toBe(
          BigInt(hash9.calculateContractAddressFromHash(salt, classHash, constructorCalldata, deployer)),
        );
      }),
      { numRuns: 25 },
    );
  });
});
