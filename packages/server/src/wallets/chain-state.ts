import {
  type AnswerOf,
  ApiError,
  type Environment,
  type endpoints,
  parseEvmAddress,
  type QueryOf,
  type SessionState,
} from '@svc/protocol';
import {
  decodeSessionData,
  decodeSpendingPolicyState,
  encodeAllowedEntrypointAt,
  encodePolicyKey,
  encodeSessionKey,
  type SessionData,
  selector,
  toHex,
} from '@svc/starknet';
import { type Database, type Reads, sql } from '@svc/store';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import { type EmittedEvent, padAddress, type StarknetChain, type ViewCall } from '../chains/starknet/chain.ts';
import type { EvmChainName, Token } from '../chains/tokens.ts';
import type { Caller } from '../http/call.ts';
import { readAddress, refuse } from '../http/validation.ts';
import type { WalletDeps } from './signed-execution.ts';
import { findWallet, newestWallet } from './wallet.ts';
import { currentClass, typeOfClass } from './wallet-class.ts';

type Answer = AnswerOf<typeof endpoints.getWalletChainState>;
type Session = Answer['sessions'][number];
type Policy = Session['policies'][number];

export interface ChainStateDeps {
  readonly db: Pick<Database, 'reads'>;
  readonly networks: Pick<Networks, 'starknet' | 'tokens'>;
  readonly nameOfFunction: (selector: bigint) => string | undefined;
}

/** A wallet of a person has a few; each costs several requests to a node. */
const MAX_SESSIONS = 50;
const MAX_ENTRYPOINTS = 50;
const MAX_POLICIES = 20;
/** Nodes answer a range of blocks at a time, sometimes with an empty page. */
const EVENTS_A_PAGE = 100;
const MAX_PAGES = 20;
/** Public nodes reject too many at once. */
const AT_ONCE = 8;

export async function walletChainState(deps: ChainStateDeps, caller: Caller, id: string): Promise<Answer> {
  const network = deps.networks.starknet(caller.environment);
  const wallet = await readWallet(deps.db.reads, caller, id);
  const address = BigInt(wallet.address);
  const tokens = deps.networks.tokens(caller.environment).filter(({ chain }) => chain === 'STARKNET');
  const [classHash, balances] = await Promise.all([
    network.chain.classHashAt(address, 'pre_confirmed'),
    readBalances(network.chain, tokens, address),
  ]);
  const found =
    classHash === undefined
      ? { sessions: [], hasAllSessions: true }
      : await readSessions(deps, network, tokens, address, Number(wallet.first_block));
  const latest = currentClass(network, 'SVC');
  return {
    address: wallet.address,
    isDeployed: classHash !== undefined,
    classHash: classHash === undefined ? null : toHex(classHash),
    walletType: classHash === undefined ? null : typeOfClass(network, classHash),
    isCurrentClass: classHash === undefined || classHash === latest,
    currentClassHash: toHex(latest),
    balances,
    ...found,
  };
}

function readBalances(chain: StarknetChain, tokens: readonly Token[], owner: bigint): Promise<Answer['balances']> {
  return inTurns(tokens, async ({ token, address, decimals }) => ({
    chain: 'STARKNET' as const,
    chainToken: token,
    chainTokenAddress: address ?? '',
    decimals,
    balance: (await chain.balanceOf(BigInt(address ?? 0), owner)).toString(),
  }));
}

interface WalletPlace {
  readonly address: string;
  /** Events of an account that we deployed begin there; one that was there before may have older ones. */
  readonly first_block: bigint;
}

async function readWallet(reads: Reads, { organizationId, environment }: Caller, id: string): Promise<WalletPlace> {
  const wallet = await reads.one<WalletPlace>(sql`
    select address, coalesce(block_number, 0) as first_block
      from wallets left join relays on relays.id = relay_id and jsonb_array_length(content -> 'calls') > 1
     where wallets.id = ${id} and wallets.organization_id = ${organizationId} and wallets.environment = ${environment}`);
  return wallet ?? missing();
}

function missing(): never {
  throw new ApiError('wallet_not_found');
}

const SESSION_ADDED = selector('SessionKeyAdded');
const POLICY_SET = selector('SpendingPolicySet');

