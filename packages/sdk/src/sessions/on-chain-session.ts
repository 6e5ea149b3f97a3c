import {
  type Call,
  decodeSessionData,
  encodeAllowedEntrypointAt,
  encodeSessionKey,
  type SessionData,
  selector,
  toHex,
} from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcChainError, SvcError } from '../client/errors.ts';
import { isObject } from '../client/values.ts';
import { type Ask, atNewest, callContract, chainTime, type RpcAnswer, withNode } from '../node/rpc.ts';
import { sessionError } from './session-wallet.ts';

export interface OnChainSession {
  readonly validUntil: bigint;
  readonly remainingCalls: bigint;
  /** Selectors; empty allows all. */
  readonly allowedEntrypoints: readonly bigint[];
}

/** The contract has no bound; a longer list is an attack. */
const MAX_ENTRYPOINTS = 1_000;
/** Public nodes reject too many parallel requests. */
const MAX_PARALLEL = 10;

/** Undefined if the wallet does not know the key. */
export async function readOnChainSession(
  client: Client,
  walletAddress: bigint,
  sessionKey: bigint,
): Promise<OnChainSession | undefined> {
  const data = await readData(client, walletAddress, sessionKey);
  if (data.validUntil === 0n) return undefined;
  return {
    validUntil: data.validUntil,
    remainingCalls: data.maxCalls > data.callsUsed ? data.maxCalls - data.callsUsed : 0n,
    allowedEntrypoints: await readEntrypoints(client, walletAddress, sessionKey, data.allowedEntrypointsLength),
  };
}

async function readData(client: Client, contractAddress: bigint, sessionKey: bigint): Promise<SessionData> {
  const calldata = encodeSessionKey(sessionKey);
  try {
    const result = await callContract(client, { contractAddress, entrypoint: 'get_session_data', calldata });
    const data = decodeSessionData(result);
    if (data) return data;
  } catch (error) {
    if (!(error instanceof SvcChainError) || error.code !== 'entrypoint_not_found') throw error;
    throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION', { cause: error });
  }
  throw new SvcChainError('call_failed', 'get_session_data answered something else than the data of a session.');
}

async function readEntrypoints(client: Client, contractAddress: bigint, sessionKey: bigint, length: bigint) {
  if (length > MAX_ENTRYPOINTS) throw new SvcChainError('call_failed', `The session lists ${length} functions.`);
  const selectors: bigint[] = [];
  while (selectors.length < length) {
    const count = Math.min(MAX_PARALLEL, Number(length) - selectors.length);
    const indexes = Array.from({ length: count }, (_, offset) => BigInt(selectors.length + offset));
    selectors.push(...(await Promise.all(indexes.map((index) => readEntrypoint({ sessionKey, index })))));
  }
  return selectors;

  async function readEntrypoint(at: { sessionKey: bigint; index: bigint }): Promise<bigint> {
    const entrypoint = 'get_session_allowed_entrypoint_at';
    const [selector] = await callContract(client, {
      contractAddress,
      entrypoint,
      calldata: encodeAllowedEntrypointAt(at),
    });
    if (selector !== undefined) return selector;
    throw new SvcChainError('call_failed', `${entrypoint} answered nothing.`);
  }
}

export interface SessionToCheck {
  readonly walletAddress: bigint;
  readonly sessionKey: bigint;
  /** As stored by the app, Unix seconds. */
  readonly validUntil: number;
  readonly calls: readonly Call[];
}

/** Never allowed for a session, regardless of its list. */
const OWNER_ENTRYPOINTS = [
  'upgrade',
  'add_or_update_session_key',
  'revoke_session_key',
  'set_spending_policy',
  'remove_spending_policy',
  '__execute__',
  'execute_from_outside_v2',
  'set_public_key',
];

/** Verifies on the chain that the session may make these calls now, before anything is signed or sent. */
export async function checkSession(client: Client, check: SessionToCheck): Promise<OnChainSession> {
  const { walletAddress, sessionKey, calls } = check;
  const [session, now] = await Promise.all([readOnChainSession(client, walletAddress, sessionKey), chainTime(client)]);
  if (!session) throw await unknownKeyError(client, check, now);
  if (session.validUntil <= now) throw sessionError('SESSION_EXPIRED');
  if (session.remainingCalls === 0n) throw sessionError('SESSION_MAX_CALLS_EXCEEDED');
  if (!calls.every((call) => isAllowed(call, walletAddress, session))) {
    throw sessionError('SESSION_ENTRYPOINT_NOT_ALLOWED');
  }
  return session;
}

/** An unregistered key: expired, revoked or never registered. */
async function unknownKeyError(client: Client, { walletAddress, sessionKey, validUntil }: SessionToCheck, now: bigint) {
  if (await wasRevoked(client, walletAddress, sessionKey)) return sessionError('SESSION_REVOKED');
  return sessionError(BigInt(validUntil) <= now ? 'SESSION_EXPIRED' : 'SESSION_NOT_REGISTERED');
}

function isAllowed(call: Call, walletAddress: bigint, { allowedEntrypoints }: OnChainSession): boolean {
  if (call.to === walletAddress) return false;
  if (OWNER_ENTRYPOINTS.some((name) => selector(name) === call.selector)) return false;
  return allowedEntrypoints.length === 0 || allowedEntrypoints.includes(call.selector);
}

/** One event is enough. */
const CHUNK = 1;
/** Nodes scan a range of blocks at a time and may return empty pages. */
const MAX_PAGES = 10;

/**
 * Whether an unknown session key was revoked or never registered. The contract's storage is the same for both; a
 * revocation leaves an event. If the node cannot tell, it counts as not registered.
 */
export async function wasRevoked(client: Client, walletAddress: bigint, sessionKey: bigint): Promise<boolean> {
  const filter = {
    from_block: { block_number: 0 },
    address: toHex(walletAddress),
    keys: [[toHex(selector('SessionKeyRevoked'))], [toHex(sessionKey)]],
    chunk_size: CHUNK,
  };
  try {
    const answer = await withNode(client, (ask) => atNewest((to_block) => hasEvent(ask, { ...filter, to_block })));
    return answer.ok && answer.value;
  } catch (error) {
    if (error instanceof SvcError) return false;
    throw error;
  }
}

async function hasEvent(ask: Ask, filter: object): Promise<RpcAnswer<boolean>> {
  let continuation_token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { ...filter, ...(continuation_token !== undefined && { continuation_token }) };
    const answer = await ask('starknet_getEvents', { filter: query }, readPage);
    if (!answer.ok) return answer;
    const { found, next } = answer.value;
    if (found || next === undefined) return { ok: true, value: found };
    continuation_token = next;
  }
  return { ok: true, value: false };
}

function readPage(result: unknown): { found: boolean; next: string | undefined } | undefined {
  if (!isObject(result) || !Array.isArray(result.events)) return undefined;
  const { events, continuation_token } = result;
  return { found: events.length > 0, next: typeof continuation_token === 'string' ? continuation_token : undefined };
}
