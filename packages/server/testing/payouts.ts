import type { RedeemStatus } from '@svc/protocol';
import { sql } from '@svc/store';
import { padAddress } from '../src/chains/starknet/chain.ts';
import { releaseRemainder } from '../src/gifts/gift.ts';
import {
  type PayoutDeps,
  type PayoutResult,
  payoutOutcomes,
  requeueFailedPayouts,
  runPayouts,
} from '../src/gifts/payouts.ts';
import { hold } from '../src/ledger/ledger.ts';
import { createPayer, type Payer } from '../src/relayer/payer.ts';
import { newId } from '../src/util/ids.ts';
import { manager } from './chain.ts';
import { newOwner } from './database.ts';
import { type ChainChanges, RelayerFixture } from './relayer.ts';

export const AMOUNT = 5_000_000n;
const GAS = 10_000n;
export interface TestGift {
  readonly id: string;
  readonly organizationId: string;
  readonly holdId: string;
}

/** Redeems that the sandbox's manager pays. */
export class PayoutFixture {
  readonly relayers: RelayerFixture;
  #addresses = 0xa11ce000n;

  static async start(): Promise<PayoutFixture> {
    return new PayoutFixture(await RelayerFixture.start());
  }

  private constructor(relayers: RelayerFixture) {
    this.relayers = relayers;
  }

  stop(): Promise<void> {
    return this.relayers.stop();
  }

  get db() {
    return this.relayers.db;
  }

  payerWith(chain: ChainChanges = {}): Payer {
    const { deps } = this.relayers;
    const { maxFeeFri } = this;
    const networks = this.relayers.networksWith(chain);
    return createPayer({ ...deps, networks, managerKey: () => manager, ...(maxFeeFri && { maxFeeFri }) });
  }

  maxFeeFri: bigint | undefined;

  depsWith(chain: ChainChanges = {}): PayoutDeps {
    const { db, deps } = this.relayers;
    return { db, networks: this.relayers.networksWith(chain), payer: this.payerWith(chain), log: deps.log };
  }

  runPayouts(chain: ChainChanges = {}): Promise<PayoutResult> {
    return runPayouts(this.depsWith(chain), 'development');
  }

  /** One pass over the manager's relays; answers whether one is still open. */
  async runPass(chain: ChainChanges = {}): Promise<boolean> {
    const [result] = await this.relayers.runPass(chain, this.#worker());
    return result?.open ?? false;
  }

  finish(): Promise<void> {
    return this.relayers.finish({}, this.#worker());
  }

  #worker() {
    const { deps } = this.relayers;
    return { keys: () => [manager], outcomes: { ...deps.outcomes, ...payoutOutcomes(deps) } };
  }

  requeueFailed(): Promise<number> {
    return requeueFailedPayouts(this.depsWith(), 'development');
  }

  async gift(maxRedeems = 100, amount = AMOUNT): Promise<TestGift> {
    const share = amount + GAS;
    const owner = await newOwner(this.db, { credits: share * BigInt(maxRedeems) });
    const id = newId('gift');
    const { id: holdId } = await hold(this.db, { ...owner, amount: share * BigInt(maxRedeems), reference: id });
    await this.db.run(sql`
      insert into gifts (id, organization_id, environment, code, name, type, amount_micros, gas_micros, bridge_micros,
        max_redeems, max_redeems_per_user, starts_at, is_active, cctp_fast, hold_id)
      values (${id}, ${owner.organizationId}, 'development', ${id}, 'Test', 'GIFT_CARD', ${amount}, ${GAS}, 0,
        ${maxRedeems}, ${maxRedeems}, now(), true, false, ${holdId})`);
    return { id, organizationId: owner.organizationId, holdId };
  }

  /** As when it expires. */
  async release({ id, holdId }: TestGift): Promise<void> {
    await this.db.tx((tx) => releaseRemainder(tx, { id, holdId }));
  }

  async redeem(gift: TestGift, address = this.newAddress()): Promise<string> {
    const id = newId('rdm');
    await this.db.tx(async (tx) => {
      await tx.run(sql`update gifts set total_redeems = total_redeems + 1 where id = ${gift.id}`);
      await tx.run(sql`
        insert into gift_users (gift_id, address, redeems) values (${gift.id}, ${padAddress(address)}, 1)
        on conflict (gift_id, address) do update set redeems = gift_users.redeems + 1`);
      await tx.run(sql`
        insert into gift_redeems (id, gift_id, organization_id, environment, destination_chain, address, shown_address,
          amount_micros, share_micros, hold_id)
        select ${id}, id, organization_id, environment, 'starknet', ${padAddress(address)}, ${padAddress(address)},
               amount_micros, amount_micros + gas_micros, hold_id
          from gifts where id = ${gift.id}`);
    });
    return id;
  }

  newAddress(): bigint {
    this.#addresses += 1n;
    return this.#addresses;
  }

  /** The status of each redeem, and how often its address was paid. */
  async redeems(gift: TestGift): Promise<{ status: RedeemStatus; paid: number }[]> {
    const rows = await this.db.rows<{ status: RedeemStatus; address: string }>(sql`
      select status, address from gift_redeems where gift_id = ${gift.id} order by created_at, id`);
    return Promise.all(
      rows.map(async ({ status, address }) => ({
        status,
        paid: Number((await this.relayers.balance(BigInt(address))) / AMOUNT),
      })),
    );
  }

  /** By nonce. */
  async payouts(gift: TestGift): Promise<{ state: string; redeems: number }[]> {
    const rows = await this.db.rows<{ state: string; redeems: bigint }>(sql`
      select relays.state, count(*) as redeems from relays join gift_redeems on relay_id = relays.id
       where gift_id = ${gift.id} group by relays.id order by relays.nonce`);
    return rows.map(({ state, redeems }) => ({ state, redeems: Number(redeems) }));
  }

  /** In shares of one redeem. */
  async shares(gift: TestGift): Promise<{ spent: bigint; held: bigint }> {
    const row = await this.db.one<{ spent: bigint; held: bigint }>(sql`
      select spent, held from ledger_balances
       where organization_id = ${gift.organizationId} and environment = 'development'`);
    return { spent: (row?.spent ?? 0n) / (AMOUNT + GAS), held: (row?.held ?? 0n) / (AMOUNT + GAS) };
  }
}
