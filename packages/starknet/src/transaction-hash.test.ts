import fc from 'fast-check';
import { type constants, hash } from 'starknet';
import { hash as hash9 } from 'starknet-9';
import { describe, expect, it } from 'vitest';
import { toHex } from './felt.ts';
import { address, felt, felts, u64, u128 } from './testing/arbitraries.ts';
import {
  declareHash,
  deployAccountHash,
  invokeHash,
  QUERY_VERSION,
  TRANSACTION_VERSION,
  type TransactionFields,
} from './transaction-hash.ts';

const bounds = fc.record({ maxAmount: u64, maxPricePerUnit: u128 });
const mode = fc.constantFrom(0 as const, 1 as const);
const fields: fc.Arbitrary<TransactionFields> = fc.record({
  version: fc.constantFrom(TRANSACTION_VERSION, QUERY_VERSION),
  chainId: felt,
  nonce: felt,
  tip: u64,
  resourceBounds: fc.record({ l1Gas: bounds, l2Gas: bounds, l1DataGas: bounds }),
  paymasterData: fc.array(felt, { maxLength: 3 }),
  nonceDataAvailabilityMode: mode,
  feeDataAvailabilityMode: mode,
});

/** The same fields for starknet.js. */
function theirs(tx: TransactionFields) {
  const { l1Gas, l2Gas, l1DataGas } = tx.resourceBounds;
  const inWords = ({ maxAmount, maxPricePerUnit }: typeof l1Gas) => ({
    max_amount: maxAmount,
    max_price_per_unit: maxPricePerUnit,
  });
  return {
    version: tx.version === TRANSACTION_VERSION ? ('0x3' as const) : ('0x100000000000000000000000000000003' as const),
    chainId: toHex(tx.chainId) as constants.StarknetChainId,
    nonce: tx.nonce,
    tip: tx.tip,
    resourceBounds: { l1_gas: inWords(l1Gas), l2_gas: inWords(l2Gas), l1_data_gas: inWords(l1DataGas) },
    paymasterData: [...tx.paymasterData],
    nonceDataAvailabilityMode: tx.nonceDataAvailabilityMode,
    feeDataAvailabilityMode: tx.feeDataAvailabilityMode,
  };
}

const runs = { numRuns: 40 };

const none = { maxAmount: 0n, maxPricePerUnit: 0n };
const plain = {
  version: TRANSACTION_VERSION,
  chainId: 1n,
  nonce: 0n,
  tip: 0n,
  resourceBounds: { l1Gas: none, l2Gas: none, l1DataGas: none },
  paymasterData: [],
  nonceDataAvailabilityMode: 0 as const,
  feeDataAvailabilityMode: 0 as const,
  sender: 1n,
  calldata: [],
  accountDeploymentData: [],
};

describe('transaction hashes agree with starknet.js, for queries too:', () => {
  it('invoke', () => {
    fc.assert(
      fc.property(fields, address, felts, felts, (tx, sender, calldata, accountDeploymentData) => {
        const compiledCalldata = calldata.map(String);
        const args = { ...theirs(tx), senderAddress: sender, compiledCalldata, accountDeploymentData };
        const own = toHex(invokeHash({ ...tx, sender, calldata, accountDeploymentData }));
        expect(own).toBe(hash.calculateInvokeTransactionHash(args));
        expect(own).toBe(hash9.calculateInvokeTransactionHash(args));
      }),
      runs,
    );
  });

  it('deploy account', () => {
    fc.assert(
      fc.property(fields, address, felt, felt, felts, (tx, contract, classHash, salt, constructorCalldata) => {
        const compiledConstructorCalldata = constructorCalldata.map(String);
        const args = { ...theirs(tx), contractAddress: contract, classHash, salt, compiledConstructorCalldata };
        const own = toHex(deployAccountHash({ ...tx, address: contract, classHash, salt, constructorCalldata }));
        expect(own).toBe(hash.calculateDeployAccountTransactionHash(args));
        expect(own).toBe(hash9.calculateDeployAccountTransactionHash(args));
      }),
      runs,
    );
  });

  it('declare', () => {
    fc.assert(
      fc.property(fields, address, felt, felt, felts, (tx, sender, classHash, compiledClassHash, deployment) => {
        const args = {
          ...theirs(tx),
          senderAddress: sender,
          classHash: toHex(classHash),
          compiledClassHash: toHex(compiledClassHash),
          accountDeploymentData: deployment,
        };
        const own = declareHash({ ...tx, sender, classHash, compiledClassHash, accountDeploymentData: deployment });
        expect(toHex(own)).toBe(hash.calculateDeclareTransactionHash(args));
        expect(toHex(own)).toBe(hash9.calculateDeclareTransactionHash(args));
      }),
      runs,
    );
  });
});

describe('calldata that was hashed before', () => {
  it('has the same hash again, and no other calldata has it', () => {
    const lists = [[1n, 2n], [12n], [1n, 2n, 0n], [2n, 1n], []];
    const hashes = [...lists, ...lists].map((calldata) => invokeHash({ ...plain, calldata }));
    expect(hashes.slice(lists.length)).toEqual(hashes.slice(0, lists.length));
    expect(new Set(hashes).size).toBe(lists.length);
  });
});

describe('resource bounds', () => {
  it.each([{ maxAmount: 2n ** 64n }, { maxPricePerUnit: 2n ** 128n }, { maxAmount: -1n }, { maxPricePerUnit: -1n }])(
    'that do not fit their bits are not hashed',
    (wrong) => {
      const resourceBounds = { ...plain.resourceBounds, l2Gas: { ...none, ...wrong } };
      expect(() => invokeHash({ ...plain, resourceBounds })).toThrow(RangeError);
    },
  );
});
