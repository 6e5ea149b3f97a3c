/** An x coordinate of the curve without the division. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

/** Faster versions of what takes longest. All arguments are checked before. */
export interface Engine {
  /** The first felt of Poseidon's permutation of three. */
  poseidon(a: bigint, b: bigint, c: bigint): bigint;
  /** Of a list that has its padding. */
  poseidonMany(items: readonly bigint[]): bigint;
  /** Of one felt with each of some others, at least one. */
  pedersenEach(a: bigint, others: readonly bigint[]): bigint[];
  /** x of a multiple of the generator. Zero has none. */
  generatorMultiple(scalar: bigint): Fraction | undefined;
  /** x of a multiple of the points with this x, neither of them zero. Undefined where the curve has no such point. */
  keyMultiple(publicKey: bigint, scalar: bigint): Fraction | undefined;
}

let current: Engine | undefined;

/** Without one, or after `undefined`, everything is plain JavaScript, which runs wherever WebAssembly is refused. */
export function useEngine(engine: Engine | undefined): void {
  current = engine;
}

export function engine(): Engine | undefined {
  return current;
}
