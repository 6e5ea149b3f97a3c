import { ApiError, type BodyOf, type Environment, type endpoints, type Gift } from '@svc/protocol';
import { type Database, sql } from '@svc/store';
import { createGift, createGiftsBulk, type GiftDeps, type GiftMail } from '../src/gifts/create-gifts.ts';
import { deleteGift, updateGift } from '../src/gifts/manage-gifts.ts';
import type { Call, Caller } from '../src/http/call.ts';
import { balance, type CreditBalance, type LedgerOwner } from '../src/ledger/ledger.ts';
import { newOwner, testLedger } from './ledger.ts';
import { reserve } from './reservations.ts';

type CreateBody = BodyOf<typeof endpoints.createGift>;
type BulkBody = BodyOf<typeof endpoints.createGiftsBulk>;
type UpdateBody = BodyOf<typeof endpoints.updateGift>;

export const DOLLAR = 1_000_000n;
/** Of one redemption. */
export const GAS = 10_000n;
export const BRIDGE = 30_000n;
export const NOW = Date.UTC(2026, 11, 24);
export const DAY_MS = 86_400_000;

export const at = (days: number): string => new Date(NOW + days * DAY_MS).toISOString();

/** Gift management on a database, with stand-ins for everything that is not there for gifts alone. */
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
      publicUrl: () => 'https://pay.example',
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
    return updateGift({ now: () => nowMs }, call) as Promise<Gift>;
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

  /** All gifts, entries and holds of an organisation, to see that a refusal stored nothing. */
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

/** For the tests of one file. */
export function giftHouse(): GiftFixture {
  return new GiftFixture(testLedger().db);
}

/** No chain is configured. */
export function notConfigured(): never {
  throw new ApiError('chain_not_configured');
}