/** The contract has no list of its sessions. Events name the keys and tokens; the contract says what holds now. */
async function readSessions(
  { nameOfFunction }: ChainStateDeps,
  network: StarknetNetwork,
  tokens: readonly Token[],
  wallet: bigint,
  fromBlock: number,
): Promise<Pick<Answer, 'sessions' | 'hasAllSessions'>> {
  const { events, isComplete } = await readEvents(network.chain, wallet, fromBlock);
  const policies = new Map<bigint, Set<bigint>>();
  for (const { keys } of events.toReversed()) {
    const [kind, sessionKey, token] = keys;
    if (sessionKey === undefined) continue;
    const known = policies.get(sessionKey) ?? new Set();
    if (kind === POLICY_SET && token !== undefined) known.add(token);
    policies.set(sessionKey, known);
  }
  const now = (await network.time()).getTime() / 1_000;
  const listed = [...policies].slice(0, MAX_SESSIONS);
  const read = reader(network.chain, wallet);
  const sessions = await inTurns(listed, async ([sessionKey, ofTokens]): Promise<Session | undefined> => {
    const data = decodeSessionData(await read('get_session_data', encodeSessionKey(sessionKey)));
    if (!data) return undefined;
    const { validUntil, maxCalls, callsUsed, allowedEntrypointsLength } = data;
    return {
      publicKey: toHex(sessionKey),
      state: stateOf(data, now),
      validUntil: momentOf(validUntil),
      maxCalls: Number(maxCalls),
      callsUsed: Number(callsUsed),
      allowedEntrypoints: await readEntrypoints(read, sessionKey, allowedEntrypointsLength, nameOfFunction),
      policies: await readPolicies(read, sessionKey, [...ofTokens].slice(0, MAX_POLICIES), tokens),
    };
  });
  const hasAllSessions = isComplete && policies.size <= MAX_SESSIONS;
  return { sessions: sessions.filter((session) => session !== undefined), hasAllSessions };
}

async function readEvents(
  chain: StarknetChain,
  address: bigint,
  fromBlock: number,
): Promise<{ events: EmittedEvent[]; isComplete: boolean }> {
  const filter = { fromBlock, toBlock: 'latest', address, keys: [[SESSION_ADDED, POLICY_SET]] } as const;
  const events: EmittedEvent[] = [];
  let continuation: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await chain.events({ ...filter, limit: EVENTS_A_PAGE, continuation });
    events.push(...answer.events);
    continuation = answer.continuation;
    if (continuation === undefined) return { events, isComplete: true };
  }
  return { events, isComplete: false };
}

type Read = (entrypoint: string, calldata: readonly bigint[]) => Promise<readonly bigint[]>;

/** Nothing where the class has no such function: a wallet may have been upgraded to one without sessions. */
function reader(chain: StarknetChain, to: bigint): Read {
  return async (entrypoint, calldata) => {
    const call: ViewCall = { to, entrypoint, calldata };
    const outcome = await chain.call(call);
    return outcome.ok ? outcome.felts : [];
  };
}

function stateOf({ validUntil, maxCalls, callsUsed }: SessionData, nowSeconds: number): SessionState {
  if (validUntil === 0n) return 'REVOKED';
  if (Number(validUntil) <= nowSeconds) return 'EXPIRED';
  return callsUsed >= maxCalls ? 'EXHAUSTED' : 'ACTIVE';
}

async function readEntrypoints(
  read: Read,
  sessionKey: bigint,
  length: bigint,
  nameOf: ChainStateDeps['nameOfFunction'],
): Promise<Session['allowedEntrypoints']> {
  const indexes = Array.from({ length: Math.min(Number(length), MAX_ENTRYPOINTS) }, (_, index) => BigInt(index));
  const found = await inTurns(indexes, async (index) => {
    const [entrypoint] = await read(
      'get_session_allowed_entrypoint_at',
      encodeAllowedEntrypointAt({ sessionKey, index }),
    );
    return entrypoint === undefined ? [] : [{ selector: toHex(entrypoint), name: nameOf(entrypoint) ?? null }];
  });
  return found.flat();
}

