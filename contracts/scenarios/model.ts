/** Names for addresses and class hashes, which differ between the sandbox and the Cairo tests. */
export const places = [
  'wallet',
  'other',
  'token',
  'coin',
  'relayer',
  'stranger',
  /** Recipient, without funds at first. */
  'bob',
  'SVC class',
  'READY class',
] as const;
export type Place = (typeof places)[number];

export type Felt = bigint | Place;

export type KeyName = 'owner' | 'session' | 'second' | 'thief';

export interface ScenarioCall {
  readonly to: Felt;
  readonly entrypoint: string;
  /** An outside execution is signed and encoded: a call that carries another account's signed execution. */
  readonly calldata: readonly Felt[] | SignedExecution;
}

export interface Execution {
  readonly caller: Felt;
  readonly nonce: bigint;
  readonly after: bigint;
  readonly before: bigint;
  readonly calls: readonly ScenarioCall[];
}

/** How a valid signature is altered before it is sent. */
export const shapes = ['good', 'negated', 'empty', 'short', 'long', 'zero s', 'large s'] as const;
export type Shape = (typeof shapes)[number];

/** One signer's part of a treasury's signature. */
export interface SignerEntry {
  readonly privateKey: bigint;
  /** As claimed in the list. */
  readonly publicKey: bigint;
  readonly shape?: Extract<Shape, 'good' | 'negated' | 'zero s' | 'large s'>;
}

export interface Signature {
  readonly key: KeyName;
  /** A treasury's signature, in place of the key's. */
  readonly entries?: readonly SignerEntry[];
  /** Felts after the entries. */
  readonly tail?: number;
  /** Four felts instead of two: claimed session key and end. */
  readonly session?: { readonly key: bigint; readonly validUntil: bigint };
  readonly shape?: Shape;
  /** Overrides of what the signature covers. */
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
  /** The innermost reason. State and events are unchanged. */
  | {
      readonly reverts: string;
      /** What a node says, where the protocol refuses before the contract is called. */
      readonly onNode: string;
    }
  /** Refused by `__validate__`, so the transaction never enters a block. */
  | { readonly refused: string }
  /** Fails outside of a contract; the message differs per system. */
  | { readonly fails: 'by the system' };

/** A step without its outcome. */
export type Action =
  /** Sets the block's timestamp. */
  | { readonly kind: 'clock'; readonly at: bigint }
  | { readonly kind: 'deploy'; readonly as: 'wallet' | 'other'; readonly of: Place; readonly calldata: readonly Felt[] }
  /** Another account sends what the owner or a session signed. */
  | { readonly kind: 'relay'; readonly sender: Place; readonly signed: SignedExecution }
  /** A transaction of the account: `__validate__`, then `__execute__`. */
  | {
      readonly kind: 'transaction';
      readonly account: Place;
      readonly calls: readonly ScenarioCall[];
      readonly signature: Signature;
    }
  /** A plain call. From the wallet: as a call of the account to itself. */
  | { readonly kind: 'call'; readonly sender: Place; readonly call: ScenarioCall }
  | { readonly kind: 'read'; readonly call: ScenarioCall };

export type Step = Action & { readonly outcome: Outcome };

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}
