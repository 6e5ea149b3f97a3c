import type { Chain, Environment } from '@svc/protocol';
import type { EvmChain } from '../chains/evm/chain.ts';
import type { Networks } from '../chains/networks.ts';
import { transfersIn } from '../chains/starknet/transfers.ts';
import type { EvmChainName } from '../chains/tokens.ts';

/** A transfer as its chain shows it; addresses of every chain are numbers. */
export interface SeenTransfer {
  /** Undefined is the chain's own coin. */
  readonly token: bigint | undefined;
  readonly from: bigint;
  readonly to: bigint;
  readonly amount: bigint;
  /** The coin of an EVM chain moves without an event. */
  readonly eventIndex: number | undefined;
}

/** A transaction that was executed. */
export interface SeenTransaction {
  /** In a sealed block, deep enough for its chain. Before, all of this can still change. */
  readonly accepted: boolean;
  readonly reverted: boolean;
  readonly revertReason: string | undefined;
  readonly transfers: readonly SeenTransfer[];
  readonly blockNumber: number | undefined;
  /** Of the block. */
  readonly time: Date | undefined;
}

/** `waiting`: the chain has heard of it. `unknown`: it has not, or no longer has it. */
export type Sight = SeenTransaction | 'waiting' | 'unknown';

export function lookUp(networks: Networks, environment: Environment, chain: Chain, hash: string): Promise<Sight> {
  return chain === 'STARKNET'
    ? lookUpStarknet(networks, environment, BigInt(hash))
    : lookUpEvm(networks, environment, chain, hash);
}

async function lookUpStarknet(networks: Networks, environment: Environment, hash: bigint): Promise<Sight> {
  const { chain } = networks.starknet(environment);
  const receipt = await chain.receipt(hash);
  if (!receipt) return (await chain.transactionStatus(hash)).status === 'NOT_RECEIVED' ? 'unknown' : 'waiting';
  const block = receipt.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  // A block that was replaced between the two answers: what the receipt says is no longer so.
  if (receipt.accepted && block?.hash !== receipt.blockHash) return 'waiting';
  return {
    accepted: receipt.accepted,
    reverted: receipt.status === 'REVERTED',
    revertReason: receipt.revertReason,
    transfers: transfersIn(receipt),
    blockNumber: receipt.blockNumber,
    time: block?.timestamp,
  };
}

/**
 * How many blocks, its own included, a transaction needs before it counts. Rootstock is mined, and its newest blocks are replaced now
 * and then; twelve are some minutes. The others are rollups with one sequencer, which takes back no block of its own.
 */
const CONFIRMATIONS: Readonly<Record<EvmChainName, number>> = {
  ROOTSTOCK: 12,
  BASE: 1,
  ARBITRUM: 1,
  OPTIMISM: 1,
  SCROLL: 1,
  WORLDCHAIN: 1,
};

async function isDeepEnough(chain: EvmChain, environment: Environment, name: EvmChainName, blockNumber: number) {
  // The sandbox takes back no block, and makes one only for a transaction.
  const needed = environment === 'production' ? CONFIRMATIONS[name] : 1;
  return needed === 1 || (await chain.blockNumber()) - blockNumber + 1 >= needed;
}

async function lookUpEvm(
  networks: Networks,
  environment: Environment,
  name: EvmChainName,
  hash: string,
): Promise<Sight> {
  const chain = networks.evm(environment, name);
  const receipt = await chain.receipt(hash);
  if (!receipt) return 'unknown';
  return {
    accepted: await isDeepEnough(chain, environment, name, receipt.blockNumber),
    reverted: !receipt.succeeded,
    revertReason: undefined,
    transfers: receipt.transfers.map(({ token, from, to, amount, logIndex }) => {
      const coin = token === null;
      return {
        token: coin ? undefined : BigInt(token),
        from: BigInt(from),
        to: BigInt(to),
        amount,
        eventIndex: logIndex ?? undefined,
      };
    }),
    blockNumber: receipt.blockNumber,
    time: receipt.timestamp,
  };
}
