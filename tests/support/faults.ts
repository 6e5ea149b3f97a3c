import { connect, createServer, type Socket } from 'node:net';
import { chains, type RedeemChain } from './gifts.ts';

/** A small generator of numbers that are the same for the same seed, everywhere. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(next: () => number, items: readonly T[]): T => {
  const item = items[Math.floor(next() * items.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
};

/** How many seeds a suite runs: a few as a rule, as many as wanted by `SVC_SEEDS`. */
export const seedCount = (usual: number): number => Number(process.env.SVC_SEEDS ?? usual);

/** One of all the cases for a seed: each seed has a stretch of its own, so that enough seeds take every case. */
export function spread<T>(seed: number, seeds: number, cases: readonly T[]): T {
  const from = Math.floor((seed * cases.length) / seeds);
  const to = Math.max(from + 1, Math.floor(((seed + 1) * cases.length) / seeds));
  const chosen = cases[from + Math.floor(random(seed)() * (to - from))];
  if (chosen === undefined) throw new Error('There is no case for this seed.');
  return chosen;
}

export interface Wire {
  /** The database's address by way of the wire. */
  readonly url: string;
  /** How many times something was sent to the database so far. */
  sent(): number;
  /** Calls `cut` once, when so much more was sent: in place of the last thing, or right after it went on. */
  cutAfter(count: number, when: 'before' | 'after', cut: () => void): void;
  close(): void;
}

/** Stands between a process and its PostgreSQL and passes everything on, until it is told to cut. */
export async function openWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let sent = 0;
  let plan: { at: number; when: 'before' | 'after'; cut: () => void } | undefined;

  const pass = (chunk: Buffer, database: Socket) => {
    sent += 1;
    if (plan === undefined || sent < plan.at) return database.write(chunk);
    const { when, cut } = plan;
    plan = { at: Number.POSITIVE_INFINITY, when, cut };
    if (when === 'after') database.write(chunk);
    cut();
    return true;
  };
  const server = createServer((client) => {
    const database = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        database.end();
      });
    }
    client.on('data', (chunk: Buffer) => pass(chunk, database));
    database.on('data', (chunk) => client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: url.href,
    sent: () => sent,
    cutAfter: (count, when, cut) => {
      plan = { at: sent + count, when, cut };
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

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
