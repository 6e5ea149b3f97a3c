import type { RedeemChain } from '@svc/protocol';
import type { RedeemState, Runtime } from '@svc/sdk';

/** A redeem started on this device. Saved before the request is sent, so that a reload cannot redeem twice. */
export interface SavedRedeem {
  readonly code: string;
  readonly chain: RedeemChain;
  readonly walletAddress: string;
  readonly amount: string;
  readonly token: string;
  /** The service deduplicates by this key for 24 hours. */
  readonly idempotencyKey: string;
  readonly beganAtMs: number;
  /** Set once the service has accepted the redeem. */
  readonly redeemId?: string;
  readonly status?: RedeemState['status'];
  readonly estimatedSeconds?: number;
  readonly burnHash?: string;
  /** Transaction on the receiving chain. */
  readonly hash?: string;
}

export type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Codes are case-insensitive. */
const storageKey = (code: string) => `svc-claim:${code.toUpperCase()}`;

export function loadRedeem(storage: KeyValueStorage, code: string): SavedRedeem | undefined {
  try {
    const saved: unknown = JSON.parse(storage.getItem(storageKey(code)) ?? 'null');
    return isSavedRedeem(saved) ? saved : undefined;
  } catch {
    return undefined;
  }
}

export const saveRedeem = (storage: KeyValueStorage, redeem: SavedRedeem): void =>
  storage.setItem(storageKey(redeem.code), JSON.stringify(redeem));

export const deleteRedeem = (storage: KeyValueStorage, code: string): void => storage.removeItem(storageKey(code));

/** Another version of this page may have written it. */
function isSavedRedeem(value: unknown): value is SavedRedeem {
  const texts = ['code', 'walletAddress', 'amount', 'token', 'idempotencyKey'] as const;
  const given = value as Partial<SavedRedeem> | null;
  if (typeof given !== 'object' || given === null || typeof given.beganAtMs !== 'number') return false;
  return texts.every((name) => typeof given[name] === 'string') && ['starknet', 'solana'].includes(given.chain ?? '');
}

/** `localStorage`, or memory of this page where that fails (private window, full disk). */
export function openStorage(open: () => KeyValueStorage): KeyValueStorage {
  const memory = new Map<string, string>();
  const attempt = <T>(use: (storage: KeyValueStorage) => T, otherwise: () => T): T => {
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
        (storage) => storage.getItem(name),
        () => null,
      ),
    setItem: (name, value) =>
      attempt(
        (storage) => {
          storage.setItem(name, value);
          memory.delete(name);
        },
        () => void memory.set(name, value),
      ),
    removeItem: (name) => {
      memory.delete(name);
      attempt(
        (storage) => storage.removeItem(name),
        () => undefined,
      );
    },
  };
}

/** Not `crypto.randomUUID`, which pages without TLS lack. */
export function newIdempotencyKey(runtime: Pick<Runtime, 'randomBytes'>): string {
  return Array.from(runtime.randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
