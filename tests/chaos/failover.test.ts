import { connect, type Database, sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOf, Owner, transferOf } from '../support/app.ts';
import { auditGifts, giftsSettled, settled } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { sized } from '../support/faults.ts';
import { claimAt, GiftFixture, newWallet } from '../support/gifts.ts';
import { PostgresPair } from '../support/postgres-pair.ts';
import { PRICE_RAW, PurchaseFixture, references } from '../support/purchases.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

/** Of each kind, before the primary is killed and after the standby was promoted. */
const ENOUGH = sized(5, 3);
const CLIENTS_EACH = 2;
const MAX_OPERATIONS = 10_000;
/** An operation takes a second, and a busy machine is many times slower. */
const ANSWER_MS = 240_000;
const TEST_MS = 900_000;

let pair: PostgresPair;
let service: TestService;
let gifts: GiftFixture;
let purchases: PurchaseFixture;
beforeAll(async () => {
  pair = await PostgresPair.start();
  service = await TestService.start({}, new TestDatabase(pair.url));
  gifts = new GiftFixture(service);
  purchases = await PurchaseFixture.start(service);
  await purchases.sandbox.ask('/provider/settings', { slowSeconds: 0 });
}, TEST_MS);
afterAll(async () => {
  await service?.stop();
  await pair?.stop();
});

const kinds = ['redeem', 'transfer', 'purchase'] as const;
type Kind = (typeof kinds)[number];

interface Acknowledged {
  readonly kind: Kind;
  readonly at: number;
  /** The wallet of a redeem or transfer, the payment of a purchase. */
  readonly subject: string;
  readonly id: string;
}

/** The same request again until it is acknowledged, as a client with retries. */
async function until(ask: () => Promise<Reply>, status: number): Promise<Reply> {
  const reply = await eventually(
    () => ask().catch(() => undefined),
    (found) => found !== undefined && (found.status === status || !isTemporary(found)),
    ANSWER_MS,
  );
  if (reply?.status !== status) throw new Error(`${reply?.status} ${reply?.text}`);
  return reply;
}

/** A request whose connection was lost holds its key until the lease ends. */
const isTemporary = ({ status, text }: Reply): boolean =>
  status >= 500 || status === 429 || text.includes('idempotency_key_in_progress');

async function execute(to: string, amount: bigint): Promise<string> {
  const { app, buyer } = purchases;
  const calls = [transferOf(USDC, to, amount)];
  const prepared = await until(
    () => app.post('/transactions/prepare-typed-data', { publicKey: buyer.address, calls }),
    200,
  );
  const { typedData } = prepared.body as { typedData: object };
  const body = { publicKey: buyer.address, typedData, userSignature: buyer.sign(typedData) };
  return hashOf(await until(() => app.post('/transactions/execute-sponsored-transaction', body), 200));
}

const TRANSFER = 7n;

async function operate(kind: Kind, code: string, number: number): Promise<Omit<Acknowledged, 'at' | 'kind'>> {
  if (kind === 'redeem') {
    const claim = { code, chain: 'starknet', walletAddress: newWallet('starknet'), key: `failover ${number}` } as const;
    const { body } = await until(() => claimAt(service.server, claim), 201);
    return { subject: claim.walletAddress, id: (body as { giftRedeem: { id: string } }).giftRedeem.id };
  }
  if (kind === 'transfer') {
    const { address } = new Owner();
    return { subject: address, id: await execute(address, TRANSFER) };
  }
  const hash = await execute(purchases.paymentAddress, PRICE_RAW);
  const body = purchases.body(hash, references.quick);
  const reply = await until(() => purchases.app.post('/sku-purchases', body), 200);
  return { subject: hash, id: (reply.body as { id: string }).id };
}

