import { setTimeout as pauseFor } from 'node:timers/promises';
import {
  ApiError,
  type BodyOf,
  type Chain,
  type Environment,
  type endpoints,
  formatTokenAmount,
  type Parsed,
  parsed,
  parseEvmAddress,
  parseStarknetAddress,
  parseTokenAmount,
  unparsed,
} from '@svc/protocol';
import { parseFelt, toHex } from '@svc/starknet';
import type { EvmChain } from '../chains/evm-chain.ts';
import type { Networks } from '../chains/networks.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import type { EvmChainName, Token } from '../chains/tokens.ts';
import { refuse } from '../http/validation.ts';
import type { TransactionDeps } from './execute.ts';
import type { TransactionRecord } from './record.ts';

/** Addresses of every chain are numbers. */
export interface ChainTransfer {
  readonly token: bigint | undefined;
  readonly from: bigint;
  readonly to: bigint;
  readonly amount: bigint;
  readonly eventIndex: number | undefined;
}

export interface ChainTransaction {
  /** In a sealed block, deep enough for its chain. Before, all fields can change. */
  readonly accepted: boolean;
  readonly reverted: boolean;
  readonly revertReason: string | undefined;
  readonly transfers: readonly ChainTransfer[];
  readonly blockNumber: number | undefined;
  /** Undefined on EVM chains. */
  readonly blockHash?: bigint | undefined;
  readonly time: Date | undefined;
}

/** `waiting`: known, not executed. `unknown`: not known, or no longer. */
export type Observation = ChainTransaction | 'waiting' | 'unknown';

export function observeTransaction(
  networks: Networks,
  environment: Environment,
  chain: Chain,
  hash: string,
): Promise<Observation> {
  return chain === 'STARKNET'
    ? observeStarknet(networks, environment, BigInt(hash))
    : observeEvm(networks, environment, chain, hash);
}

async function observeStarknet(networks: Networks, environment: Environment, hash: bigint): Promise<Observation> {
  const { chain } = networks.starknet(environment);
  const receipt = await chain.receipt(hash);
  if (!receipt) return (await chain.transactionStatus(hash)).status === 'NOT_RECEIVED' ? 'unknown' : 'waiting';
  const block = receipt.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  // The block was replaced between the two answers.
  if (receipt.accepted && block?.hash !== receipt.blockHash) return 'waiting';
  return {
    accepted: receipt.accepted,
    reverted: receipt.status === 'REVERTED',
    revertReason: receipt.revertReason,
    transfers: transfersIn(receipt),
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    time: block?.timestamp,
  };
}

/** Confirmations, its own block included. Rootstock is mined and replaces new blocks at times; the others are rollups with one sequencer. */
const CONFIRMATIONS: Readonly<Record<EvmChainName, number>> = {
  ROOTSTOCK: 12,
  BASE: 1,
  ARBITRUM: 1,
  OPTIMISM: 1,
  SCROLL: 1,
  WORLDCHAIN: 1,
};

async function isDeepEnough(chain: EvmChain, environment: Environment, name: EvmChainName, blockNumber: number) {
  // The sandbox's EVM chains have no reorganisations.
  const needed = environment === 'production' ? CONFIRMATIONS[name] : 1;
  return needed === 1 || (await chain.blockNumber()) - blockNumber + 1 >= needed;
}

async function observeEvm(
  networks: Networks,
  environment: Environment,
  name: EvmChainName,
  hash: string,
): Promise<Observation> {
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

/** The caller may see a transaction before our node does. */
const MAX_WAIT_MS = 3_000;
const POLL_MS = 250;

export interface Awaited extends Pick<ExpectedTransfer, 'chain' | 'hash'> {
  readonly accepted?: boolean;
}

/** Throws `transaction_not_found` after some seconds, or `transaction_reverted`. */
export async function awaitExecuted(
  { networks, pause = pauseFor }: Pick<TransactionDeps, 'networks' | 'pause'>,
  environment: Environment,
  awaited: Awaited,
): Promise<ChainTransaction> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const observation = await observeTransaction(networks, environment, awaited.chain, awaited.hash);
    if (isFound(observation, awaited)) {
      if (observation.reverted) throw reverted(observation);
      return observation;
    }
    if (waitedMs >= MAX_WAIT_MS) throw notFound(awaited, observation);
    await pause(POLL_MS);
  }
}

function isFound(observation: Observation, { accepted = false }: Awaited): observation is ChainTransaction {
  return observation !== 'unknown' && observation !== 'waiting' && (observation.accepted || !accepted);
}

function notFound({ chain, hash }: Awaited, observation: Observation): ApiError {
  const states = {
    unknown: 'does not know it',
    waiting: 'has not executed it yet',
    open: 'has not sealed its block yet',
  };
  const state = states[typeof observation === 'string' ? observation : 'open'];
  return new ApiError(
    'transaction_not_found',
    `${chain} ${state}: transaction ${hash}. Record it once it is executed.`,
    { status: 400 },
  );
}

function reverted({ revertReason }: ChainTransaction): ApiError {
  const reason = revertReason ? `: ${revertReason}` : '.';
  return new ApiError('transaction_reverted', `The transaction was reverted on the chain${reason}`);
}

/** One transfer per record: what was paid once does not count twice. */
export function matchTransfers(
  records: readonly TransactionRecord[],
  transfers: readonly ChainTransfer[],
): ReadonlyMap<TransactionRecord, ChainTransfer> {
  const free = new Set(transfers);
  const matched = new Map<TransactionRecord, ChainTransfer>();
  for (const record of records) {
    const transfer = [...free].find((candidate) => isTransferOf(record, candidate));
    if (!transfer) continue;
    free.delete(transfer);
    matched.set(record, transfer);
  }
  return matched;
}

