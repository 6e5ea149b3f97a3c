import type { StateDiff, StateReader } from './types.ts';

class Cells {
  readonly original = new Map<bigint, bigint>();
  readonly current = new Map<bigint, bigint>();

  *changes(): Generator<[bigint, bigint]> {
    for (const [key, value] of this.current) if (this.original.get(key) !== value) yield [key, value];
  }

  firstWrites(): number {
    let count = 0;
    for (const [key] of this.changes()) if (this.original.get(key) === 0n) count += 1;
    return count;
  }
}

/** The state during one transaction. An undo log lets a failing call be rolled back alone. */
export class ExecutionState {
  readonly #reader: StateReader;
  readonly #storage = new Map<bigint, Cells>();
  readonly #classHashes = new Cells();
  readonly #nonces = new Cells();
  readonly #declared = new Set<bigint>();
  readonly #undo: (() => void)[] = [];

  constructor(reader: StateReader) {
    this.#reader = reader;
  }

  storageAt(address: bigint, key: bigint): Promise<bigint> {
    return read(this.#cells(address), key, () => this.#reader.storageAt(address, key));
  }

  async setStorage(address: bigint, key: bigint, value: bigint): Promise<void> {
    await this.storageAt(address, key);
    this.#set(this.#cells(address), key, value);
  }

  classHashAt(address: bigint): Promise<bigint> {
    return read(this.#classHashes, address, () => this.#reader.classHashAt(address));
  }

  async setClassHash(address: bigint, classHash: bigint): Promise<void> {
    await this.classHashAt(address);
    this.#set(this.#classHashes, address, classHash);
  }

  nonceAt(address: bigint): Promise<bigint> {
    return read(this.#nonces, address, () => this.#reader.nonceAt(address));
  }

  async setNonce(address: bigint, nonce: bigint): Promise<void> {
    await this.nonceAt(address);
    this.#set(this.#nonces, address, nonce);
  }

  async isDeclared(classHash: bigint): Promise<boolean> {
    return this.#declared.has(classHash) || this.#reader.isDeclared(classHash);
  }

  declare(classHash: bigint): void {
    this.#declared.add(classHash);
    this.#undo.push(() => this.#declared.delete(classHash));
  }

  mark(): number {
    return this.#undo.length;
  }

  rollback(mark: number): void {
    while (this.#undo.length > mark) this.#undo.pop()?.();
  }

  diff(): StateDiff {
    const storage = new Map<bigint, Map<bigint, bigint>>();
    for (const [address, cells] of this.#storage) {
      const changed = new Map(cells.changes());
      if (changed.size > 0) storage.set(address, changed);
    }
    return {
      storage,
      nonces: new Map(this.#nonces.changes()),
      classHashes: new Map(this.#classHashes.changes()),
      declared: new Set(this.#declared),
    };
  }

  firstWrites(): number {
    let count = 0;
    for (const cells of this.#storage.values()) count += cells.firstWrites();
    return count;
  }

  #cells(address: bigint): Cells {
    const cells = this.#storage.get(address) ?? new Cells();
    this.#storage.set(address, cells);
    return cells;
  }

  #set(cells: Cells, key: bigint, value: bigint): void {
    const previous = cells.current.get(key) ?? 0n;
    cells.current.set(key, value);
    this.#undo.push(() => cells.current.set(key, previous));
  }
}

async function read(cells: Cells, key: bigint, load: () => Promise<bigint>): Promise<bigint> {
  const known = cells.current.get(key);
  if (known !== undefined) return known;
  const value = await load();
  cells.original.set(key, value);
  cells.current.set(key, value);
  return value;
}
