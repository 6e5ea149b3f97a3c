import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type endpoints,
  parseStarknetAddress,
  type StarknetAddress,
  type WalletType,
} from '@svc/protocol';
import { type Call, CalldataReader, outsideExecutionTypedData, selector, toHex } from '@svc/starknet';
import type { Database, Db, Reads } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { PrivatePool } from '../chains/private-pool.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import type { Token } from '../chains/tokens.ts';
import { type Caller, publicKeyOf } from '../http/call.ts';
import { readAddress, readFelt, refuse } from '../http/validation.ts';
import {
  type AccountDeployment,
  type CallsKind,
  isOpen,
  outsidePurpose,
  type PoolFee,
  type Relayed,
  type Sponsor,
  type StoredRelay,
  type StoreWithRelay,
} from '../relayer/relay.ts';
import { findRelay, findRelayByPurpose } from '../relayer/relay-store.ts';
import { requireAllowedCalls } from '../relayer/sponsorship.ts';
import { createGatherer } from '../util/semaphore.ts';
import {
  feltsOf,
  MAX_FELTS,
  readSignedExecution,
  type SignatureDeps,
  type SignedExecution,
} from '../wallets/signed-execution.ts';
import { requireWallet, type WalletRecord, walletsAt } from '../wallets/wallet.ts';
import { refreshClass, requireSponsoredClass } from '../wallets/wallet-class.ts';
import { namesOf, storeNames, TRANSFER_FUNCTION } from './decode.ts';
import { asPoolError, type PoolCall, readPoolCall, requirePoolTerms, typeOfOperation } from './pool-calls.ts';
import type { NewRecord } from './record.ts';
import { insertRecords, setHashOfRelay } from './record-store.ts';

type Body = BodyOf<typeof endpoints.executeSponsoredTransaction>;
type Answer = AnswerOf<typeof endpoints.executeSponsoredTransaction>;

export async function executeSponsored(deps: TransactionDeps, caller: Caller, body: Body): Promise<Answer> {
  return { transactionHash: toHex((await relaySigned(deps, caller, body, { kind: 'calls' })).hash) };
}

export interface CallsOrder {
  readonly kind: CallsKind;
  /** Refuses calls before anything is stored. */
  readonly check?: (wallet: WalletRecord, signed: SignedExecution) => Promise<void>;
  readonly store?: StoreWithRelay;
}

/** Records are stored with the relay, before anything is sent. */
export async function relaySigned(
  deps: TransactionDeps,
  caller: Caller,
  body: Body,
  { kind, check, store }: CallsOrder,
): Promise<Relayed> {
  const { db, networks, sponsor } = deps;
  const address = readAddress(body.publicKey, 'body.publicKey');
  networks.starknet(caller.environment);
  const wallet = await requireClaims(deps, await requireWallet(db.reads, caller, address), body);
  const { typedData, userSignature, isSessionSignature } = body;
  const signed = await readSignedExecution(deps, wallet, {
    typedData,
    signature: userSignature,
    isSession: isSessionSignature,
  });
  if (signed.execution.calls.length === 0) {
    throw new ApiError('invalid_typed_data', 'The typed data has no calls: there is nothing to execute.');
  }
  refuseUpgrade(address, signed.execution.calls);
  await check?.(wallet, signed);
  const [, history] = await Promise.all([
    requireSponsored(deps, caller, wallet, signed.execution.calls),
    body.saveToDatabase === false ? undefined : readExecutedCalls(deps, caller, wallet, signed),
  ]);
  const poolFee = await poolFeeOf(deps, wallet, signed.execution);
  const deployment = await deploymentFor(networks, db.reads, wallet);

  const { execution, signature, messageHash } = signed;
  const account = BigInt(address);
  const request = {
    kind,
    environment: caller.environment,
    account,
    deployment,
    execution,
    signature,
    messageHash,
    user: wallet,
    poolFee,
  } as const;
  let hashComesLater = false;
  const sponsored = sponsor.sponsor(request, async (tx, relay) => {
    hashComesLater = relay.hash === undefined;
    if (history) await storeRecords(tx, recordsOfCalls(history, relay));
    await store?.(tx, relay);
  });
  const relayed = await sponsored.catch((error: unknown) => {
    throw asPoolError(error);
  });
  if (history && hashComesLater) await setHashOfRelay(db, relayed.id, toHex(relayed.hash));
  return relayed;
}

