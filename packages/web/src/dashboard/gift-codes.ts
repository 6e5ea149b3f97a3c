/** Without characters that look alike: I and 1, O and 0, L. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const GROUPS = 2;
const GROUP_LENGTH = 5;

/** `K7QWM-9RTXB`: 49 bits of the browser's secure randomness. */
export function suggestCode(random = (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes)): string {
  const letters: string[] = [];
  while (letters.length < GROUPS * GROUP_LENGTH) {
    for (const byte of random(new Uint8Array(16))) {
      // Bytes above the last whole multiple would make some letters likelier.
      if (byte < 256 - (256 % LETTERS.length)) letters.push(LETTERS.charAt(byte % LETTERS.length));
    }
  }
  return Array.from({ length: GROUPS }, (_, group) =>
    letters.slice(group * GROUP_LENGTH, (group + 1) * GROUP_LENGTH).join(''),
  ).join('-');
}

export const CODE_PATTERN = /^[A-Za-z0-9_-]{4,64}$/;

const MAX_MICROS = 10_000_000_000n;
const DECIMALS = 6;

/** Above 0, at most 10,000, at most 6 decimals; in millionths. */
export function readGiftAmount(text: string): bigint | undefined {
  const [, whole, decimals = ''] = /^(\d{1,5})(?:\.(\d{1,6}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const micros = BigInt(whole + decimals.padEnd(DECIMALS, '0'));
  return micros > 0n && micros <= MAX_MICROS ? micros : undefined;
}

export function formatMicros(micros: bigint): string {
  const text = String(micros).padStart(DECIMALS + 1, '0');
  const decimals = text.slice(-DECIMALS).replace(/0+$/, '');
  return text.slice(0, -DECIMALS) + (decimals && `.${decimals}`);
}

interface GiftState {
  readonly isActive: boolean;
  readonly startsAt: string;
  readonly expiresAt: string | null;
  readonly totalRedeems: number;
  readonly maxRedeems: number;
}

export type GiftStatus = 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'WAITING' | 'USED';

/** Why a gift can or cannot be redeemed now, in the order in which the service refuses. */
export function statusOfGift(gift: GiftState, now = Date.now()): GiftStatus {
  if (!gift.isActive) return 'INACTIVE';
  if (Date.parse(gift.startsAt) > now) return 'WAITING';
  if (gift.expiresAt !== null && Date.parse(gift.expiresAt) <= now) return 'EXPIRED';
  return gift.totalRedeems >= gift.maxRedeems ? 'USED' : 'ACTIVE';
}
