import { hex64, type OnChainTxStatus, parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { type InvokeFields, type ResourceBounds, selector, toHex } from '@svc/starknet';
import type { NodeHealth } from '../nodes.ts';

/** `pre_confirmed` includes the open block. */
export type BlockId = number | 'latest' | 'pre_confirmed';

export interface ViewCall {
  readonly to: bigint;
  readonly entrypoint: string;
  readonly calldata?: readonly bigint[];
}

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
  /** Receives the fees. */
  readonly sequencer?: bigint | undefined;
}

export type Head = Pick<Block, 'number' | 'hash'>;

export interface ChainEvent {
  readonly from: bigint;
  readonly keys: readonly bigint[];
  readonly data: readonly bigint[];
}

export interface EmittedEvent extends ChainEvent {
  readonly transactionHash: bigint;
  readonly blockNumber: number | undefined;
  readonly blockHash: bigint | undefined;
  /** Index in the transaction; older nodes do not tell. */
  readonly index: number | undefined;
}

export interface Receipt {
  readonly transactionHash: bigint;
  readonly status: OnChainTxStatus;
  /** In a sealed block. Before, the status can still change. */
  readonly accepted: boolean;
  readonly revertReason: string | undefined;
  readonly blockNumber: number | undefined;
  readonly blockHash: bigint | undefined;
  /** In FRI. */
  readonly fee: bigint;
  /** In order: the position is the event's index. */
  readonly events: readonly ChainEvent[];
}

export interface TransactionStatus {
  readonly status: OnChainTxStatus;
  readonly accepted: boolean;
  readonly revertReason: string | undefined;
}

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

/** `refused` is about this attempt only: code 52 (nonce) may mean that an earlier one landed. `unknown`: a node may have accepted it. */
export type SendOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'refused'; readonly code: number; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string };

export interface EventFilter {
  readonly fromBlock: BlockId;
  readonly toBlock: BlockId;
  readonly address?: bigint;
  /** Alternatives for each position; an empty list matches all. */
  readonly keys?: readonly (readonly bigint[])[];
  readonly limit: number;
  /** From the previous page. Valid on one node only; when it is gone, start the range again. */
  readonly continuation?: string | undefined;
}

export interface EventPage {
  readonly events: readonly EmittedEvent[];
  readonly continuation: string | undefined;
}

/** A refusal of the chain is a value; a `ChainUnavailableError` means that no node answered. Reads see the `latest` block by default. */
export interface StarknetChain {
  readonly chainId: bigint;
  checkChain(): Promise<readonly NodeHealth[]>;
  blockNumber(): Promise<number>;
  head(): Promise<Head>;
  block(at: number | 'latest' | 'l1_accepted'): Promise<Block | undefined>;
  call(call: ViewCall, at?: BlockId): Promise<CallOutcome>;
  classHashAt(address: bigint, at?: BlockId): Promise<bigint | undefined>;
  nonceAt(address: bigint, at?: BlockId): Promise<bigint | undefined>;
  /** Selectors of external functions; undefined where the class is not declared. */
  classEntrypoints(classHash: bigint): Promise<ReadonlySet<bigint> | undefined>;
  balanceOf(token: bigint, owner: bigint, at?: BlockId): Promise<bigint>;
  receipt(hash: bigint): Promise<Receipt | undefined>;
  /** Transactions of one account in a sealed block, as they were sent. Only those of version 3. */
  invokesIn(block: number, sender: bigint): Promise<readonly SignedInvoke[]>;
  /** As it was sent; undefined where it is unknown or of another kind or version. */
  invoke(hash: bigint): Promise<SignedInvoke | undefined>;
  transactionStatus(hash: bigint): Promise<TransactionStatus>;
  /** Skips validation, so the signature may be missing. */
  estimate(transaction: RawInvoke, at?: BlockId): Promise<Estimate | Refusal>;
  /** Idempotent: the same transaction has the same hash. */
  send(signed: SignedInvoke): Promise<SendOutcome>;
  events(filter: EventFilter): Promise<EventPage>;
}

interface RawBounds {
  readonly max_amount: string;
  readonly max_price_per_unit: string;
}

/** Invoke version 3 as JSON-RPC spells it: stored and sent byte for byte. */
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
  readonly amount: bigint;
}

export const TRANSFER_SELECTOR = selector('Transfer');
const WORD_BOUND = 2n ** 128n;

/** Newer tokens have both parties among the keys, older ones in the data. */
export function readTransfer({ from: token, keys, data }: ChainEvent): Transfer | undefined {
  const [kind, ...indexed] = keys;
  if (kind !== TRANSFER_SELECTOR) return undefined;
  if (!(indexed.length === 2 && data.length === 2) && !(indexed.length === 0 && data.length === 4)) return undefined;
  const [from, to, low, high] = [...indexed, ...data];
  if (from === undefined || to === undefined || low === undefined || high === undefined) return undefined;
  // Any contract can emit an event that looks like a token's.
  if (low >= WORD_BOUND || high >= WORD_BOUND) return undefined;
  return { token, from, to, amount: low + high * WORD_BOUND };
}

export interface FoundTransfer extends Transfer {
  readonly eventIndex: number;
}

export function transfersIn(receipt: { readonly events: readonly ChainEvent[] }): FoundTransfer[] {
  return receipt.events.flatMap((event, eventIndex) => {
    const transfer = readTransfer(event);
    return transfer ? [{ ...transfer, eventIndex }] : [];
  });
}

export function addressOf(felt: bigint): StarknetAddress {
  const address = parseStarknetAddress(toHex(felt));
  if (!address.ok) throw new RangeError(`${toHex(felt)} ${address.reason}.`);
  return address.value;
}

/** As the database stores addresses; hashes are stored unpadded. */
export const padAddress = (address: bigint): string => `0x${hex64(address)}`;
