import { SvcKeyError } from '../client/errors.ts';
import { parseEncryptKey } from './encrypt-key.ts';
import { boundary, type Envelope, parseEnvelope } from './envelope.ts';
import { hex64 } from './hex-64.ts';
import { parsePrivateKey } from './private-key.ts';
import { unwrap } from './slot.ts';
import { type Bytes, decrypt } from './web-crypto.ts';

export interface KeyToOpen {
  /** What `sealKey` gave. */
  readonly envelope: string;
  readonly encryptKey: string;
  readonly boundTo: bigint;
}

export interface OpenedEnvelope extends Envelope {
  readonly privateKey: bigint;
  readonly dataKey: Bytes;
  /** Which of the slots the encryptKey opened. */
  readonly opened: number;
}

/** Decrypts a private key. A wrong encryptKey, another address and a changed envelope cannot be told apart. */
export async function openKey(params: KeyToOpen): Promise<bigint> {
  return (await openEnvelope(params)).privateKey;
}

export async function openEnvelope({ envelope, encryptKey, boundTo }: KeyToOpen): Promise<OpenedEnvelope> {
  const { slots, sealed } = parseEnvelope(envelope);
  const secret = parseEncryptKey(encryptKey);
  const address = hex64(boundTo);
  for (const [opened, slot] of slots.entries()) {
    const dataKey = secret && (await unwrap(slot, secret, address));
    const bytes = dataKey && (await decrypt(dataKey, sealed, boundary(slots, address)));
    const privateKey = bytes && parsePrivateKey(bytes);
    if (dataKey && privateKey !== undefined) return { slots, sealed, privateKey, dataKey, opened };
  }
  throw new SvcKeyError('decryption_failed', 'The private key does not open: wrong encryptKey, or not of this wallet.');
}
