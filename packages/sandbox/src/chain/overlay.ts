import type { StateDiff, StateReader } from '../execution/types.ts';

/** A state with changes on top of it: what the next transaction of a block, or of a simulation, sees. */
export class Overlay implements StateReader {
  readonly #base: StateReader;
  readonly #storage = new Map<bigint, Map<bigint, bigint>>();
  readonly #classHashes = new Map<bigint, bigint>();
  readonly #nonces = new Map<bigint, bigint>();
  readonly #declared = new Set<bigint>();

  constructor(base: StateReader) {
    this.#base = base;
  }

  apply(diff: StateDiff): void {
    for (const [address, cells] of diff.storage) {
      const own = this.#storage.get(address) ?? new Map<bigint, bigint>();
      for (const [key, value] of cells) own.set(key, value);
      this.#storage.set(address, own);
    }
    for (const [address, classHash] of diff.classHashes) this.#classHashes.set(address, classHash);
    for (const [address, nonce] of diff.nonces) this.#nonces.set(address, nonce);
    for (const classHash of diff.declared) this.#declared.add(classHash);
  }

  async storageAt(address: bigint, key: bigint): Promise<bigint> {
    return this.#storage.get(address)?.get(key) ?? this.#base.storageAt(address, key);
  }

  async classHashAt(address: bigint): Promise<bigint> {
    return this.#classHashes.get(address) ?? this.#base.classHashAt(address);
  }

  async nonceAt(address: bigint): Promise<bigint> {
    return this.#nonces.get(address) ?? this.#base.nonceAt(address);
  }

  async isDeclared(classHash: bigint): Promise<boolean> {
    return this.#declared.has(classHash) || this.#base.isDeclared(classHash);
  }
}
