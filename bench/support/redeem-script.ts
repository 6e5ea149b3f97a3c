import { type Database, type Sql, sql } from '@svc/store';
import { type ClaimDeps, findByCode, reserve } from '../../packages/server/src/gifts/claim.ts';
import { ClaimProofs } from '../../packages/server/src/gifts/claim-proof.ts';
import { CodeLookup } from '../../packages/server/src/gifts/code-lookup.ts';
import { endRedeems } from '../../packages/server/src/gifts/redeem.ts';
import { recording, spelled } from './record-statements.ts';

const NO_LIMIT = 1_000_000_000;
const CLIENT = '198.51.100.1';
const ADDRESS = `0x${'b0b'.padStart(64, '0')}`;

/** Nothing is paid here, so no chain is needed. */
const chains = {
  networks: { tokens: () => [], starknet: () => ({ paymentAddress: '0x1' }) } as unknown as ClaimDeps['networks'],
  manager: () => 2n,
  canBridge: () => false,
};

export interface RedeemScripts {
  /** Looks the code up and reserves, as the service does: two transactions. */
  readonly reserving: string;
  /** The same, and every row that the end changes, in the second of the two: one commit less than the service needs for one. */
  readonly whole: string;
}

/** Redeems a gift by the service's own functions and records their SQL for pgbench. `codeLine` sets variable `code`. */
export async function redeemScripts(db: Database, code: string, codeLine: string): Promise<RedeemScripts> {
  const looking: Sql[] = [];
  const reserving: Sql[] = [];
  const ending: Sql[] = [];
  const codes = new CodeLookup({
    db: recording(db, looking),
    limits: { perClient: NO_LIMIT, total: NO_LIMIT },
    proofs: new ClaimProofs(new Uint8Array(32)),
    log: { info: () => {}, warn: () => {} },
  });
  const gift = await findByCode({ codes }, { client: CLIENT }, code);
  if (!gift) throw new Error(`There is no gift ${code}.`);
  const destination = { chain: 'starknet', address: ADDRESS, shownAddress: ADDRESS } as const;
  const deps = { ...chains, db, codes } as unknown as ClaimDeps;
  const redeem = await db.tx(async (tx) => {
    const id = await reserve(deps, recording(tx, reserving), { giftId: gift.id, destination, requestKey: undefined });
    await endRedeems(recording(tx, ending), [{ id, end: 'SUCCESS', transactionHash: ADDRESS }]);
    return id;
  });
  const names = new Map<unknown, string>([
    [code.toLowerCase(), 'code'],
    [`codes ${CLIENT}`, 'client'],
    [gift.id, 'id'],
    [gift.holdId, 'holdId'],
    [redeem, 'redeem'],
    [ADDRESS, 'address'],
  ]);
  const entry = (value: unknown) => (typeof value === 'string' && value.startsWith('led_') ? 'entry' : undefined);
  const spell = (query: Sql) => inItsLane(spelled(query, (value) => names.get(value) ?? entry(value)));
  const [lookup = sql``] = looking;
  const [lock = sql``, ...reservation] = reserving;
  // What the two have answered are variables of their own: the gift's id and its hold.
  const begun = [variables(codeLine), `${spell(lookup)} \\gset`, 'begin;', `${spell(lock)} \\gset`];
  const lines = (queries: readonly Sql[]) => queries.map((query) => `${spell(query)};`);
  return {
    reserving: [...begun, ...lines(reservation), 'end;', ''].join('\n'),
    whole: [...begun, ...lines(reservation), ...lines(ending), 'end;', ''].join('\n'),
  };
}

/** The payout's job is one of several, chosen by the redeem: so it is here. */
const inItsLane = (statement: string) =>
  statement.replace(/(E?'[^']*development )[0-7]([^']*')/, "replace($1@$2, '@', (:lane)::text)");

/** Identifiers are numbers here, shorter than the service's. `run` is another for each run, `turn` begins at 0. */
const variables = (codeLine: string) => `\\set turn :turn + 1
\\set redeem :run * 1000000000 + :client_id * 1000000 + :turn
\\set entry :redeem
\\set lane :redeem % 8
\\set address :redeem
\\set client :client_id
${codeLine}`;