describe('a primary that is killed under load', () => {
  it(
    'loses and doubles nothing that was acknowledged, once its synchronous standby is promoted',
    async () => {
      const manager = await gifts.managerBalance();
      const { code } = await gifts.gift({
        amount: 0.5,
        maxRedeems: MAX_OPERATIONS,
        maxRedeemsPerUser: 1,
        cctpFast: false,
      });
      const done: Acknowledged[] = [];
      let isOver = false;
      let operations = 0;
      const client = async (kind: Kind) => {
        while (!isOver && operations < MAX_OPERATIONS) {
          operations += 1;
          const result = await operate(kind, code, operations);
          done.push({ kind, at: performance.now(), ...result });
        }
      };
      const load = Promise.all(kinds.flatMap((kind) => Array.from({ length: CLIENTS_EACH }, () => client(kind))));
      // A failed client ends the wait below.
      load.catch(() => {
        isOver = true;
      });
      const enoughSince = (since: number) =>
        eventually(
          async () => kinds.map((kind) => done.filter((one) => one.kind === kind && one.at > since).length),
          (counts) => isOver || counts.every((count) => count >= ENOUGH),
          ANSWER_MS,
        );

      await enoughSince(0);
      const killedAt = performance.now();
      await pair.killPrimary();
      await pair.promoteStandby();
      const promotedAt = performance.now();
      await enoughSince(promotedAt);
      isOver = true;
      await load;

      await giftsSettled(gifts);
      await settled(service.db, ANSWER_MS);
      // In the sandbox the manager takes the payments.
      const paid = BigInt(done.filter(({ kind }) => kind === 'purchase').length) * PRICE_RAW;
      await auditGifts(gifts, manager + paid);
      for (const one of done) await expectOnce(one);
      report(done, killedAt, promotedAt);
    },
    TEST_MS,
  );
});

describe('a connection to several hosts', () => {
  const placeOf = async (db: Database) =>
    (await db.one<{ port: string }>(sql`select current_setting('port') as port, pg_is_in_recovery() as standby`))?.port;

  it(
    'goes to the primary, in any order of the hosts, and never to one that was replaced',
    async () => {
      const own = await PostgresPair.start();
      const [primary, standby] = [...own.url.matchAll(/:(\d+)/g)].map(([, port]) => port);
      const reversed = own.url
        .replace(String(primary), 'x')
        .replace(String(standby), String(primary))
        .replace('x', String(standby));
      const open = [connect(own.url, { max: 2 }), connect(reversed, { max: 2 })];
      try {
        for (const db of open) expect(await placeOf(db)).toBe(primary);
        await own.killPrimary();
        for (const db of open) await expect(placeOf(db)).rejects.toThrow();
        await expect(placeOf(open[0] as Database)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
        await own.promoteStandby();
        for (const db of open) expect(await eventually(() => placeOf(db).catch(() => ''), Boolean)).toBe(standby);
        await own.restartPrimary();
        // Another text of the URL has no memory of the promotion.
        const later = connect(`${own.url}?application_name=later`, { max: 1 });
        open.push(later);
        expect(await placeOf(later)).toBe(standby);
      } finally {
        await Promise.all(open.map((db) => db.close()));
        await own.stop();
      }
    },
    TEST_MS,
  );
});

async function expectOnce({ kind, subject, id }: Acknowledged): Promise<void> {
  if (kind === 'redeem') {
    const rows = await service.db.rows(sql`select status from gift_redeems where id = ${id}`);
    return expect({ id, rows }).toEqual({ id, rows: [{ status: 'SUCCESS' }] });
  }
  if (kind === 'transfer') {
    return expect({ subject, got: await purchases.app.balance(subject, 'USDC') }).toEqual({ subject, got: TRANSFER });
  }
  const rows = await service.db.rows(sql`
    select id, status from transactions where transaction_hash = ${subject} and type = 'SKU_PURCHASE'`);
  const delivered = (await purchases.providerOrder(id))?.delivered;
  expect({ rows, delivered }).toEqual({ rows: [{ id, status: 'SUCCESS' }], delivered: 1 });
}

/** For docs/benchmarks.md. */
function report(done: readonly Acknowledged[], killedAt: number, promotedAt: number): void {
  const ms = (value: number) => `${Math.round(value)} ms`;
  const lines = kinds.map((kind) => {
    const own = done.filter((one) => one.kind === kind);
    const before = own.filter(({ at }) => at <= killedAt).length;
    const first = Math.min(...own.map(({ at }) => at).filter((at) => at > promotedAt));
    return `${kind}: ${before} before, ${own.length - before} after, first ${ms(first - promotedAt)} after the promotion`;
  });
  process.stdout.write(`Failover: promoted ${ms(promotedAt - killedAt)} after the kill. ${lines.join('; ')}\n`);
}
