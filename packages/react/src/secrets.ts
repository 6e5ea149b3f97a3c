/** They never enter the cache, which developer tools show and apps may store. */
const SECRETS = ['encryptKey', 'newEncryptKey', 'backupEncryptKey', 'encryptedPrivateKey', 'privateKey'] as const;
type Secret = (typeof SECRETS)[number];

/** Parameters hold secrets in `wallet` and `session`, no deeper. */
const MAX_DEPTH = 2;

/** The type without PINs, passphrases and encrypted private keys, its own and those of `wallet` and `session`. */
export type WithoutSecrets<T> = T extends object
  ? { [K in keyof T as Exclude<K, Secret>]: K extends 'wallet' | 'session' ? Omit<T[K], Secret> : T[K] }
  : T;

/** A copy without PINs, passphrases and encrypted private keys. */
export function withoutSecrets<T>(value: T): WithoutSecrets<T> {
  return strip(value, MAX_DEPTH) as WithoutSecrets<T>;
}

function strip(value: unknown, depth: number): unknown {
  if (depth === 0 || !isPlain(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !(SECRETS as readonly string[]).includes(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, strip(inner, depth - 1)]));
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Secrets of opened wallets, in memory, for a limited time. */
export interface Vault {
  get(address: string): string | undefined;
  put(address: string, encryptKey: string): void;
  /** Without an address: all of them. */
  forget(address?: string): void;
  subscribe(listener: () => void): () => void;
}

/** Addresses are equal by value, however they are written. */
const idOf = (address: string) => BigInt(address).toString(16);

export function createVault(keepMs: number): Vault {
  const secrets = new Map<string, { readonly encryptKey: string; readonly timer: ReturnType<typeof setTimeout> }>();
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const drop = (id: string) => {
    clearTimeout(secrets.get(id)?.timer);
    secrets.delete(id);
  };
  return {
    get: (address) => secrets.get(idOf(address))?.encryptKey,
    put: (address, encryptKey) => {
      if (keepMs <= 0) return;
      const id = idOf(address);
      drop(id);
      const timer = setTimeout(() => {
        drop(id);
        notify();
      }, keepMs);
      secrets.set(id, { encryptKey, timer });
      notify();
    },
    forget: (address) => {
      for (const id of address === undefined ? [...secrets.keys()] : [idOf(address)]) drop(id);
      notify();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
