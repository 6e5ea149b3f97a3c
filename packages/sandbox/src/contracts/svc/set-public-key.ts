import type { WalletClass } from '@svc/starknet';
import { requireSelf } from '../account-rules.ts';
import { felt } from '../codec.ts';
import { action, type ContractFunction } from '../function.ts';
import { require } from '../panic.ts';
import { OwnerRemoved, ownerKey, setOwner } from './owner.ts';
import { isRegistered } from './sessions.ts';

/** Hands the account over. A session's key as the owner's would lift its limits: it signs the same hashes. */
export function setPublicKey({ current }: WalletClass): ContractFunction {
  return action('set_public_key', { new_public_key: felt }, async (frame, { new_public_key }) => {
    requireSelf(frame);
    require(!current || !(await isRegistered(frame, new_public_key)), 'Account: invalid public key');
    OwnerRemoved.emit(frame, { removed_owner_guid: await ownerKey.read(frame) });
    await setOwner(frame, new_public_key);
  });
}