/** A known relay is answered again, also where the terms have changed. */
async function poolFeeOf(
  { db, networks }: TransactionDeps,
  { environment, address }: WalletRecord,
  { calls, nonce }: SignedExecution['execution'],
): Promise<PoolFee | undefined> {
  const network = networks.starknet(environment);
  if (!calls.some((call) => readPoolCall(network.pool, call))) return undefined;
  const purpose = outsidePurpose(BigInt(address), nonce);
  const known = await findRelayByPurpose(db.reads, network.chain.chainId, purpose);
  return known ? undefined : requirePoolTerms(network, address, calls);
}

/** The class comes from the chain: the wallet may have been upgraded without us. */
async function requireSponsored(
  { db, networks }: TransactionDeps,
  caller: Caller,
  wallet: WalletRecord,
  calls: readonly Call[],
): Promise<void> {
  if (!(await requireAllowedCalls(db.reads, caller, BigInt(wallet.address), calls))) return;
  const { classHash } = await refreshClass(db, networks, wallet);
  await requireSponsoredClass(db.reads, caller, networks.starknet(wallet.environment), classHash);
}

/** Of relays that one transaction stores together. */
const storeRecords = createGatherer(async (tx: Db, all: readonly (readonly NewRecord[])[]) => {
  await insertRecords(tx, all.flat());
  return all.map(() => undefined);
});

/** Read before any lock is taken. */
async function readExecutedCalls(
  { db, networks, now = Date.now }: TransactionDeps,
  caller: Caller,
  wallet: WalletRecord,
  { execution: { calls }, isSession }: SignedExecution,
): Promise<ExecutedCalls> {
  const { tokens, pool } = networks.starknet(wallet.environment);
  const recipients = await walletsAt(db.reads, wallet.environment, recipientsOf(calls, pool));
  const own = recipients.filter(({ organizationId }) => organizationId === wallet.organizationId);
  return {
    wallet,
    apiPublicKey: publicKeyOf(caller),
    calls,
    isSession,
    createdAt: new Date(now()),
    tokens,
    pool,
    names: await namesOf(
      db.reads,
      wallet.organizationId,
      calls.map(({ selector }) => selector),
    ),
    recipients: new Map<StarknetAddress, WalletRecord>(own.map((recipient) => [recipient.address, recipient])),
  };
}

type PrepareBody = BodyOf<typeof endpoints.prepareTypedData>;
type PrepareAnswer = AnswerOf<typeof endpoints.prepareTypedData>;

export async function prepareTypedData(
  deps: TransactionDeps,
  caller: Caller,
  body: PrepareBody,
): Promise<PrepareAnswer> {
  const { db, networks, sponsor } = deps;
  const address = readAddress(body.publicKey, 'body.publicKey');
  const calls = readCalls(body.calls);
  const network = networks.starknet(caller.environment);
  const wallet = await requireClaims(deps, await requireWallet(db.reads, caller, address), body);
  refuseUpgrade(address, calls);
  await requireSponsored(deps, caller, wallet, calls);
  await requirePoolTerms(network, wallet.address, calls);
  const state = await deploymentStateOf(networks, db.reads, wallet);
  const execution = await sponsor.prepare({
    environment: caller.environment,
    account: BigInt(address),
    deployment: state.kind === 'missing' ? state.deployment : undefined,
    calls: calls.map(({ to, selector, calldata }) => ({ to, selector, calldata })),
  });
  await storeNames(db, caller.organizationId, calls);
  const typedData = outsideExecutionTypedData(execution, network.chain.chainId) as PrepareAnswer['typedData'];
  return { typedData, walletType: wallet.walletType };
}

/** The name is there only where the caller gave it in place of the selector. */
export interface NamedCall extends Call {
  readonly name: string | undefined;
}

type CallText = BodyOf<typeof endpoints.prepareTypedData>['calls'][number];

