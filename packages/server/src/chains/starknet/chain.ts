import { hex64, type OnChainTxStatus, parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { type InvokeFields, type ResourceBounds, selector, toHex } from '@svc/starknet';
import type { NodeHealth } from '../nodes.ts';

/** `pre_confirmed` sees what the open block holds already. */
export type BlockId = number | 'latest' | 'pre_confirmed';

export interface ViewCall {
  readonly to: bigint;
  readonly entrypoint: string;
  readonly calldata?: readonly bigint[];
}

/** A no of the chain: its JSON-RPC code and the innermost reason. */
export interface Refusal {
  readonly ok: false;
  readonly code: number;
  readonly reason: string;
}

export type CallOutcome = { readonly ok: true; readonly felts: readonly bigint[] } | Refusal;

export interface Block {
  readonly number: number;
  readonly hash: bigint;
  readonly parentHash: bigint;
  readonly timestamp: Date;
  /** Who made it, and was paid the fees. */
  readonly sequencer?: bigint | undefined;
}

/** The last sealed block. */
export type Head = Pick<Block, 'number' | 'hash'>;

export interface ChainEvent {
  /** The contract that emitted it. */
  readonly from: bigint;
  readonly keys: readonly bigint[];
  readonly data: readonly bigint[];
}

export interface EmittedEvent extends ChainEvent {
  readonly transactionHash: bigint;
  /** Undefined in the open block. */
  readonly blockNumber: number | undefined;
  readonly blockHash: bigint | undefined;
  /** Its place among the events of its transaction; older nodes do not tell. */
  readonly index: number | undefined;
}

export interface Receipt {
  readonly transactionHash: bigint;
  readonly status: OnChainTxStatus;
  /** Whether it is in a sealed block. Before, the status can still change. */
  readonly accepted: boolean;
  readonly revertReason: string | undefined;
  readonly blockNumber: number | undefined;
  readonly blockHash: bigint | undefined;
  /** In FRI. */
  readonly fee: bigint;
  /** In their order: the place in this list is the event's index. */
  readonly events: readonly ChainEvent[];
}

export interface TransactionStatus {
  readonly status: OnChainTxStatus;
  readonly accepted: boolean;
  readonly revertReason: string | undefined;
}

/** What a transaction would use. */
export interface Estimate {
  readonly ok: true;
  /** In FRI. */
  readonly fee: bigint;
  readonly l1Gas: GasUse;
  readonly l1DataGas: GasUse;
  readonly l2Gas: GasUse;
}

export interface GasUse {
  readonly amount: bigint;
  readonly price: bigint;
}

export interface SignedInvoke {
  readonly hash: bigint;
  readonly transaction: RawInvoke;
}

/**
 * `sent`: a node has taken it, now or before. `refused`: no node has taken it in this try. `unknown`: a node may have taken it.
 * A refusal speaks of this try alone: what was sent earlier may be on the chain, and 52 (nonce) is what it then looks like.
 */
export type SendOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'refused'; readonly code: number; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string };

export interface EventFilter {
  readonly fromBlock: BlockId;
  readonly toBlock: BlockId;
  readonly address?: bigint;
  /** For each position the keys that fit; an empty list fits all. */
  readonly keys?: readonly (readonly bigint[])[];
  readonly limit: number;
  /** From the page before. It is known to one node of this process alone: when that is gone, begin the range again. */
  readonly continuation?: string | undefined;
}

export interface EventPage {
  readonly events: readonly EmittedEvent[];
  /** Undefined on the last page. */
  readonly continuation: string | undefined;
}

/**
 * Starknet as the service knows it. What the chain says no to is a value; a `ChainUnavailableError` means that no node
 * answered. Reads see the `latest` block unless told otherwise.
 */
export interface StarknetChain {
  readonly chainId: bigint;
  /** Throws a `WrongChainError` for a node of another chain. */
  checkChain(): Promise<readonly NodeHealth[]>;
  blockNumber(): Promise<number>;
  /** The same with its hash, in one question. */
  head(): Promise<Head>;
  /** Undefined when there is no such block. */
  block(at: number | 'latest' | 'l1_accepted'): Promise<Block | undefined>;
  call(call: ViewCall, at?: BlockId): Promise<CallOutcome>;
  /** Undefined where no contract stands. */
  classHashAt(address: bigint, at?: BlockId): Promise<bigint | undefined>;
  nonceAt(address: bigint, at?: BlockId): Promise<bigint | undefined>;
  /** The selectors that contracts of a class can be called with from outside; undefined where it is not declared. */
  classEntrypoints(classHash: bigint): Promise<ReadonlySet<bigint> | undefined>;
  /** In the token's smallest unit. */
  balanceOf(token: bigint, owner: bigint, at?: BlockId): Promise<bigint>;
  /** Undefined while no node knows of its execution. */
  receipt(hash: bigint): Promise<Receipt | undefined>;
  transactionStatus(hash: bigint): Promise<TransactionStatus>;
  /** Without validating the signature, so that it need not be there yet. */
  estimate(transaction: RawInvoke, at?: BlockId): Promise<Estimate | Refusal>;
  /** Sending the same transaction again is harmless: it has the same hash. */
  send(signed: SignedInvoke): Promise<SendOutcome>;
  events(filter: EventFilter): Promise<EventPage>;
}

