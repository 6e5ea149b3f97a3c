import { verify } from '@svc/starknet';
import type { Frame } from './frame.ts';
import { require } from './panic.ts';
import { isVersion3 } from './transaction-version.ts';

/** Only the protocol itself starts a transaction, and only the version that all fees are paid with. */
export function requireProtocol(frame: Frame): void {
  require(frame.caller === 0n, 'Account: invalid caller');
  require(isVersion3(frame), 'Account: invalid tx version');
}

export function requireSelf(frame: Frame): void {
  require(frame.caller === frame.address, 'Account: unauthorized');
}

/** (r, s) and (r, -s) are both good for a key that is known by its x alone: what stops a replay is always a nonce. */
export function isSignedBy(publicKey: bigint, hash: bigint, signature: readonly bigint[]): boolean {
  const [r, s] = signature;
  return signature.length === 2 && r !== undefined && s !== undefined && verify(hash, publicKey, r, s);
}