const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function readCalls(calls: readonly CallText[]): NamedCall[] {
  const felts = feltsOf(calls);
  if (felts > MAX_FELTS) {
    refuse('body.calls', `has ${felts} felts with contracts and selectors, and ${MAX_FELTS} fit one transaction`);
  }
  return calls.map(({ contractAddress, entrypoint, calldata }, index) => {
    const field = `body.calls[${index}]`;
    return {
      to: BigInt(readAddress(contractAddress, `${field}.contractAddress`)),
      ...readEntrypoint(entrypoint, `${field}.entrypoint`),
      calldata: calldata.map((text, position) => readFelt(text, `${field}.calldata[${position}]`)),
    };
  });
}

function readEntrypoint(text: string, field: string): Pick<NamedCall, 'selector' | 'name'> {
  if (text.startsWith('0x')) return { selector: readFelt(text, field), name: undefined };
  if (!FUNCTION_NAME.test(text)) refuse(field, "must be a function's name or a selector (0x…)");
  return { selector: selector(text), name: text };
}

const UPGRADE = selector('upgrade');

/** Upgrades need the secret key and have endpoints of their own, which check the class. */
export function refuseUpgrade(account: StarknetAddress, calls: readonly Call[]): void {
  const index = calls.findIndex(({ to, selector: called }) => called === UPGRADE && to === BigInt(account));
  if (index < 0) return;
  throw new ApiError(
    'invalid_request',
    `Call ${index} upgrades the wallet. Use /svc-wallets/prepare-upgrade and /svc-wallets/upgrade, with the secret key.`,
  );
}

interface ClaimedWallet {
  readonly walletType?: WalletType;
  readonly accountClassHash?: string;
}

/** Checks what the request claims about the wallet: a mistaken client would sign for another account. The chain decides. */
export async function requireClaims(
  { db, networks }: Pick<TransactionDeps, 'db' | 'networks'>,
  stored: WalletRecord,
  { walletType, accountClassHash }: ClaimedWallet,
): Promise<WalletRecord> {
  const classHash = accountClassHash === undefined ? undefined : readFelt(accountClassHash, 'body.accountClassHash');
  const matches = (wallet: WalletRecord) =>
    (walletType ?? wallet.walletType) === wallet.walletType && (classHash ?? wallet.classHash) === wallet.classHash;
  const wallet = matches(stored) ? stored : await refreshClass(db, networks, stored);
  if (matches(wallet)) return wallet;
  if (walletType !== undefined && walletType !== wallet.walletType) {
    refuse('body.walletType', `is ${walletType}, but the wallet is of type ${wallet.walletType}`);
  }
  return refuse('body.accountClassHash', `is not the wallet's class, which is ${toHex(wallet.classHash)}`);
}

export type AccountState =
  | { readonly kind: 'deployed' }
  | { readonly kind: 'deploying' }
  | { readonly kind: 'missing'; readonly deployment: AccountDeployment };

export async function deploymentStateOf(
  networks: Pick<Networks, 'starknet'>,
  reads: Reads,
  wallet: WalletRecord,
): Promise<AccountState> {
  if (wallet.isDeployed) return { kind: 'deployed' };
  // Read before the chain, so that a relay that ends in between is seen there.
  const relay = wallet.relayId === undefined ? undefined : await findRelay(reads, wallet.relayId);
  const { chain } = networks.starknet(wallet.environment);
  if ((await chain.classHashAt(BigInt(wallet.address), 'pre_confirmed')) !== undefined) return { kind: 'deployed' };
  if (relay && isOpen(relay.state)) return { kind: 'deploying' };
  const { classHash, salt, constructorCalldata } = wallet;
  return { kind: 'missing', deployment: { classHash, salt, constructorCalldata } };
}

export async function deploymentFor(
  networks: Pick<Networks, 'starknet'>,
  reads: Reads,
  wallet: WalletRecord,
): Promise<AccountDeployment | undefined> {
  const state = await deploymentStateOf(networks, reads, wallet);
  if (state.kind === 'deploying') {
    throw new ApiError('wallet_not_deployed', `${wallet.address} is being deployed. Try again in a few seconds.`);
  }
  return state.kind === 'missing' ? state.deployment : undefined;
}

export interface ExecutedCalls {
  readonly wallet: WalletRecord;
  readonly apiPublicKey: string;
  readonly calls: readonly Call[];
  readonly isSession: boolean;
  readonly createdAt: Date;
  readonly tokens: readonly Token[];
  readonly pool?: PrivatePool | undefined;
  readonly names: ReadonlyMap<bigint, string>;
  readonly recipients: ReadonlyMap<StarknetAddress, WalletRecord>;
}

