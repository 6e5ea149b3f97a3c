import {
  ApiError,
  allEndpoints,
  type BodyOf,
  type Environment,
  type endpoints,
  type Gift,
  type RedeemStatus,
} from '@svc/protocol';
import { type Database, type Db, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';
import { type Authenticator, createAuthenticate } from '../src/auth/authenticate.ts';
import type { Networks } from '../src/chains/networks.ts';
import type { ClaimDeps } from '../src/gifts/claim.ts';
import { ClaimProofs, CodeLookup, type MissLimits } from '../src/gifts/code-lookup.ts';
import { createGift, createGiftsBulk, type GiftDeps, type GiftMail } from '../src/gifts/create-gifts.ts';
import { isExpired, lockGift, openRedeem, releaseRemainder, shareOfRedeem } from '../src/gifts/gift.ts';
import { deleteGift, updateGift } from '../src/gifts/manage-gifts.ts';
import { claimHandlers } from '../src/gifts/module.ts';
import { PayoutWaker } from '../src/gifts/payouts.ts';
import { endRedeems, RedeemWaiters } from '../src/gifts/redeem.ts';
import type { Call, Caller, Handlers } from '../src/http/call.ts';
import { registerEndpoints } from '../src/http/endpoints.ts';
import { KeyWaiters } from '../src/http/idempotency.ts';
import { AdmissionControl, RateLimiter, type RequestLimits } from '../src/http/limits.ts';
import { replyWithError } from '../src/http/request-hooks.ts';
import { balance, type CreditBalance, type LedgerOwner, release, settle } from '../src/ledger/ledger.ts';
import { newId } from '../src/util/ids.ts';
import { newOwner, useDatabase } from './database.ts';

type CreateBody = BodyOf<typeof endpoints.createGift>;
type BulkBody = BodyOf<typeof endpoints.createGiftsBulk>;
type UpdateBody = BodyOf<typeof endpoints.updateGift>;

export const PUBLIC_URL = 'https://pay.example';
export const DOLLAR = 1_000_000n;
export const GAS = 10_000n;
export const BRIDGE = 30_000n;
export const NOW = Date.UTC(2026, 11, 24);
export const DAY_MS = 86_400_000;

export const at = (days: number): string => new Date(NOW + days * DAY_MS).toISOString();

/** Gift management on a database, with stubs for mail, bridge and organisations. */
export class GiftFixture {
  readonly mails: GiftMail[] = [];
  #codes = 0;
  readonly #db: () => Database;

  constructor(db: () => Database) {
    this.#db = db;
  }

  get db(): Database {
    return this.#db();
  }

  deps(changes: Partial<GiftDeps> = {}): GiftDeps {
    return {
      db: this.db,
      organizations: { organization: async (id) => ({ id, name: 'Tienda Azul', created_at: new Date(NOW) }) },
      gas: GAS,
      manager: () => 1n,
      bridge: { feeCeiling: async () => BRIDGE },
      queueMails: async (_, mails) => void this.mails.push(...mails),
      publicUrl: PUBLIC_URL,
      now: () => NOW,
      ...changes,
    };
  }

  async caller(dollars = 1_000n, environment: Environment = 'development'): Promise<Caller> {
    const owner = await newOwner(this.db, { environment, credits: dollars * DOLLAR });
    return { ...owner, keyId: 'key_1', apiPublicKey: 'pk_dev_1', proof: 'secret key', externalUserId: undefined };
  }

  newCode(): string {
    this.#codes += 1;
    return `CODE-${this.#codes}`;
  }

  body(changes: Partial<CreateBody> = {}): CreateBody {
    const common = { name: 'Navidad', amount: 5, maxRedeems: 10, maxRedeemsPerUser: 1, isActive: true };
    return { code: this.newCode(), ...common, startsAt: at(-1), expiresAt: at(10), ...changes };
  }

  create(caller: Caller, changes: Partial<CreateBody> = {}, deps = this.deps()): Promise<Gift> {
    return createGift(
      deps,
      this.#call<typeof endpoints.createGift>(caller, { body: this.body(changes) }),
    ) as Promise<Gift>;
  }

  bulk(caller: Caller, changes: Partial<BulkBody> = {}, deps = this.deps()) {
    const body = { name: 'Navidad', amount: 5, recipients: [{ email: 'ana@example.com' }], ...changes };
    return createGiftsBulk(deps, this.#call<typeof endpoints.createGiftsBulk>(caller, { body })) as Promise<{
      created: number;
      campaignName: string;
      totalHeldUsd: number;
      gifts: { code: string; email: string; claimUrl: string }[];
    }>;
  }

  update(caller: Caller, id: string, body: UpdateBody, nowMs = NOW): Promise<Gift> {
    const call = this.#call<typeof endpoints.updateGift>(caller, { params: { id }, body });
    return updateGift(this.deps({ now: () => nowMs }), call) as Promise<Gift>;
  }

  delete(caller: Caller, id: string) {
    const call = this.#call<typeof endpoints.deleteGift>(caller, { params: { id } });
    return deleteGift(call) as Promise<{ success: boolean; releasedUsd: number }>;
  }

  /** Reserves a share of the gift; answers the redeem. */
  async redeem(owner: LedgerOwner, giftId: string, chain: 'starknet' | 'solana' = 'starknet'): Promise<string> {
    const id = await reserve(this.db, owner, giftId, NOW, chain);
    if (id === undefined) throw new Error('The gift cannot be redeemed.');
    return id;
  }

  balance(owner: LedgerOwner): Promise<CreditBalance> {
    return balance(this.db, owner);
  }

  /** Every gift, entry and hold of an organisation: equal before and after a refusal. */
  everything({ organizationId }: LedgerOwner): Promise<unknown[]> {
    return this.db.rows(sql`
      select to_jsonb(g) as kept from gifts g where organization_id = ${organizationId}
      union all select to_jsonb(e) from ledger_entries e where organization_id = ${organizationId}
      union all select to_jsonb(h) from ledger_holds h where organization_id = ${organizationId}
      order by 1`);
  }

  #call<E extends (typeof endpoints)[keyof typeof endpoints]>(caller: Caller, input: object): Call<E> {
    return { caller, transact: this.db.tx, ...input } as unknown as Call<E>;
  }
}

