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
