import { erc20Storage } from '../contracts/erc20.ts';
import { starknetToken } from '../tokens.ts';
import type { Event, Gas, GasPrices, Refused, StateDiff, Transaction } from './types.ts';

const PRICES: GasPrices = {
  l1Gas: { fri: 100_000_000_000_000n, wei: 1_000_000_000n },
  l1DataGas: { fri: 23_283n, wei: 1n },
  l2Gas: { fri: 8_000_000_000n, wei: 500_000n },
};

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

export function checkBounds(tx: Transaction): Refused | undefined {
  const minimal = minimalGas(tx);
  const problems = RESOURCES.flatMap(({ name, gas }) => {
    const { maxAmount, maxPricePerUnit } = tx.resourceBounds[gas];
    const price = PRICES[gas].fri;
    if (maxPricePerUnit < price) {
      return [`Max ${name} price (${maxPricePerUnit}) is lower than the actual gas price: ${price}.`];
    }
    if (maxAmount >= minimal[gas]) return [];
    return [`Max ${name} amount (${maxAmount}) is lower than the minimal gas amount: ${minimal[gas]}.`];
  });
  if (problems.length === 0) return undefined;
  return { refused: 'INSUFFICIENT_RESOURCES', reason: `Resource bounds were not satisfied: ${problems.join('\n')}` };
}

export function exhausted(tx: Transaction, gas: Gas): string | undefined {
  for (const { name, gas: resource } of RESOURCES) {
    const { maxAmount } = tx.resourceBounds[resource];
    if (gas[resource] > maxAmount) {
      return `Insufficient max ${name}: max amount: ${maxAmount}, actual used: ${gas[resource]}.`;
    }
  }
  return undefined;
}

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
}

/**
 * Fitted to what starknet-devnet measured with the compiled class; `fees.devnet.test.ts` has the figures. A felt of calldata or
 * signature is stored for good, a felt of an event as well. Deterministic, so an estimate equals the actual usage.
 */
const L2_GAS = {
  transaction: 590_000n,
  call: 190_000n,
  read: 28_000n,
  write: 67_000n,
  felt: 5_120n,
  /** A cell that was zero. */
  firstWrite: 402_000n,
};
/** 32 for each word: two for a changed contract and for a changed cell. The base is the sender's nonce and its balance. */
const L1_DATA_GAS = { transaction: 128n, contract: 64n, cell: 64n, classHash: 32n, declaredClass: 64n };

export function minimalGas(tx: Transaction): Gas {
  const felts = BigInt(tx.signature.length + calldataOf(tx).length);
  return { l1Gas: 0n, l1DataGas: L1_DATA_GAS.transaction, l2Gas: L2_GAS.transaction + L2_GAS.felt * felts };
}

export function calldataOf(tx: Transaction): readonly bigint[] {
  if (tx.type === 'INVOKE') return tx.calldata;
  return tx.type === 'DEPLOY_ACCOUNT' ? tx.constructorCalldata : [];
}

export interface Usage {
  readonly work: Work;
  readonly events: readonly Event[];
  /** Before the fee is charged. */
  readonly diff: StateDiff;
  /** Cells of the diff that were zero. */
  readonly firstWrites: number;
}

export function gasOf(tx: Transaction, { work, events, diff, firstWrites }: Usage): Gas {
  const minimal = minimalGas(tx);
  return {
    l1Gas: 0n,
    l1DataGas: minimal.l1DataGas + dataGasOf(tx, diff),
    l2Gas:
      minimal.l2Gas +
      L2_GAS.call * BigInt(work.calls) +
      L2_GAS.read * BigInt(work.reads) +
      L2_GAS.write * BigInt(work.writes) +
      L2_GAS.felt * BigInt(eventFelts(events)) +
      L2_GAS.firstWrite * BigInt(firstWrites),
  };
}

/** Keys are indexed and cost twice as much as data. */
function eventFelts(events: readonly Event[]): number {
  return events.reduce((sum, { keys, data }) => sum + 2 * keys.length + data.length, 0);
}

/** What the fee changes is in the base: the sender, its balance, and the fee token, which a block pays for once. */
function dataGasOf(tx: Transaction, { storage, nonces, classHashes, declared }: StateDiff): bigint {
  const sender = tx.type === 'DEPLOY_ACCOUNT' ? tx.address : tx.sender;
  const feeToken = starknetToken('STRK').address;
  const contracts = new Set([...storage.keys(), ...nonces.keys(), ...classHashes.keys()]);
  contracts.delete(sender);
  contracts.delete(feeToken);
  let cells = storage.get(feeToken)?.has(erc20Storage.balances.key(sender)) ? -1 : 0;
  for (const changed of storage.values()) cells += changed.size;
  return (
    L1_DATA_GAS.contract * BigInt(contracts.size) +
    L1_DATA_GAS.cell * BigInt(cells) +
    L1_DATA_GAS.classHash * BigInt(classHashes.size) +
    L1_DATA_GAS.declaredClass * BigInt(declared.size)
  );
}
