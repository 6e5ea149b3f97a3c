import { chains, type RedeemChain } from './claim.ts';

/** Before the request; once its payout or burn is stored; once the redeem has ended. */
export type Moment = 'before' | 'under way' | 'ended';

/** Something that goes wrong on the way of a redeem, and when. */
export interface FaultCase {
  readonly chain: RedeemChain;
  readonly moment: Moment;
  /** Paths and bodies of the sandbox's controls. */
  readonly orders: readonly (readonly [path: string, order: object])[];
}

const NODE = '/starknet/faults';
const REORG = '/starknet/reorg';
const BRIDGE = '/bridge/faults';

/** Everything that paying out, burning and looking after both asks of a node. */
const METHODS = [
  'starknet_addInvokeTransaction',
  'starknet_estimateFee',
  'starknet_getNonce',
  'starknet_call',
  'starknet_getTransactionReceipt',
  'starknet_getTransactionStatus',
  'starknet_blockHashAndNumber',
];
/** An error that says nothing, one of the node's own, and the chain's no for a used nonce. */
const ERROR_CODES = [-32603, 63, 52];

const one = (chain: RedeemChain, moment: Moment, path: string, order: object): FaultCase => ({
  chain,
  moment,
  orders: [[path, order]],
});

/** Families of a kind, the worst first: of each a few are always tried. */
function nodeFamilies(chain: RedeemChain): FaultCase[][] {
  const answers = METHODS.flatMap((method, place) => [
    { kind: 'unavailable', method, count: 2 },
    { kind: 'error', code: ERROR_CODES[place % ERROR_CODES.length], message: 'no', method, count: 2 },
    { kind: 'slow', delayMs: 200, method, count: 2 },
    { kind: 'stale', blocks: 1 + (place % 4), method, count: 2 },
  ]);
  const sends = [
    { kind: 'revert', reason: 'out of luck' },
    { kind: 'forget' },
    { kind: 'lose-answer' },
    { kind: 'reject', reason: 'not today' },
  ];
  const reorgs = [1, 3].flatMap((blocks) => ['drop', 'requeue'].map((transactions) => ({ blocks, transactions })));
  return [
    sends.map((order) => one(chain, 'before', NODE, { ...order, method: METHODS[0] })),
    reorgs.flatMap((order) => [one(chain, 'ended', REORG, order), one(chain, 'under way', REORG, order)]),
    answers.map((order) => one(chain, 'before', NODE, order)),
    answers.map((order) => one(chain, 'under way', NODE, order)),
  ];
}

/** Not among them: too many requests, after which a process leaves the bridge alone for five minutes. */
function bridgeFamilies(): FaultCase[][] {
  const burns = [
    { kind: 'tampered-message', field: 'amount' },
    { kind: 'expired' },
    { kind: 'never-indexed' },
    { kind: 'forward-failed' },
    { kind: 'delayed', delaySeconds: 3 },
    ...['recipient', 'domain', 'token'].map((field) => ({ kind: 'tampered-message', field })),
  ];
  const requests = ['unavailable', 'no-answer'].flatMap((kind) => [
    unrenewed(kind),
    one('solana', 'before', BRIDGE, { kind, request: 'fees', count: 2 }),
    one('solana', 'before', BRIDGE, { kind, request: 'messages', count: 2 }),
    one('solana', 'under way', BRIDGE, { kind, request: 'messages', count: 2 }),
  ]);
  return [burns.map((order) => one('solana', 'before', BRIDGE, order)), requests];
}

/** An attestation that has expired, and whose renewal fails at first. */
const unrenewed = (kind: string): FaultCase => ({
  chain: 'solana',
  moment: 'before',
  orders: [
    [BRIDGE, { kind: 'expired' }],
    [BRIDGE, { kind, request: 'reattest' }],
  ],
});

/** One of each family after the other, so that a few seeds have met something of all of them. */
function taken(families: readonly FaultCase[][]): FaultCase[] {
  const longest = Math.max(...families.map((family) => family.length));
  return Array.from({ length: longest }, (_, place) =>
    families.flatMap((family) => family.slice(place, place + 1)),
  ).flat();
}

export const faultCases: readonly FaultCase[] = taken([...chains.flatMap(nodeFamilies), ...bridgeFamilies()]);
