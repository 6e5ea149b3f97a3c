import { CalldataReader, encodeArray } from './calldata.ts';

/** `add_or_update_session_key`. An empty list allows every entrypoint open to sessions. */
export interface SessionKey {
  readonly sessionKey: bigint;
  readonly validUntil: bigint;
  readonly maxCalls: bigint;
  readonly allowedEntrypoints: readonly bigint[];
}

export function encodeAddOrUpdateSessionKey(session: SessionKey): bigint[] {
  const { sessionKey, validUntil, maxCalls, allowedEntrypoints } = session;
  return [sessionKey, validUntil, maxCalls, ...encodeArray(allowedEntrypoints)];
}

export function decodeAddOrUpdateSessionKey(calldata: readonly bigint[]): SessionKey | undefined {
  const reader = new CalldataReader(calldata);
  return reader.finish({
    sessionKey: reader.felt(),
    validUntil: reader.uint(64n),
    maxCalls: reader.uint(32n),
    allowedEntrypoints: reader.array(() => reader.felt()),
  });
}

export function encodeSessionKey(sessionKey: bigint): bigint[] {
  return [sessionKey];
}

export function decodeSessionKey(calldata: readonly bigint[]): bigint | undefined {
  const reader = new CalldataReader(calldata);
  return reader.finish(reader.felt());
}

/** Answer of `get_session_data`; all zero if not registered. */
export interface SessionData {
  readonly validUntil: bigint;
  readonly maxCalls: bigint;
  readonly callsUsed: bigint;
  readonly allowedEntrypointsLength: bigint;
}

export function encodeSessionData(data: SessionData): bigint[] {
  return [data.validUntil, data.maxCalls, data.callsUsed, data.allowedEntrypointsLength];
}

export function decodeSessionData(result: readonly bigint[]): SessionData | undefined {
  const reader = new CalldataReader(result);
  return reader.finish({
    validUntil: reader.uint(64n),
    maxCalls: reader.uint(32n),
    callsUsed: reader.uint(32n),
    allowedEntrypointsLength: reader.uint(32n),
  });
}

export interface AllowedEntrypointAt {
  readonly sessionKey: bigint;
  readonly index: bigint;
}

export function encodeAllowedEntrypointAt({ sessionKey, index }: AllowedEntrypointAt): bigint[] {
  return [sessionKey, index];
}

export function decodeAllowedEntrypointAt(calldata: readonly bigint[]): AllowedEntrypointAt | undefined {
  const reader = new CalldataReader(calldata);
  return reader.finish({ sessionKey: reader.felt(), index: reader.uint(32n) });
}

/** Four felts; an owner's signature has two. */
export interface SessionSignature {
  readonly sessionKey: bigint;
  readonly r: bigint;
  readonly s: bigint;
  readonly validUntil: bigint;
}

export function encodeSessionSignature({ sessionKey, r, s, validUntil }: SessionSignature): bigint[] {
  return [sessionKey, r, s, validUntil];
}

export function decodeSessionSignature(signature: readonly bigint[]): SessionSignature | undefined {
  const reader = new CalldataReader(signature);
  return reader.finish({
    sessionKey: reader.felt(),
    r: reader.felt(),
    s: reader.felt(),
    validUntil: reader.uint(64n),
  });
}
