import { decodeSessionData, encodeAllowedEntrypointAt, encodeSessionKey, type SessionData } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcChainError } from '../client/errors.ts';
import { callContract } from '../node/call-contract.ts';
import { sessionError } from './session-errors.ts';

/** A session as the wallet contract has it. */
export interface OnChainSession {
  readonly validUntil: bigint;
  readonly remainingCalls: bigint;
  /** Selectors; empty allows all. */
  readonly allowedEntrypoints: readonly bigint[];
}

/** The contract's list has no bound of its own; an app that reads a longer one is being fooled. */
const MAX_ENTRYPOINTS = 1_000;
/** Public nodes answer a few questions at once gladly, and a hundred not at all. */
const AT_ONCE = 10;

/** Undefined when the wallet does not know the key. */
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
    const count = Math.min(AT_ONCE, Number(length) - selectors.length);
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
