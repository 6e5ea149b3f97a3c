import type { Gas, StateDiff, Transaction } from './types.ts';

/** What the calls of a transaction did. Work that was undone was done all the same. */
export interface Work {
  calls: number;
  reads: number;
  writes: number;
  events: number;
}

/**
 * Prices in the order of magnitude of a live network, so that budgets made here make sense there. They depend on
 * nothing but the transaction and the state, so an estimate is what the transaction will use.
 */
const L2_GAS = { transaction: 1_000_000n, felt: 1_000n, call: 100_000n, read: 10_000n, write: 40_000n, event: 20_000n };
/** Nonce, and the two balances that a fee changes. */
const L1_DATA_GAS = { transaction: 128n, cell: 64n, contract: 96n };

/** Without which no transaction of this size is taken: its validation and the bare fee. */
export function minimalGas(tx: Transaction): Gas {
  const felts = BigInt(tx.signature.length + calldataOf(tx).length);
  return { l1Gas: 0n, l1DataGas: L1_DATA_GAS.transaction, l2Gas: L2_GAS.transaction + L2_GAS.felt * felts };
}

export function calldataOf(tx: Transaction): readonly bigint[] {
  if (tx.type === 'INVOKE') return tx.calldata;
  return tx.type === 'DEPLOY_ACCOUNT' ? tx.constructorCalldata : [];
}

/** `diff` is what remains of it, before the fee. */
export function gasOf(tx: Transaction, work: Work, diff: StateDiff): Gas {
  const minimal = minimalGas(tx);
  let cells = 0;
  for (const changed of diff.storage.values()) cells += changed.size;
  const contracts = diff.classHashes.size + diff.declared.size;
  return {
    l1Gas: 0n,
    l1DataGas: minimal.l1DataGas + L1_DATA_GAS.cell * BigInt(cells) + L1_DATA_GAS.contract * BigInt(contracts),
    l2Gas:
      minimal.l2Gas +
      L2_GAS.call * BigInt(work.calls) +
      L2_GAS.read * BigInt(work.reads) +
      L2_GAS.write * BigInt(work.writes) +
      L2_GAS.event * BigInt(work.events),
  };
}
