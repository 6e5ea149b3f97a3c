import type { Runtime } from '../client/client.ts';
import { SvcInputError, SvcKeyError } from '../client/errors.ts';
import { fromBase64url, toBase64url } from '../client/values.ts';
import { type Bytes, decrypt, type EncryptKey, encrypt, expand, type Stretching, stretch } from './cipher.ts';

/**
 * `svc1.<slot>…<slot>.<sealed key>`: the private key encrypted with a random data key, and the data key wrapped once
 * for each encryptKey. The sealed key is bound to all slots and the address, each slot to its own parameters and the
 * address.
 */
export interface Envelope {
  readonly slots: readonly Slot[];
  readonly sealed: Bytes;
}

const PREFIX = 'svc1.';
const SEALED_BYTES = 60;
/** A passkey and a backup are two; each further slot costs one more stretching for a mistyped PIN. */
export const MAX_SLOTS = 4;
/** Limit of WebAssembly memory in browsers. */
const MAX_MEMORY_KIB = 1_048_576;
const MAX_LANES = 16;
/** Memory times passes of all slots: ten seconds at worst, so that no envelope hangs a page. */
const MAX_WORK_KIB = 4 * MAX_MEMORY_KIB;
/** Argon2 divides each lane into four slices of two blocks. */
const MIN_LANE_KIB = 8;

export const isEnvelope = (text: string) => typeof text === 'string' && text.startsWith(PREFIX);

/** Throws for anything but a canonical envelope, and for excessive cost parameters before any work. */
export function parseEnvelope(text: string): Envelope {
  if (!isEnvelope(text)) {
    throw new SvcKeyError('unsupported_envelope', 'This is not an encrypted private key of a known format.');
  }
  const parts = text.slice(PREFIX.length).split('.', MAX_SLOTS + 2);
  const sealed = fromBase64url(parts.pop() ?? '');
  const slots = parts.map(parseSlot).filter((slot) => slot !== undefined);
  if (sealed?.length !== SEALED_BYTES || slots.length === 0 || slots.length !== parts.length) {
    throw new SvcKeyError('decryption_failed', 'The encrypted private key is damaged.');
  }
  checkWork(slots);
  return { slots, sealed };
}

export function formatEnvelope({ slots, sealed }: Envelope): string {
  if (slots.length > MAX_SLOTS) {
    throw new SvcInputError('invalid_input', `A private key can have ${MAX_SLOTS} encryptKeys at most.`);
  }
  return `${PREFIX}${[...slots.map(formatSlot), toBase64url(sealed)].join('.')}`;
}

export const boundary = (slots: readonly Slot[], address: string) =>
  `svc1 key ${slots.map(formatSlot).join('.')} ${address}`;

function checkWork(slots: readonly Slot[]): void {
  let work = 0;
  for (const { stretching } of slots) {
    if (!stretching) continue;
    const { memoryKib, passes, lanes } = stretching;
    work += memoryKib * passes;
    if (lanes <= MAX_LANES && memoryKib >= MIN_LANE_KIB * lanes && memoryKib <= MAX_MEMORY_KIB) continue;
    throw new SvcKeyError('unsupported_envelope', 'The encrypted private key asks for parameters out of bounds.');
  }
  if (slots.length <= MAX_SLOTS && work <= MAX_WORK_KIB) return;
  throw new SvcKeyError('unsupported_envelope', 'The encrypted private key asks for too much work.');
}

export interface Slot {
  readonly kind: EncryptKey['kind'];
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

export async function wrap(
  dataKey: Bytes,
  { kind, bytes }: EncryptKey,
  address: string,
  { runtime, stretching: requested }: { runtime: Runtime; stretching: Stretching },
): Promise<Slot> {
  const salt = runtime.randomBytes(SALT_BYTES);
  const stretching = kind === 'passkey' ? undefined : requested;
  const key = await wrappingKey({ stretching, salt }, bytes);
  return {
    kind,
    stretching,
    salt,
    wrapped: await encrypt(key, dataKey, bound({ stretching, salt }, address), runtime),
  };
}

/** Undefined if this encryptKey does not open this slot. */
export async function unwrap(slot: Slot, { kind, bytes }: EncryptKey, address: string): Promise<Bytes | undefined> {
  if (kind !== slot.kind) return undefined;
  return decrypt(await wrappingKey(slot, bytes), slot.wrapped, bound(slot, address));
}

function wrappingKey({ stretching, salt }: Pick<Slot, 'stretching' | 'salt'>, secret: Bytes): Promise<Bytes> {
  return stretching ? stretch(secret, salt, stretching) : expand(secret, salt);
}

const bound = (slot: Pick<Slot, 'stretching' | 'salt'>, address: string) => `svc1 slot ${head(slot)} ${address}`;
