import type { Runtime } from '../client/runtime.ts';
import { proveSealed } from '../keys/prove-sealed.ts';
import { type KeyToSeal, sealKey } from '../keys/seal-key.ts';

/** Seals a key, and answers the envelope once it is proven to open. */
export async function sealProven(key: KeyToSeal, runtime: Runtime): Promise<string> {
  const envelope = await sealKey(key, runtime);
  await proveSealed(envelope, key);
  return envelope;
}