/** One `SEND` per ERC-20 transfer, one record of its own type per operation in the private pool, one `CONTRACT_CALL` per other call. */
export function recordsOfCalls(execution: ExecutedCalls, relay: StoredRelay): NewRecord[] {
  return execution.calls.map((call, callIndex) => {
    const transfer = readTransferCall(call);
    const operation = readPoolCall(execution.pool, call);
    const special = transfer
      ? transferFields(execution, transfer)
      : { ...callFields(call), ...(operation && poolFields(execution, operation)) };
    return { ...commonFields(execution, relay, call), callIndex, subType: subTypeOf(execution, transfer), ...special };
  });
}

export function recipientsOf(calls: readonly Call[], pool?: PrivatePool): StarknetAddress[] {
  return [...new Set(calls.flatMap((call) => readTransferCall(call)?.to ?? readPoolCall(pool, call)?.to ?? []))];
}

function commonFields({ wallet, apiPublicKey, names, createdAt }: ExecutedCalls, relay: StoredRelay, call: Call) {
  return {
    organizationId: wallet.organizationId,
    environment: wallet.environment,
    apiPublicKey,
    chain: 'STARKNET',
    transactionHash: relay.hash === undefined ? undefined : toHex(relay.hash),
    eventIndex: undefined,
    relayId: relay.id,
    senderAddress: wallet.address,
    functionName: names.get(call.selector),
    functionSelector: toHex(call.selector),
    status: 'PENDING',
    blockNumber: undefined,
    senderWalletId: wallet.id,
    createdAt,
    confirmedAt: undefined,
  } as const;
}

function transferFields({ tokens, recipients }: ExecutedCalls, { token, to, amount }: TransferCall) {
  const known = tokens.find(({ chain, address }) => chain === 'STARKNET' && address === token);
  return {
    type: 'SEND',
    destinationAddress: to,
    contractAddress: token,
    contractName: known?.token,
    token: known?.token ?? 'OTHER',
    tokenAddress: token,
    amount,
    destinationWalletId: recipients.get(to)?.id,
  } as const;
}

function poolFields({ pool, recipients }: ExecutedCalls, { operation, amount, to }: PoolCall) {
  const isPublic = amount !== undefined;
  return {
    type: typeOfOperation[operation],
    contractName: 'Tongo',
    ...(isPublic && { token: pool?.token, tokenAddress: pool?.tokenAddress, amount }),
    ...(to && { destinationAddress: to, destinationWalletId: recipients.get(to)?.id }),
  } as const;
}

function callFields({ to }: Call) {
  // A call may target a value that is no valid address; some classes skip it.
  const contract = padAddress(to);
  return {
    type: 'CONTRACT_CALL',
    destinationAddress: contract,
    contractAddress: contract,
    contractName: undefined,
    token: undefined,
    tokenAddress: undefined,
    amount: undefined,
    destinationWalletId: undefined,
  } as const;
}

function subTypeOf({ isSession, calls }: ExecutedCalls, transfer: TransferCall | undefined): NewRecord['subType'] {
  if (isSession) return 'SESSION';
  if (calls.length > 1) return 'MULTICALL';
  return transfer && 'TRANSFER';
}

export interface TransferCall {
  readonly token: StarknetAddress;
  readonly to: StarknetAddress;
  readonly amount: bigint;
}

export function readTransferCall({ to: contract, selector, calldata }: Call): TransferCall | undefined {
  if (selector !== TRANSFER_FUNCTION) return undefined;
  const reader = new CalldataReader(calldata);
  const read = reader.finish({ to: reader.address(), amount: reader.u256() });
  if (!read) return undefined;
  const [token, to] = [parseStarknetAddress(toHex(contract)), parseStarknetAddress(toHex(read.to))];
  return token.ok && to.ok ? { token: token.value, to: to.value, amount: read.amount } : undefined;
}

export interface TransactionDeps extends SignatureDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly sponsor: Sponsor;
  readonly pause?: (ms: number) => Promise<void>;
  readonly now?: () => number;
}
