import type { Runtime } from '../client/runtime.ts';
import { fromBase64url, toBase64url } from './base64url.ts';
import type { EncryptKey } from './encrypt-key.ts';
import { expand, type Stretching, stretch } from './stretch.ts';
import { type Bytes, decrypt, encrypt } from './web-crypto.ts';

/** One way to open an envelope: the data key, wrapped by what one encryptKey gives. */
export interface Slot {
  readonly kind: EncryptKey['kind'];
  /** Undefined for a passkey's secret, which needs none. */
  readonly stretching: Stretching | undefined;
  readonly salt: Bytes;
  readonly wrapped: Bytes;
}

const SALT_BYTES = 16;
const ARGON2ID = /^argon2id,([1-9]\d{0,9}),([1-9]\d{0,9}),([1-9]\d{0,9}),([\w-]{22}),([\w-]{80})$/;
const HKDF = /^hkdf-sha256,([\w-]{22}),([\w-]{80})$/;

/** `argon2id,memory,passes,lanes,salt,wrapped` or `hkdf-sha256,salt,wrapped`. Undefined for anything else. */
export function parseSlot(text: string): Slot | undefined {
  const stretched = ARGON2ID.exec(text);
  const [salt = '', wrapped = ''] = (stretched?.slice(4) ?? HKDF.exec(text)?.slice(1)) || [];
  const bytes = { salt: fromBase64url(salt), wrapped: fromBase64url(wrapped) };
  if (!bytes.salt?.length || !bytes.wrapped?.length) return undefined;
  const found = { salt: bytes.salt, wrapped: bytes.wrapped };
  if (!stretched) return { ...found, kind: 'passkey', stretching: undefined };
  const [memoryKib = 0, passes = 0, lanes = 0] = stretched.slice(1, 4).map(Number);
  return { ...found, kind: 'passphrase', stretching: { memoryKib, passes, lanes } };
}

export const formatSlot = (slot: Slot) => `${head(slot)},${toBase64url(slot.wrapped)}`;

function head({ stretching, salt }: Pick<Slot, 'stretching' | 'salt'>): string {
  if (!stretching) return `hkdf-sha256,${toBase64url(salt)}`;
  return ['argon2id', stretching.memoryKib, stretching.passes, stretching.lanes, toBase64url(salt)].join();
}

/** Wraps a data key for one encryptKey. `address` is what the envelope is bound to. */
export async function wrap(
  dataKey: Bytes,
  { kind, bytes }: EncryptKey,
  address: string,
  { runtime, stretching: wanted }: { runtime: Runtime; stretching: Stretching },
): Promise<Slot> {
  const salt = runtime.randomBytes(SALT_BYTES);
  const stretching = kind === 'passkey' ? undefined : wanted;
  const key = await wrappingKey({ stretching, salt }, bytes);
  return {
    kind,
    stretching,
    salt,
    wrapped: await encrypt(key, dataKey, bound({ stretching, salt }, address), runtime),
  };
}

/** Undefined when this encryptKey does not open this slot. */
export async function unwrap(slot: Slot, { kind, bytes }: EncryptKey, address: string): Promise<Bytes | undefined> {
  if (kind !== slot.kind) return undefined;
  return decrypt(await wrappingKey(slot, bytes), slot.wrapped, bound(slot, address));
}

function wrappingKey({ stretching, salt }: Pick<Slot, 'stretching' | 'salt'>, secret: Bytes): Promise<Bytes> {
  return stretching ? stretch(secret, salt, stretching) : expand(secret, salt);
}

const bound = (slot: Pick<Slot, 'stretching' | 'salt'>, address: string) => `svc1 slot ${head(slot)} ${address}`;
