import type { Gas, GasPrices, Refused, StateDiff, Transaction } from './types.ts';

const PRICES: GasPrices = {
  l1Gas: { fri: 100_000_000_000_000n, wei: 1_000_000_000n },
  l1DataGas: { fri: 23_283n, wei: 1n },
  l2Gas: { fri: 8_000_000_000n, wei: 500_000n },
};

/** Constant. */
export function gasPrices(): GasPrices {
  return PRICES;
}

const RESOURCES = [
  { name: 'L1Gas', gas: 'l1Gas' },
  { name: 'L1DataGas', gas: 'l1DataGas' },
  { name: 'L2Gas', gas: 'l2Gas' },
] as const;

/** In FRI, the smallest unit of STRK. The tip is per unit of L2 gas. */
export function feeOf(gas: Gas, tip: bigint): bigint {
  const base = RESOURCES.reduce((sum, { gas: resource }) => sum + gas[resource] * PRICES[resource].fri, 0n);
  return base + gas.l2Gas * tip;
}

export function maxFee({ resourceBounds, tip }: Transaction): bigint {
  const bounds = RESOURCES.map(({ gas }) => resourceBounds[gas]);
  const sum = bounds.reduce((total, { maxAmount, maxPricePerUnit }) => total + maxAmount * maxPricePerUnit, 0n);
  return sum + resourceBounds.l2Gas.maxAmount * tip;
}

/** Bounds must reach the prices and the minimal gas. */
export function checkBounds(tx: Transaction): Refused | undefined {
  const minimal = minimalGas(tx);
  const problems = RESOURCES.flatMap(({ name, gas }) => {
    const { maxAmount, maxPricePerUnit } = tx.resourceBounds[gas];
    const price = PRICES[gas].fri;
    if (maxAmount === 0n && minimal[gas] === 0n) return [];
    if (maxPricePerUnit < price) {
      return [`Max ${name} price (${maxPricePerUnit}) is lower than the actual gas price: ${price}.`];
    }
    if (maxAmount >= minimal[gas]) return [];
    return [`Max ${name} amount (${maxAmount}) is lower than the minimal gas amount: ${minimal[gas]}.`];
  });
  if (problems.length === 0) return undefined;
  return { refused: 'INSUFFICIENT_RESOURCES', reason: `Resource bounds were not satisfied: ${problems.join('\n')}` };
}

/** The first exhausted resource, in a node's words. */
export function exhausted(tx: Transaction, gas: Gas): string | undefined {
  for (const { name, gas: resource } of RESOURCES) {
    const { maxAmount } = tx.resourceBounds[resource];
    if (gas[resource] > maxAmount) {
      return `Insufficient max ${name}: max amount: ${maxAmount}, actual used: ${gas[resource]}.`;
    }
  }
  return undefined;
}

/** The gas charged to a transaction that exceeded its bounds. */
export function capped(tx: Transaction, gas: Gas): Gas {
  const cap = (resource: keyof Gas) => {
    const { maxAmount } = tx.resourceBounds[resource];
    return gas[resource] < maxAmount ? gas[resource] : maxAmount;
  };
  return { l1Gas: cap('l1Gas'), l1DataGas: cap('l1DataGas'), l2Gas: cap('l2Gas') };
}

/** Includes work that was rolled back. */
export interface Work {
  calls: number;
  reads: number;
  writes: number;
  events: number;
}

/** Magnitudes of a live network. Deterministic, so an estimate equals the actual usage. */
const L2_GAS = { transaction: 1_000_000n, felt: 1_000n, call: 100_000n, read: 10_000n, write: 40_000n, event: 20_000n };
/** Nonce, and the two balances that a fee changes. */
const L1_DATA_GAS = { transaction: 128n, cell: 64n, contract: 96n };

/** The minimum for a transaction of this size. */
export function minimalGas(tx: Transaction): Gas {
  const felts = BigInt(tx.signature.length + calldataOf(tx).length);
  return { l1Gas: 0n, l1DataGas: L1_DATA_GAS.transaction, l2Gas: L2_GAS.transaction + L2_GAS.felt * felts };
}

export function calldataOf(tx: Transaction): readonly bigint[] {
  if (tx.type === 'INVOKE') return tx.calldata;
  return tx.type === 'DEPLOY_ACCOUNT' ? tx.constructorCalldata : [];
}

/** `diff` excludes the fee transfer. */
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
