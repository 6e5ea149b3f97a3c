import { SvcKeyError } from '../client/errors.ts';
import { openKey } from './open-key.ts';
import type { KeyToSeal } from './seal-key.ts';

/** Opens an envelope once with each encryptKey: one that does not open would be a wallet lost. */
export async function proveSealed(envelope: string, { privateKey, boundTo, encryptKeys }: KeyToSeal): Promise<void> {
  for (const encryptKey of encryptKeys) {
    if ((await openKey({ envelope, encryptKey, boundTo })) === privateKey) continue;
    throw new SvcKeyError('wrong_key', 'The sealed key did not come out as it went in. Nothing was stored.');
  }
}
