import { requireSelf } from '../account-rules.ts';
import { classHash, felt, span } from '../codec.ts';
import { event, key } from '../event.ts';
import type { Frame } from '../frame.ts';
import { action } from '../function.ts';
import { require } from '../panic.ts';
import { readyGuardian, readyOwner } from '../ready/storage.ts';
import { ownerKey } from './owner.ts';

export const Upgraded = event('Upgraded', { class_hash: key(classHash) });

async function replaceClass(frame: Frame, newClass: bigint): Promise<void> {
  require(newClass !== 0n, 'Account: invalid class hash');
  await frame.replaceClass(newClass);
  Upgraded.emit(frame, { class_hash: newClass });
}

export const upgrade = action('upgrade', { new_class_hash: classHash }, async (frame, { new_class_hash }) => {
  requireSelf(frame);
  await replaceClass(frame, new_class_hash);
});

/** A READY account runs this over its own storage when its owner upgrades it to SVC. */
export const performUpgrade = action(
  'perform_upgrade',
  { new_implementation: classHash, data: span(felt) },
  async (frame, { new_implementation, data }) => {
    requireSelf(frame);
    const owner = await readyOwner.read(frame);
    require(owner !== 0n, 'Account: no legacy owner');
    // Two keys guard such an account; one alone must not come out of it.
    require((await readyGuardian.read(frame)) === 0n, 'Account: guardian is set');
    // Calls that the owner signed for; dropping them in silence would be worse.
    require(data.length === 0, 'Account: unexpected data');
    await ownerKey.write(frame, owner);
    await readyOwner.write(frame, 0n);
    await replaceClass(frame, new_implementation);
  },
);
