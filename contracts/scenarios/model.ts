/** Something that every side has at an address or hash of its own. A scenario speaks of it by name. */
export const places = [
  'wallet',
  'other',
  'token',
  'coin',
  'relayer',
  'stranger',
  /** Who is paid. Has nothing at first. */
  'bob',
  'SVC class',
  'READY class',
] as const;
export type Place = (typeof places)[number];

/** One word of calldata, results and events. */
export type Felt = bigint | Place;

export type KeyName = 'owner' | 'session' | 'second' | 'thief';

export interface ScenarioCall {
  readonly to: Felt;
  readonly entrypoint: string;
  /** An outside execution in its place is signed first: that is how one account carries the word of another. */
  readonly calldata: readonly Felt[] | SignedExecution;
}

export interface Execution {
  readonly caller: Felt;
  readonly nonce: bigint;
  readonly after: bigint;
  readonly before: bigint;
  readonly calls: readonly ScenarioCall[];
}

/** What becomes of a good signature before it is sent. */
export const shapes = ['good', 'negated', 'empty', 'short', 'long', 'zero s', 'large s'] as const;
export type Shape = (typeof shapes)[number];

export interface Signature {
  /** Whose private key signs. */
  readonly key: KeyName;
  /** Four felts in place of two: the key that the signature claims to be of, and the end that it claims. */
  readonly session?: { readonly key: bigint; readonly validUntil: bigint };
  readonly shape?: Shape;
  /** What it is good for, where that is not where it is sent. */
  readonly chainId?: bigint;
  readonly account?: Place;
  readonly instead?: Execution;
}

export interface SignedExecution {
  readonly account: Place;
  readonly execution: Execution;
  readonly signature: Signature;
}

export interface ScenarioEvent {
  readonly from: Place;
  readonly name: string;
  readonly keys: readonly Felt[];
  readonly data: readonly Felt[];
}

export type Outcome =
  | { readonly succeeds: readonly Felt[]; readonly events: readonly ScenarioEvent[] }
  /** The words of the innermost refusal. Nothing has changed, and no event is there. */
  | { readonly reverts: string }
  /** Refused by `__validate__`, so the transaction never enters a block. */
  | { readonly refused: string }
  /** Not a contract's refusal but the system's own, for which each has words of its own. */
  | { readonly fails: 'by the system' };

/** Everything that is in one step, before what must come of it. */
export type Action =
  /** The block's time, exactly. */
  | { readonly kind: 'clock'; readonly at: bigint }
  | { readonly kind: 'deploy'; readonly as: 'wallet' | 'other'; readonly of: Place; readonly calldata: readonly Felt[] }
  /** Somebody sends what an account's owner or session signed. */
  | { readonly kind: 'relay'; readonly sender: Place; readonly signed: SignedExecution }
  /** A transaction of the account itself: `__validate__`, then `__execute__`. */
  | {
      readonly kind: 'transaction';
      readonly account: Place;
      readonly calls: readonly ScenarioCall[];
      readonly signature: Signature;
    }
  /** A plain call by somebody. By the wallet itself: as its owner would have it do. */
  | { readonly kind: 'call'; readonly sender: Place; readonly call: ScenarioCall }
  | { readonly kind: 'read'; readonly call: ScenarioCall };

export type Step = Action & { readonly outcome: Outcome };

export interface Scenario {
  /** The promise that it shows. */
  readonly name: string;
  readonly steps: readonly Step[];
}
