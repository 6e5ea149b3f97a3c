import { interfaceIds, VALID } from '@svc/starknet';
import { isSignedBy } from './calls.ts';
import { array, bool, felt, require } from './codec.ts';
import { type ContractFunction, event, type Frame, key, variable, view } from './contract.ts';

export const ownerKey = variable('public_key', felt);

export const OwnerAdded = event('OwnerAdded', { new_owner_guid: key(felt) });
export const OwnerRemoved = event('OwnerRemoved', { removed_owner_guid: key(felt) });

/** An account without a valid key would be lost. */
export async function setOwner(frame: Frame, publicKey: bigint): Promise<void> {
  require(publicKey !== 0n, 'Account: invalid public key');
  await ownerKey.write(frame, publicKey);
  OwnerAdded.emit(frame, { new_owner_guid: publicKey });
}

export async function isOwnerSignature(frame: Frame, hash: bigint, signature: readonly bigint[]): Promise<boolean> {
  return isSignedBy(await ownerKey.read(frame), hash, signature);
}

export async function requireOwnerSignature(frame: Frame, hash: bigint, signature: readonly bigint[]): Promise<void> {
  require(await isOwnerSignature(frame, hash, signature), 'Account: invalid signature');
}

const INTERFACES: readonly bigint[] = [interfaceIds.SRC5, interfaceIds.SRC6, interfaceIds.OUTSIDE_EXECUTION_V2];

export const ownerFunctions: readonly ContractFunction[] = [
  // Messages are signed by the owner only, never by a session.
  view('is_valid_signature', { hash: felt, signature: array(felt) }, felt, async (frame, { hash, signature }) =>
    (await isOwnerSignature(frame, hash, signature)) ? VALID : 0n,
  ),
  view('supports_interface', { interface_id: felt }, bool, (_frame, args) => INTERFACES.includes(args.interface_id)),
  view('get_public_key', {}, felt, (frame) => ownerKey.read(frame)),
];
