import { connect, createServer, type Socket } from 'node:net';
import { chains, type RedeemChain } from './gifts.ts';

/** A seeded generator (mulberry32). */
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

export const seedCount = (usual: number): number => Number(process.env.SVC_SEEDS ?? usual);

/** Loads that no seed chooses are smaller with fewer seeds than this, too. */
const FEW_SEEDS = 4;
export const sized = (whole: number, few: number): number => (seedCount(FEW_SEEDS) < FEW_SEEDS ? few : whole);

/** Each seed takes a case of its own range, so that enough seeds take every case. */
export function spread<T>(seed: number, seeds: number, cases: readonly T[]): T {
  const from = Math.floor((seed * cases.length) / seeds);
  const to = Math.max(from + 1, Math.floor(((seed + 1) * cases.length) / seeds));
  const chosen = cases[from + Math.floor(random(seed)() * (to - from))];
  if (chosen === undefined) throw new Error('There is no case for this seed.');
  return chosen;
}

export interface DatabaseProxy {
  readonly url: string;
  sent(): number;
  /** Calls `cut` at the chunk `count` from now, before or after it is passed on. */
  cutAfter(count: number, when: 'before' | 'after', cut: () => void): void;
  /** Calls `cut` at the first statement with this text, or at the commit of its transaction. */
  cutAt(place: StatementPlace, when: 'before' | 'after', cut: () => void): void;
  close(): void;
}

export interface StatementPlace {
  /** A connection sends the text of a statement once. */
  readonly sql: string;
  readonly isCommitted: boolean;
}

type IsThere = (chunk: Buffer, database: Socket) => boolean;

function placeOf({ sql, isCommitted }: StatementPlace): IsThere {
  let within: Socket | undefined;
  return (chunk, database) => {
    if (within) return within === database && chunk.includes('commit');
    if (!chunk.includes(sql)) return false;
    if (isCommitted) within = database;
    return !isCommitted;
  };
}

/** A proxy between a process and its PostgreSQL. */
export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let sent = 0;
  let plan: { isThere: IsThere; when: 'before' | 'after'; cut: () => void } | undefined;

  const pass = (chunk: Buffer, database: Socket) => {
    sent += 1;
    if (!plan?.isThere(chunk, database)) return database.write(chunk);
    const { when, cut } = plan;
    plan = undefined;
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
      const at = sent + count;
      plan = { isThere: () => sent >= at, when, cut };
    },
    cutAt: (place, when, cut) => {
      plan = { isThere: placeOf(place), when, cut };
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Before the request; once the payout or burn is stored; once the redeem has ended. */
export type Moment = 'before' | 'under way' | 'ended';

export interface FaultCase {
  readonly chain: RedeemChain;
  readonly moment: Moment;
  /** Paths and bodies of the sandbox's controls. */
  readonly orders: readonly (readonly [path: string, order: object])[];
}

const NODE = '/starknet/faults';
const REORG = '/starknet/reorg';
const BRIDGE = '/bridge/faults';

/** Every method that payouts and burns call. */
const METHODS = [
  'starknet_addInvokeTransaction',
  'starknet_estimateFee',
  'starknet_getNonce',
  'starknet_call',
  'starknet_getTransactionReceipt',
  'starknet_getTransactionStatus',
  'starknet_blockHashAndNumber',
];
/** An internal error, an unexpected one, and an invalid nonce. */
const ERROR_CODES = [-32603, 63, 52];

const one = (chain: RedeemChain, moment: Moment, path: string, order: object): FaultCase => ({
  chain,
  moment,
  orders: [[path, order]],
});

/** By kind, the worst first: a few of each are always tried. */
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

/** Without 429: after it a process does not call the bridge for five minutes. */
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

/** An expired attestation whose renewal fails at first. */
const unrenewed = (kind: string): FaultCase => ({
  chain: 'solana',
  moment: 'before',
  orders: [
    [BRIDGE, { kind: 'expired' }],
    [BRIDGE, { kind, request: 'reattest' }],
  ],
});

/** Alternates between the families, so that a few seeds meet all of them. */
function taken(families: readonly FaultCase[][]): FaultCase[] {
  const longest = Math.max(...families.map((family) => family.length));
  return Array.from({ length: longest }, (_, place) =>
    families.flatMap((family) => family.slice(place, place + 1)),
  ).flat();
}

export const faultCases: readonly FaultCase[] = taken([...chains.flatMap(nodeFamilies), ...bridgeFamilies()]);
