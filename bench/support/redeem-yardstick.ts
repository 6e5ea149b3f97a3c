import { connect, type Database, migrate, sql } from '@svc/store';
import { serverMigrations } from '../../packages/server/src/database.ts';
import { credit, type LedgerOwner } from '../../packages/server/src/ledger/ledger.ts';
import { newId } from '../../packages/server/src/util/ids.ts';
import { stockGifts } from './gift-stock.ts';
import { pgbench } from './pgbench.ts';
import { PAID_TOGETHER, type RedeemScripts, redeemScripts } from './redeem-script.ts';

const CREDITS = 1_000_000_000_000n;
const MANY_REDEEMS = 1_000_000;
/** Far from each other, so that codes of different uses never meet. */
const SAMPLE_CODE = 9_000_000_000;
const FIRST_CODE = 1_000_000_000;

export type Codes = 'many' | 'one';
export type Extent = keyof RedeemScripts;

/** What pgbench redeems from: the service's own tables in a database without payouts. */
export class RedeemYardstick {
  readonly db: Database;
  readonly #owner: LedgerOwner;
  readonly #scripts: Record<Codes, RedeemScripts>;
  #nextCode = FIRST_CODE;
  #runs = 0;

  private constructor(db: Database, owner: LedgerOwner, scripts: Record<Codes, RedeemScripts>) {
    this.db = db;
    this.#owner = owner;
    this.#scripts = scripts;
  }

  static async open(url: string): Promise<RedeemYardstick> {
    await migrate(url, [serverMigrations]);
    const db = connect(url, { max: 2, applicationName: 'bench yardstick' });
    const owner: LedgerOwner = { organizationId: newId('org'), environment: 'development' };
    const { organizationId, environment } = owner;
    await db.run(sql`insert into organizations (id, name) values (${organizationId}, 'Bench')`);
    await db.run(
      sql`insert into environments (organization_id, environment) values (${organizationId}, ${environment})`,
    );
    await credit(db, { ...owner, type: 'GRANT', amount: CREDITS, reference: 'bench' });
    const ofMany = Array.from({ length: PAID_TOGETHER }, (_, place) => String(SAMPLE_CODE + place));
    const ofOne = String(SAMPLE_CODE + PAID_TOGETHER);
    await stockGifts(db, owner, ofMany);
    await stockGifts(db, owner, [ofOne], MANY_REDEEMS);
    return new RedeemYardstick(db, owner, {
      many: await redeemScripts(db, ofMany, () => ':first + :client_id * :each + :turn - 1'),
      one: await redeemScripts(
        db,
        ofMany.map(() => ofOne),
        () => ':first',
      ),
    });
  }

  /** `each` is a multiple of what is paid together. */
  async redeem(codes: Codes, extent: Extent, clients: number, each: number): Promise<number> {
    const first = this.#nextCode;
    const count = codes === 'many' ? clients * each : 1;
    this.#nextCode += count;
    this.#runs += 1;
    const wanted = Array.from({ length: count }, (_, place) => String(first + place));
    await stockGifts(this.db, this.#owner, wanted, codes === 'many' ? 1 : clients * each);
    const together = extent === 'whole' ? PAID_TOGETHER : 1;
    const perSecond = await pgbench({
      url: this.db.url,
      script: this.#scripts[codes][extent],
      clients,
      transactionsEach: each / together,
      variables: { first, each, run: this.#runs, turn: 0 },
    });
    return perSecond * together;
  }

  close(): Promise<void> {
    return this.db.close();
  }
}
