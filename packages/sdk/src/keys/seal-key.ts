import { SvcKeyError } from '../client/errors.ts';
import { defaultRuntime, type Runtime } from '../client/runtime.ts';
import { readEncryptKey } from './encrypt-key.ts';
import { boundary, formatEnvelope } from './envelope.ts';
import { hex64 } from './hex-64.ts';
import { isPrivateKey, privateKeyBytes } from './private-key.ts';
import { type Slot, wrap } from './slot.ts';
import { DEFAULT_STRETCHING, type Stretching } from './stretch.ts';
import { type Bytes, encrypt } from './web-crypto.ts';

export interface KeyToSeal {
  readonly privateKey: bigint;
  /** The address that the key belongs to: the envelope opens for no other. */
  readonly boundTo: bigint;
  /** PINs, passphrases or secrets of passkeys. Any one of them opens the envelope. */
  readonly encryptKeys: readonly string[];
}

const DATA_KEY_BYTES = 32;

/** Encrypts a private key. The text may be given to the service: without an encryptKey it says nothing. */
export async function sealKey(
  { privateKey, boundTo, encryptKeys }: KeyToSeal,
  runtime: Runtime = defaultRuntime,
  stretching: Stretching = DEFAULT_STRETCHING,
): Promise<string> {
  const secrets = encryptKeys.map(readEncryptKey);
  if (secrets.length === 0) throw new SvcKeyError('weak_encrypt_key', 'A private key needs at least one encryptKey.');
  const address = hex64(boundTo);
  const dataKey = runtime.randomBytes(DATA_KEY_BYTES);
  const slots: Slot[] = [];
  // One after the other: each stretching fills its memory.
  for (const secret of secrets) slots.push(await wrap(dataKey, secret, address, { runtime, stretching }));
  return sealWith(dataKey, slots, { privateKey, address }, runtime);
}

/** The envelope of a private key whose slots are made already. */
export async function sealWith(
  dataKey: Bytes,
  slots: readonly Slot[],
  { privateKey, address }: { privateKey: bigint; address: string },
  runtime: Runtime,
): Promise<string> {
  if (!isPrivateKey(privateKey)) throw new SvcKeyError('wrong_key', 'This is not a private key of the Stark curve.');
  const sealed = await encrypt(dataKey, privateKeyBytes(privateKey), boundary(slots, address), runtime);
  return formatEnvelope({ slots, sealed });
}