export function useGifts(): GiftFixture {
  return new GiftFixture(useDatabase().db);
}

export function notConfigured(): never {
  throw new ApiError('chain_not_configured');
}

/** The effect of a redeem on a gift and its hold, without a payout. */
export async function reserve(
  db: Db,
  owner: LedgerOwner,
  giftId: string,
  nowMs: number,
  chain: 'starknet' | 'solana',
): Promise<string | undefined> {
  return db.tx(async (tx) => {
    const gift = await lockGift(tx, owner, giftId);
    if (!gift || isExpired(gift, nowMs) || gift.totalRedeems >= gift.maxRedeems) return undefined;
    const id = newId('redeem');
    await tx.run(sql`update gifts set total_redeems = total_redeems + 1 where id = ${giftId}`);
    await tx.run(sql`
      insert into gift_redeems (id, gift_id, organization_id, environment, destination_chain, address, shown_address,
                                amount_micros, share_micros, hold_id)
      values (${id}, ${giftId}, ${owner.organizationId}, ${owner.environment}, ${chain}, '0x1', '0x01',
              ${gift.amount}, ${shareOfRedeem(gift, chain)}, ${gift.holdId})`);
    return id;
  });
}

export async function end(db: Db, redeemId: string, status: 'SUCCESS' | 'FAILED'): Promise<void> {
  await db.tx(async (tx) => {
    const gift = await lockOf(tx, redeemId);
    const redeem = await tx.one<{ share: bigint; amount: bigint; holdId: string }>(sql`
      update gift_redeems set status = ${status} where id = ${redeemId} and ${openRedeem}
      returning share_micros as share, amount_micros as amount, hold_id as "holdId"`);
    if (!redeem) throw new Error('This redeem has ended.');
    const { share: amount, holdId } = redeem;
    if (status === 'SUCCESS') {
      await tx.run(sql`update gifts set redeemed_micros = redeemed_micros + ${redeem.amount} where id = ${gift.id}`);
      await settle(tx, { holdId, amount, reference: redeemId });
      if (gift.total === gift.max && !(await hasOpen(tx, gift.id))) await releaseRemainder(tx, gift);
      return;
    }
    await tx.run(sql`update gifts set total_redeems = total_redeems - 1 where id = ${gift.id}`);
    if (gift.holdId !== holdId) await release(tx, { holdId, amount, reference: redeemId });
  });
}