async function readPolicies(
  read: Read,
  sessionKey: bigint,
  ofTokens: readonly bigint[],
  tokens: readonly Token[],
): Promise<Policy[]> {
  const found = await inTurns(ofTokens, async (token): Promise<Policy[]> => {
    const state = decodeSpendingPolicyState(await read('get_spending_policy', encodePolicyKey({ sessionKey, token })));
    // Removed: all zero.
    if (!state || state.windowSeconds === 0n) return [];
    const tokenAddress = padAddress(token);
    const known = tokens.find(({ address }) => address === tokenAddress);
    return [
      {
        tokenAddress,
        token: known?.token ?? null,
        decimals: known?.decimals ?? null,
        maxPerCall: state.maxPerCall.toString(),
        maxPerWindow: state.maxPerWindow.toString(),
        windowSeconds: Number(state.windowSeconds),
        spentInWindow: state.spentInWindow.toString(),
        windowStartedAt: momentOf(state.windowStart),
      },
    ];
  });
  return found.flat();
}

/** Of JavaScript; a session may be valid for longer. */
const LAST_SECOND = 253_402_300_799n;

const momentOf = (seconds: bigint): string | null =>
  seconds === 0n ? null : new Date(Number(seconds < LAST_SECOND ? seconds : LAST_SECOND) * 1_000).toISOString();

async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(work))));
  }
  return results;
}

type Endpoint = typeof endpoints.getTokenBalance;
type Query = QueryOf<Endpoint>;

/** The interface's address of native coins. */
const NATIVE_COIN = `0x${'0'.repeat(40)}`;

export async function tokenBalance(
  deps: Pick<WalletDeps, 'db' | 'networks'>,
  caller: Caller,
  query: Query,
): Promise<AnswerOf<Endpoint>> {
  const { chain, chainToken, externalUserId, walletPublicKey } = query;
  if ((externalUserId === undefined) === (walletPublicKey === undefined)) {
    throw new ApiError('invalid_request', 'Send either query.externalUserId or query.walletPublicKey.');
  }
  const token = deps.networks.token(caller.environment, chain, chainToken);
  if (!token) throw new ApiError('token_not_supported', `${chain} does not have ${chainToken}.`);
  const balance =
    chain === 'STARKNET'
      ? await starknetBalance(deps, caller, token, query)
      : await evmBalance(deps.networks, caller.environment, chain, token, query);
  return {
    chain,
    chainToken,
    chainTokenAddress: token.address ?? NATIVE_COIN,
    decimals: token.decimals,
    balance: balance.toString(),
  };
}

async function starknetBalance(
  { db, networks }: Pick<WalletDeps, 'db' | 'networks'>,
  caller: Caller,
  token: Token,
  { externalUserId, walletPublicKey }: Query,
): Promise<bigint> {
  const owner =
    externalUserId === undefined
      ? await readableAddress({ db }, caller, walletPublicKey ?? '')
      : (await newestWallet(db.reads, caller, externalUserId)).address;
  return networks.starknet(caller.environment).chain.balanceOf(BigInt(token.address ?? 0), BigInt(owner));
}

/** Balances are public, but a user's token reads its own wallets only. */
async function readableAddress({ db }: Pick<WalletDeps, 'db'>, caller: Caller, text: string) {
  const address = readAddress(text, 'query.walletPublicKey');
  if (caller.proof === 'user token' && !(await findWallet(db.reads, caller, address))) {
    throw new ApiError('wallet_not_found', 'This user has no wallet with this walletPublicKey.');
  }
  return address;
}

function evmBalance(
  networks: WalletDeps['networks'],
  environment: Environment,
  chain: EvmChainName,
  token: Token,
  { walletPublicKey }: Query,
): Promise<bigint> {
  if (walletPublicKey === undefined) {
    throw new ApiError('unsupported_chain', `Users have wallets on STARKNET only. On ${chain}, send walletPublicKey.`);
  }
  const owner = parseEvmAddress(walletPublicKey);
  if (!owner.ok) refuse('query.walletPublicKey', owner.reason);
  return networks.evm(environment, chain).balanceOf(evmAddressOf(token), owner.value);
}

function evmAddressOf({ address }: Token) {
  const parsed = address === null ? undefined : parseEvmAddress(address);
  return parsed?.ok ? parsed.value : null;
}