interface RawBounds {
  readonly max_amount: string;
  readonly max_price_per_unit: string;
}

/** An invoke transaction of version 3 as JSON-RPC spells it: what is stored and sent, byte for byte. */
export interface RawInvoke {
  readonly type: 'INVOKE';
  readonly version: '0x3';
  readonly sender_address: string;
  readonly calldata: string[];
  readonly signature: string[];
  readonly nonce: string;
  readonly resource_bounds: {
    readonly l1_gas: RawBounds;
    readonly l1_data_gas: RawBounds;
    readonly l2_gas: RawBounds;
  };
  readonly tip: string;
  readonly paymaster_data: string[];
  readonly account_deployment_data: string[];
  readonly nonce_data_availability_mode: 'L1' | 'L2';
  readonly fee_data_availability_mode: 'L1' | 'L2';
}

export function rawInvoke(fields: Omit<InvokeFields, 'version' | 'chainId'>, signature: readonly bigint[]): RawInvoke {
  const { l1Gas, l1DataGas, l2Gas } = fields.resourceBounds;
  return {
    type: 'INVOKE',
    version: '0x3',
    sender_address: toHex(fields.sender),
    calldata: fields.calldata.map(toHex),
    signature: signature.map(toHex),
    nonce: toHex(fields.nonce),
    resource_bounds: { l1_gas: rawBounds(l1Gas), l1_data_gas: rawBounds(l1DataGas), l2_gas: rawBounds(l2Gas) },
    tip: toHex(fields.tip),
    paymaster_data: fields.paymasterData.map(toHex),
    account_deployment_data: fields.accountDeploymentData.map(toHex),
    nonce_data_availability_mode: fields.nonceDataAvailabilityMode === 0 ? 'L1' : 'L2',
    fee_data_availability_mode: fields.feeDataAvailabilityMode === 0 ? 'L1' : 'L2',
  };
}

function rawBounds({ maxAmount, maxPricePerUnit }: ResourceBounds): RawBounds {
  return { max_amount: toHex(maxAmount), max_price_per_unit: toHex(maxPricePerUnit) };
}

export interface Transfer {
  readonly token: bigint;
  readonly from: bigint;
  readonly to: bigint;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

export const TRANSFER_SELECTOR = selector('Transfer');
const WORD_BOUND = 2n ** 128n;

/** The ERC-20 transfer in an event, or undefined: newer tokens put both parties among the keys, older ones into the data. */
export function readTransfer({ from: token, keys, data }: ChainEvent): Transfer | undefined {
  const [kind, ...indexed] = keys;
  if (kind !== TRANSFER_SELECTOR) return undefined;
  if (!(indexed.length === 2 && data.length === 2) && !(indexed.length === 0 && data.length === 4)) return undefined;
  const [from, to, low, high] = [...indexed, ...data];
  if (from === undefined || to === undefined || low === undefined || high === undefined) return undefined;
  // Anyone can deploy a contract whose events only look like a token's.
  if (low >= WORD_BOUND || high >= WORD_BOUND) return undefined;
  return { token, from, to, amount: low + high * WORD_BOUND };
}

export interface FoundTransfer extends Transfer {
  /** Its event's place in the receipt. */
  readonly eventIndex: number;
}

export function transfersIn(receipt: { readonly events: readonly ChainEvent[] }): FoundTransfer[] {
  return receipt.events.flatMap((event, eventIndex) => {
    const transfer = readTransfer(event);
    return transfer ? [{ ...transfer, eventIndex }] : [];
  });
}

/** The normal form of an address that the chain has shown us. */
export function addressOf(felt: bigint): StarknetAddress {
  const address = parseStarknetAddress(toHex(felt));
  if (!address.ok) throw new RangeError(`${toHex(felt)} ${address.reason}.`);
  return address.value;
}

/** Addresses as the database keeps them; hashes are there without padding. */
export const padAddress = (address: bigint): string => `0x${hex64(address)}`;
