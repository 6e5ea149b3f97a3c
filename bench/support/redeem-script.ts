import type { Database, Sql } from '@svc/store';
import { type ClaimDeps, findByCode, takePlace } from '../../packages/server/src/gifts/claim.ts';
import { ClaimProofs, CodeLookup } from '../../packages/server/src/gifts/code-lookup.ts';
import { endRedeems } from '../../packages/server/src/gifts/redeem.ts';
import { recording, spelled } from './record-statements.ts';

const NO_LIMIT = 1_000_000_000;
const CLIENT = '198.51.100.1';

/** Nothing is paid here, so no chain is needed. */
const chains = {
  networks: { tokens: () => [], starknet: () => ({ paymentAddress: '0x1' }) } as unknown as ClaimDeps['networks'],
  manager: () => 2n,
  canBridge: () => false,
};

export interface RedeemScripts {
  /** Looks a code up and reserves, as the service does. */
  readonly reserving: string;
  /** The same for `PAID_TOGETHER` codes, one after the other, and every row that the end of their payout changes. */
  readonly whole: string;
}

/** About what the service pays at once with 64 clients. */
export const PAID_TOGETHER = 25;

interface Recorded {
  readonly place: number;
  readonly lookup: Sql;
  readonly reservation: Sql;
  /** Values of the recorded statements, and what pgbench has in their place. */
  readonly names: ReadonlyMap<unknown, string>;
}

/** Redeems gifts by the service's own functions and records their SQL for pgbench. `codeOf` is an expression of it. */
export async function redeemScripts(
  db: Database,
  codes: readonly string[],
  codeOf: (place: number) => string,
): Promise<RedeemScripts> {
  const reserved: Recorded[] = [];
  for (const [place, code] of codes.entries()) reserved.push(await recordOne(db, place, code));
  const ending: Sql[] = [];
  const ends = reserved.map(({ names }) => {
    return { id: idIn(names), end: 'SUCCESS', transactionHash: '0xfee' } as const;
  });
  await db.tx((tx) => endRedeems(recording(tx, ending), ends));
  let entries = 0;
  const nameOf = (value: unknown) => {
    if (typeof value === 'string' && value.startsWith('led_') && !reserved.some(({ names }) => names.has(value))) {
      return `redeem_${entries++}`;
    }
    return reserved.map(({ names }) => names.get(value)).find((name) => name !== undefined);
  };
  const [first] = reserved;
  if (!first) throw new Error('There is nothing to record.');
  const last = ending.map((query) => `${spelled(query, nameOf)};`);
  return {
    reserving: [...reserving(first, codeOf), ''].join('\n'),
    whole: [...reserved.flatMap((each) => reserving(each, codeOf)), 'begin;', ...last, 'end;', ''].join('\n'),
  };
}

const addressAt = (place: number) => `0x${(0xb0b + place).toString(16).padStart(64, '0')}`;
const idIn = (names: ReadonlyMap<unknown, string>) =>
  String([...names].find(([, name]) => name.startsWith('redeem'))?.[0]);

async function recordOne(db: Database, place: number, code: string): Promise<Recorded> {
  const statements: Sql[] = [];
  const recorded = { ...db, ...recording(db, statements) };
  const codes = new CodeLookup({
    db: recorded,
    limits: { perClient: NO_LIMIT, total: NO_LIMIT },
    proofs: new ClaimProofs(new Uint8Array(32)),
    log: { info: () => {}, warn: () => {} },
  });
  const gift = await findByCode({ codes }, { client: CLIENT }, code);
  if (!gift) throw new Error(`There is no gift ${code}.`);
  const address = addressAt(place);
  const deps = { ...chains, db: recorded, codes, payouts: { wake: () => {} } } as unknown as ClaimDeps;
  const destination = { chain: 'starknet', address, shownAddress: address } as const;
  const { id } = await takePlace(deps, gift, { destination, requestKey: undefined });
  const [lookup, reservation] = statements;
  if (!lookup || !reservation || statements.length > 2) throw new Error('A redeem is not reserved by two statements.');
  const names = new Map<unknown, string>([
    [code.toLowerCase(), `code_${place}`],
    [`codes ${CLIENT}`, 'client'],
    [gift.id, `gift_${place}_id`],
    [gift.holdId, `gift_${place}_holdId`],
    [id, `redeem_${place}`],
    [address, `redeem_${place}`],
  ]);
  return { place, lookup, reservation, names };
}

/** Identifiers are numbers here, shorter than the service's. `run` is another for each run, `turn` begins at 0. */
function reserving({ place, lookup, reservation, names }: Recorded, codeOf: (place: number) => string): string[] {
  const nameOf = (value: unknown) => names.get(value);
  return [
    '\\set turn :turn + 1',
    `\\set redeem_${place} :run * 1000000000 + :client_id * 1000000 + :turn`,
    '\\set client :client_id',
    `\\set code_${place} ${codeOf(place)}`,
    `${spelled(lookup, nameOf)} \\gset gift_${place}_`,
    `${spelled(reservation, nameOf)};`,
  ];
}
