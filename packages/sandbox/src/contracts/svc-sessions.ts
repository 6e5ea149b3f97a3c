import { type Call, type SessionSignature, selector, type WalletClass } from '@svc/starknet';
import { requireSelf } from './calls.ts';
import { array, bool, felt, require, tuple, u32, u64, type Value } from './codec.ts';
import { action, type ContractFunction, event, type Frame, key, map, view } from './contract.ts';
import { ownerKey } from './svc-owner.ts';

const session = tuple({ valid_until: u64, max_calls: u32, calls_used: u32, allowed_entrypoints_len: u32 });

const sessions = map('sessions', session);
const entrypointAt = map('session_entrypoints', felt);
/** By session key, epoch and selector: a new list starts a new epoch, which invalidates the old one. */
const allowed = map('session_allowed', bool);
const epochs = map('session_epochs', u32);

export const SessionKeyAdded = event('SessionKeyAdded', { session_key: key(felt), valid_until: u64, max_calls: u32 });
export const SessionKeyRevoked = event('SessionKeyRevoked', { session_key: key(felt) });

const UNREGISTERED: Value<typeof session> = {
  valid_until: 0n,
  max_calls: 0n,
  calls_used: 0n,
  allowed_entrypoints_len: 0n,
};

/** Forbidden to sessions on every contract. */
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
const forbidden = new Set(OWNER_ENTRYPOINTS.map((name) => selector(name)));

export async function requireSession(frame: Frame, signature: SessionSignature, calls: readonly Call[]): Promise<void> {
  const { sessionKey, validUntil } = signature;
  const { valid_until, max_calls, calls_used, allowed_entrypoints_len } = await sessions.read(frame, sessionKey);
  require(valid_until !== 0n && valid_until === validUntil, 'Session: not registered');
  require(frame.block.timestamp < valid_until, 'Session: expired');
  require(calls_used < max_calls, 'Session: no calls left');
  const epoch = await epochs.read(frame, sessionKey);
  for (const call of calls) {
    const own = call.to === frame.address || forbidden.has(call.selector);
    require(!own, 'Session: entrypoint not allowed');
    if (allowed_entrypoints_len === 0n) continue;
    require(await allowed.read(frame, sessionKey, epoch, call.selector), 'Session: entrypoint not allowed');
  }
}

/** One signed execution counts as one call, with any number of calls inside. */
export async function useSession(frame: Frame, sessionKey: bigint): Promise<void> {
  const current = await sessions.read(frame, sessionKey);
  require(current.calls_used < current.max_calls, 'Session: no calls left');
  await sessions.write(frame, [sessionKey], { ...current, calls_used: current.calls_used + 1n });
}

export async function isRegistered(frame: Frame, sessionKey: bigint): Promise<boolean> {
  return (await sessions.read(frame, sessionKey)).valid_until !== 0n;
}

const newSession = { session_key: felt, valid_until: u64, max_calls: u32, allowed_entrypoints: array(felt) };

/** The current class refuses the owner key as session key: its signatures would also be valid without the session's limits. */
function addOrUpdate({ current }: WalletClass): ContractFunction {
  return action('add_or_update_session_key', newSession, async (frame, args) => {
    const { session_key, valid_until, max_calls, allowed_entrypoints } = args;
    requireSelf(frame);
    require(session_key !== 0n, 'Session: invalid key');
    require(!current || session_key !== (await ownerKey.read(frame)), 'Session: invalid key');
    require(frame.block.timestamp < valid_until, 'Session: expired');
    const epoch = (await epochs.read(frame, session_key)) + 1n;
    await epochs.write(frame, [session_key], epoch);
    for (const [index, entrypoint] of allowed_entrypoints.entries()) {
      await entrypointAt.write(frame, [session_key, BigInt(index)], entrypoint);
      await allowed.write(frame, [session_key, epoch, entrypoint], true);
    }
    const allowed_entrypoints_len = BigInt(allowed_entrypoints.length);
    await sessions.write(frame, [session_key], { valid_until, max_calls, calls_used: 0n, allowed_entrypoints_len });
    SessionKeyAdded.emit(frame, { session_key, valid_until, max_calls });
  });
}

const revoke = action('revoke_session_key', { session_key: felt }, async (frame, { session_key }) => {
  requireSelf(frame);
  await sessions.write(frame, [session_key], UNREGISTERED);
  SessionKeyRevoked.emit(frame, { session_key });
});

export function sessionFunctions(known: WalletClass): readonly ContractFunction[] {
  return [addOrUpdate(known), revoke, ...sessionReads];
}

const sessionReads: readonly ContractFunction[] = [
  view('get_session_data', { session_key: felt }, session, (frame, args) => sessions.read(frame, args.session_key)),
  view('get_session_allowed_entrypoint_at', { session_key: felt, index: u32 }, felt, async (frame, args) => {
    const { allowed_entrypoints_len } = await sessions.read(frame, args.session_key);
    require(args.index < allowed_entrypoints_len, 'Index out of bounds');
    return entrypointAt.read(frame, args.session_key, args.index);
  }),
];
