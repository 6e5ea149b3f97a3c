// A Sierra program: six version felts, then numbers packed with a code table.

/** Target of a branch to the next statement: the largest `usize` of a 64-bit compiler. */
export const FALLTHROUGH = 2n ** 64n - 1n;
/** The same from a 32-bit compiler; nodes refuse it. */
const FALLTHROUGH_32 = 2n ** 32n - 1n;

const PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;
const VERSION_FELTS = 6;
const MIN_CODE_SIZE = 256;
/** Ten times the largest classes of the network. */
const MAX_SIZE = 2n ** 24n;

export interface SierraProgram {
  readonly versions: readonly bigint[];
  readonly values: readonly bigint[];
}

export function unpackProgram(felts: readonly string[]): SierraProgram {
  const read = new NumberReader(felts.map(BigInt));
  const versions = read.take(VERSION_FELTS);
  const codeSize = read.size();
  const paddedSize = codeSize + read.size();
  if (paddedSize < MIN_CODE_SIZE) throw new Error(`The Sierra program has an impossible size: ${paddedSize}.`);
  const code = read.take(codeSize);
  let left = read.size();
  const perFelt = codesPerFelt(paddedSize);
  const values: bigint[] = [];
  while (left > 0) {
    let packed = read.next();
    for (let count = Math.min(perFelt, left); count > 0; count -= 1) {
      values.push(at(code, Number(packed % BigInt(paddedSize))));
      packed /= BigInt(paddedSize);
      left -= 1;
    }
  }
  read.end();
  return { versions, values };
}

export function packProgram({ versions, values }: SierraProgram): string[] {
  const code = new Map<bigint, number>();
  for (const value of values) if (!code.has(value)) code.set(value, code.size);
  const paddedSize = 2 ** Math.ceil(Math.log2(Math.max(MIN_CODE_SIZE, code.size)));
  const perFelt = codesPerFelt(paddedSize);
  const packed: bigint[] = [];
  for (let start = 0; start < values.length; start += perFelt) {
    const chunk = values.slice(start, start + perFelt);
    packed.push(chunk.reduceRight((sum, value) => sum * BigInt(paddedSize) + BigInt(code.get(value) ?? 0), 0n));
  }
  const sizes = [code.size, paddedSize - code.size].map(BigInt);
  const felts = [...versions, ...sizes, ...code.keys(), BigInt(values.length), ...packed];
  return felts.map((felt) => `0x${felt.toString(16)}`);
}

function codesPerFelt(paddedSize: number): number {
  let count = 0;
  for (let most = BigInt(paddedSize); most < PRIME; most *= BigInt(paddedSize)) count += 1;
  return count;
}

export interface Branches {
  readonly statements: number;
  /** Indexes of the branch targets in the values. */
  readonly targets: readonly number[];
}

/** Walks types, libfuncs, statements and functions, in the order of the compiler's `felt252_serde.rs`. */
export function findBranches({ values }: SierraProgram): Branches {
  const read = new NumberReader(values);
  const genericArguments = (count: number) => read.skip(2 * count);
  const list = () => read.skip(read.size());
  repeat(read.size(), () => {
    read.skip(1);
    // The upper bits hold the type's flags.
    genericArguments(Number(read.next() % 2n ** 128n));
  });
  repeat(read.size(), () => {
    read.skip(1);
    genericArguments(read.size());
  });
  const statements = read.size();
  const targets: number[] = [];
  repeat(statements, () => {
    const isReturn = read.size();
    if (isReturn > 1) throw new Error(`A statement has the kind ${isReturn}, which Sierra does not have.`);
    if (isReturn) return list();
    read.skip(1);
    list();
    repeat(read.size(), () => {
      targets.push(read.position);
      read.skip(1);
      list();
    });
  });
  repeat(read.size(), () => {
    const parameters = read.size();
    read.skip(parameters);
    list();
    read.skip(parameters + 1);
  });
  read.end();
  return { statements, targets };
}

/** Branch targets that are neither a statement nor a fallthrough. */
export function brokenTargets(program: SierraProgram): bigint[] {
  const { statements, targets } = findBranches(program);
  const values = targets.map((target) => at(program.values, target));
  return values.filter((target) => target >= BigInt(statements) && target !== FALLTHROUGH);
}

/** Rewrites fallthroughs of a 32-bit compiler; a valid program stays unchanged. */
export function repairProgram(felts: readonly string[]): string[] {
  const program = unpackProgram(felts);
  if (packProgram(program).join() !== felts.join()) throw new Error('The Sierra program does not survive repacking.');
  const targets = new Set(findBranches(program).targets);
  const values = program.values.map((value, index) => {
    if (value !== FALLTHROUGH_32) return value;
    if (!targets.has(index)) throw new Error(`The Sierra program has 2^32 - 1 outside its branches, at ${index}.`);
    return FALLTHROUGH;
  });
  return packProgram({ ...program, values });
}

class NumberReader {
  position = 0;
  readonly #values: readonly bigint[];

  constructor(values: readonly bigint[]) {
    this.#values = values;
  }

  next(): bigint {
    const value = at(this.#values, this.position);
    this.position += 1;
    return value;
  }

  size(): number {
    const value = this.next();
    if (value > MAX_SIZE) throw new Error(`The Sierra program has an impossible size: ${value}.`);
    return Number(value);
  }

  take(count: number): bigint[] {
    const start = this.position;
    this.skip(count);
    return this.#values.slice(start, this.position);
  }

  skip(count: number): void {
    this.position += count;
    if (this.position > this.#values.length) throw new Error('The Sierra program ends too early.');
  }

  end(): void {
    if (this.position < this.#values.length) throw new Error('The Sierra program goes on after its end.');
  }
}

function at(values: readonly bigint[], index: number): bigint {
  const value = values[index];
  if (value === undefined) throw new Error('The Sierra program ends too early.');
  return value;
}

function repeat(count: number, body: () => void): void {
  for (let done = 0; done < count; done += 1) body();
}
