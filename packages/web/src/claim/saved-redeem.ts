import type { RedeemChain } from '@svc/protocol';
import type { RedeemState, Runtime } from '@svc/sdk';

/** A redeem that was begun on this device: written down before it is asked for, so that no reload can ask for a second one. */
export interface KeptRedeem {
  readonly code: string;
  readonly chain: RedeemChain;
  readonly walletAddress: string;
  readonly amount: string;
  readonly token: string;
  /** The service does the same for the same key once, for 24 hours. */
  readonly idempotencyKey: string;
  readonly beganAtMs: number;
  /** From here on known to the service. */
  readonly redeemId?: string;
  readonly status?: RedeemState['status'];
  readonly estimatedSeconds?: number;
  readonly burnHash?: string;
  /** The transaction that brought the money. */
  readonly hash?: string;
}

/** The part of `localStorage` that is needed. */
export type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Codes are the same in any case. */
const nameOf = (code: string) => `svc-claim:${code.toUpperCase()}`;

export function readRedeem(shelf: Shelf, code: string): KeptRedeem | undefined {
  try {
    const kept: unknown = JSON.parse(shelf.getItem(nameOf(code)) ?? 'null');
    return isKept(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

export const keepRedeem = (shelf: Shelf, redeem: KeptRedeem): void =>
  shelf.setItem(nameOf(redeem.code), JSON.stringify(redeem));

export const forgetRedeem = (shelf: Shelf, code: string): void => shelf.removeItem(nameOf(code));

/** What another version of this page wrote is not trusted to be whole. */
function isKept(value: unknown): value is KeptRedeem {
  const texts = ['code', 'walletAddress', 'amount', 'token', 'idempotencyKey'] as const;
  const given = value as Partial<KeptRedeem> | null;
  if (typeof given !== 'object' || given === null || typeof given.beganAtMs !== 'number') return false;
  return texts.every((name) => typeof given[name] === 'string') && ['starknet', 'solana'].includes(given.chain ?? '');
}

/** The browser's own memory, or, where it has none for us (a private window, a full disk), that of this page alone. */
export function openShelf(open: () => Shelf): Shelf {
  const memory = new Map<string, string>();
  const attempt = <T>(use: (shelf: Shelf) => T, otherwise: () => T): T => {
    try {
      return use(open());
    } catch {
      return otherwise();
    }
  };
  return {
    getItem: (name) =>
      memory.get(name) ??
      attempt(
        (shelf) => shelf.getItem(name),
        () => null,
      ),
    setItem: (name, value) =>
      attempt(
        (shelf) => {
          shelf.setItem(name, value);
          memory.delete(name);
        },
        () => void memory.set(name, value),
      ),
    removeItem: (name) => {
      memory.delete(name);
      attempt(
        (shelf) => shelf.removeItem(name),
        () => undefined,
      );
    },
  };
}

/** An idempotency key: no two are alike. Not `crypto.randomUUID`, which pages without TLS do not have. */
export function newKey(runtime: Pick<Runtime, 'randomBytes'>): string {
  return Array.from(runtime.randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