async function lockOf(tx: Db, redeemId: string) {
  const gift = await tx.one<{ id: string; holdId: string | null; total: number; max: number }>(sql`
    select id, hold_id as "holdId", total_redeems as total, max_redeems as max from gifts
     where id = (select gift_id from gift_redeems where id = ${redeemId}) for no key update`);
  if (!gift) throw new Error('There is no such redeem.');
  return gift;
}

async function hasOpen(tx: Db, giftId: string): Promise<boolean> {
  return (
    (await tx.one(sql`select from gift_redeems where gift_id = ${giftId} and ${openRedeem} limit 1`)) !== undefined
  );
}

export const MANAGER = 0xabcn;
export const PAYMENT_ADDRESS = `0x${'def'.padStart(64, '0')}`;
export const USDC = '0x053b40a647cedfca6ca84f542a0fe36736031905a9639a7f19a3c1e66bfd5080';
/** The public keys of ed25519 seeds of all ones, twos and threes. */
export const SOLANA_WALLETS: readonly string[] = [
  'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9',
  '9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu',
  'GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse',
];
export const SOLANA_WALLET = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';

/** Enough for every test that is not about limits. */
const PLENTY = 1_000_000;

const networks = {
  starknet: () => ({ paymentAddress: PAYMENT_ADDRESS }),
  tokens: () => [{ chain: 'STARKNET', token: 'USDC', address: USDC, decimals: 6 }],
} as unknown as Pick<Networks, 'starknet' | 'tokens'>;

export function claimDeps(db: Database, changes: Partial<ClaimDeps> = {}): ClaimDeps {
  return {
    db,
    networks,
    manager: () => MANAGER,
    canBridge: () => true,
    proofs: testProofs,
    codes: codeLookup(db, { perClient: PLENTY, total: PLENTY }),
    waiters: new RedeemWaiters(),
    payouts: new PayoutWaker(db, { warn: () => {} }),
    publicUrl: 'https://pay.example.com',
    now: () => NOW,
    ...changes,
  };
}

/** Solved in a few attempts. */
export const testProofs = new ClaimProofs(Buffer.alloc(32, 1), 2);

export function codeLookup(db: Pick<Db, 'one'>, limits: MissLimits, now?: () => number): CodeLookup {
  return new CodeLookup({
    db,
    limits,
    proofs: testProofs,
    log: { info: () => {}, warn: () => {} },
    ...(now && { now }),
  });
}

export interface AppLimits {
  readonly requests?: number;
}

export async function claimApp(deps: ClaimDeps, { requests = PLENTY }: AppLimits = {}): Promise<FastifyInstance> {
  const app = Fastify({ trustProxy: true, routerOptions: { maxParamLength: 1_024 } });
  app.setErrorHandler(replyWithError);
  const unused = Object.fromEntries(allEndpoints.map(({ operationId }) => [operationId, async () => ({})]));
  registerEndpoints(app, {
    db: deps.db,
    authenticate: createAuthenticate({} as Authenticator),
    limits: { clients: new RateLimiter(deps.db, requests) } as RequestLimits,
    admission: new AdmissionControl({ perSecond: PLENTY }),
    keyWaiters: new KeyWaiters(),
    handlers: { ...(unused as unknown as Handlers), ...claimHandlers(deps) },
  });
  await app.ready();
  return app;
}

/** Ends pending redeems, as `decide` says, until `work` is done. */
export async function payMeanwhile<T>(
  db: Database,
  work: Promise<T>,
  decide: (id: string) => 'SUCCESS' | 'FAILED' = () => 'SUCCESS',
): Promise<T> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  // The caller handles its failure.
  done.catch(() => {});
  while (!over) await payWaiting(db, decide);
  return done;
}

const BATCH = 4;

async function payWaiting(db: Database, decide: (id: string) => 'SUCCESS' | 'FAILED'): Promise<void> {
  const waiting = await db.rows<{ id: string }>(sql`
    select id from gift_redeems where status = 'PENDING' order by created_at, id limit ${BATCH}`);
  await db.tx((tx) =>
    endRedeems(
      tx,
      waiting.map(({ id }) =>
        decide(id) === 'SUCCESS'
          ? { id, end: 'SUCCESS', transactionHash: `0x${id.length}` }
          : { id, end: 'FAILED', reason: 'out of luck' },
      ),
    ),
  );
}

export async function putStatus(db: Database, id: string, status: RedeemStatus, hash = '0xb0'): Promise<void> {
  await db.run(sql`update gift_redeems set status = ${status}, transaction_hash = ${hash} where id = ${id}`);
}