/** Money that leaves the private pool comes from its contract. */
const payerOf = ({ type, senderAddress, contractAddress = senderAddress }: TransactionRecord) =>
  type === 'UNSHIELD' ? contractAddress : senderAddress;

export function isTransferOf(record: TransactionRecord, transfer: Omit<ChainTransfer, 'eventIndex'>): boolean {
  return (
    record.amount === transfer.amount &&
    (record.tokenAddress === undefined ? undefined : BigInt(record.tokenAddress)) === transfer.token &&
    BigInt(payerOf(record)) === transfer.from &&
    BigInt(record.destinationAddress) === transfer.to
  );
}

/** Any case and padding. Records have hashes unpadded. */
export function parseStarknetHash(text: string): Parsed<bigint> {
  if (!/^0x[0-9a-fA-F]{1,64}$/.test(text)) return unparsed('must be 0x and up to 64 hexadecimal digits');
  return parseFelt(text);
}

export function parseEvmHash(text: string): Parsed<string> {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) return unparsed('must be 0x and 64 hexadecimal digits');
  return parsed(text.toLowerCase());
}

export interface ExpectedTransfer {
  readonly chain: Chain;
  readonly hash: string;
  readonly sender: string;
  readonly recipient: string;
  readonly token: Token;
  readonly amount: bigint;
}

type Body = BodyOf<typeof endpoints.recordSend>;

export function readExpected(networks: Networks, environment: Environment, body: Body): ExpectedTransfer {
  const { chain, expectedToken } = body;
  const address: (text: string) => Parsed<string> = chain === 'STARKNET' ? parseStarknetAddress : parseEvmAddress;
  const hash =
    chain === 'STARKNET' ? hexOf(parseStarknetHash(body.transactionHash)) : parseEvmHash(body.transactionHash);
  const expected = {
    chain,
    hash: requireParsed('transactionHash', hash),
    sender: requireParsed('expectedSender', address(body.expectedSender)),
    recipient: requireParsed('expectedRecipient', address(body.expectedRecipient)),
  };
  const token = networks.token(environment, chain, expectedToken);
  if (!token) throw new ApiError('token_not_supported', `${chain} does not have the token ${expectedToken}.`);
  const amount = requireParsed('expectedAmount', parseTokenAmount(body.expectedAmount, token.decimals));
  return { ...expected, token, amount };
}

function requireParsed<T>(field: string, value: Parsed<T>): T {
  return value.ok ? value.value : refuse(`body.${field}`, value.reason);
}

function hexOf(hash: Parsed<bigint>): Parsed<string> {
  return hash.ok ? { ok: true, value: toHex(hash.value) } : hash;
}

const MAX_NAMED = 3;

export interface FieldNames {
  readonly token: string;
  readonly sender: string;
  readonly recipient: string;
}

const EXPECTED: FieldNames = { token: 'expectedToken', sender: 'expectedSender', recipient: 'expectedRecipient' };

export function requireTransfer(
  expected: ExpectedTransfer,
  transfers: readonly ChainTransfer[],
  tokens: readonly Token[],
): ChainTransfer {
  const { token, amount } = expected;
  const between = requireTransfers(expected, transfers, tokens, EXPECTED);
  const found = between.find((transfer) => transfer.amount === amount);
  if (found) return found;
  const amounts = between.map((transfer) => formatTokenAmount(transfer.amount, token.decimals));
  return mismatch('expectedAmount', `the transaction moved ${named(amounts)} ${token.token}`);
}

export function requireTransfers(
  { chain, token, sender, recipient }: Omit<ExpectedTransfer, 'hash' | 'amount'>,
  transfers: readonly ChainTransfer[],
  tokens: readonly Token[],
  fields: FieldNames,
): ChainTransfer[] {
  const coin = token.token;
  const ofToken = transfers.filter((transfer) => transfer.token === numberOf(token));
  if (ofToken.length === 0) {
    const others = named(transfers.map((transfer) => nameOf(chain, transfer.token, tokens)));
    mismatch(
      fields.token,
      others ? `the transaction moves ${others}, not ${coin}` : `the transaction moves no ${coin}`,
    );
  }
  const fromSender = ofToken.filter(({ from }) => from === BigInt(sender));
  if (fromSender.length === 0) {
    mismatch(fields.sender, `the ${coin} came from ${named(ofToken.map(({ from }) => addressText(chain, from)))}`);
  }
  const toRecipient = fromSender.filter(({ to }) => to === BigInt(recipient));
  if (toRecipient.length === 0) {
    mismatch(fields.recipient, `the ${coin} went to ${named(fromSender.map(({ to }) => addressText(chain, to)))}`);
  }
  return toRecipient;
}

const numberOf = ({ address }: Token) => (address === null ? undefined : BigInt(address));

function named(found: readonly string[]): string {
  const distinct = [...new Set(found)];
  const more = distinct.length > MAX_NAMED ? ' and others' : '';
  return distinct.slice(0, MAX_NAMED).join(', ') + more;
}

function nameOf(chain: Chain, address: bigint | undefined, tokens: readonly Token[]): string {
  const known = tokens.find((token) => numberOf(token) === address)?.token;
  return known ?? (address === undefined ? 'its own coin' : addressText(chain, address));
}

function addressText(chain: Chain, address: bigint): string {
  return `0x${address.toString(16).padStart(chain === 'STARKNET' ? 64 : 40, '0')}`;
}

function mismatch(field: string, found: string): never {
  throw new ApiError('transaction_mismatch', `${field} does not match: ${found}.`);
}
