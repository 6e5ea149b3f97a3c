import type { RedeemStatus } from '@svc/protocol';
import { sql } from '@svc/store';
import { padAddress } from '../src/chains/starknet/chain.ts';
import {
  type PayoutDeps,
  type PayoutResult,
  payoutOutcomes,
  requeueFailedPayouts,
  runPayouts,
} from '../src/gifts/payouts.ts';
import { hold } from '../src/ledger/ledger.ts';
import { createPayer, type Payer } from '../src/relayer/payer.ts';
import { reopenRelays } from '../src/relayer/relay-store.ts';
import { newId } from '../src/util/ids.ts';
import { manager } from './chain.ts';
import { newOwner } from './database.ts';
import { type ChainChanges, RelayerFixture } from './relayer.ts';

export const AMOUNT = 5_000_000n;
const GAS = 10_000n;
/** As many looks as a few minutes of working jobs would take. */
const MAX_LOOKS = 60;
/** After so many blocks the sandbox counts a block as accepted on L1. */
const L1_AFTER_BLOCKS = 100;

export interface TestGift {
  readonly id: string;
  readonly organizationId: string;
  readonly holdId: string;
}

/** Redeems to be paid from the sandbox's manager, with a clock that tests move. */
export class PayoutFixture {
  readonly relayers: RelayerFixture;
  #addresses = 0xa11ce000n;

  static async start(): Promise<PayoutFixture> {
    return new PayoutFixture(await RelayerFixture.start());
  }

  private constructor(relayers: RelayerFixture) {
    this.relayers = relayers;
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

  /** What a transaction may cost at most; without it there is no limit. */
  maxFeeFri: bigint | undefined;

  partsWith(chain: ChainChanges = {}): PayoutDeps {
    const { db, deps } = this.relayers;
    return { db, networks: this.relayers.networksWith(chain), payer: this.payerWith(chain), log: deps.log };
  }

  payOut(chain: ChainChanges = {}): Promise<PayoutResult> {
    return runPayouts(this.partsWith(chain), 'development');
  }

  /** One look at what the manager has under way. */
  async look(chain: ChainChanges = {}): Promise<boolean> {
    const { deps } = this.relayers;
    const outcomes = { ...deps.outcomes, ...payoutOutcomes(deps) };
    const [looked] = await this.relayers.look(chain, { keys: () => [manager], outcomes });
    return looked?.open ?? false;
  }

  /** Looks until nothing is under way; the clock moves on between. */
  async finish(): Promise<void> {
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      if (!(await this.look())) return;
      this.relayers.wait(1_000);
    }
    throw new Error('Something stays open.');
  }

  free(): Promise<number> {
    return requeueFailedPayouts(this.partsWith(), 'development');
  }

  /** Everything that stands in blocks now is there for good. */
  acceptOnL1(): Promise<void> {
    return this.relayers.controls.mine(L1_AFTER_BLOCKS);
  }

  /** The chain loses its last blocks, and the service notices. */
  async reorganise(blocks: number, transactions: 'drop' | 'requeue'): Promise<void> {
    const { chain } = this.relayers;
    const head = await chain.blockNumber();
    await this.relayers.controls.reorganise(blocks, transactions);
    await this.db.tx((tx) => reopenRelays(tx, chain.chainId, head - blocks));
  }

  async gift(maxRedeems = 100, amount = AMOUNT): Promise<TestGift> {
    const share = amount + GAS;
    const owner = await newOwner(this.db, { credits: share * BigInt(maxRedeems) });
    const id = newId('gft');
    const { id: holdId } = await hold(this.db, { ...owner, amount: share * BigInt(maxRedeems), reference: id });
    await this.db.run(sql`
      insert into gifts (id, organization_id, environment, code, name, type, amount_micros, gas_micros, bridge_micros,
        max_redeems, max_redeems_per_user, starts_at, is_active, cctp_fast, hold_id)
      values (${id}, ${owner.organizationId}, 'development', ${id}, 'Test', 'GIFT_CARD', ${amount}, ${GAS}, 0,
        ${maxRedeems}, ${maxRedeems}, now(), true, false, ${holdId})`);
    return { id, organizationId: owner.organizationId, holdId };
  }

  /** Reserved and waiting, for somebody new unless told otherwise. Answers its id. */
  async redeem(gift: TestGift, address = this.someone()): Promise<string> {
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

  someone(): bigint {
    this.#addresses += 1n;
    return this.#addresses;
  }

  /** What each redeem is said to be, and how often its address was paid. */
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

  /** The payouts of a gift's redeems that were not given up, by nonce. */
  async payouts(gift: TestGift): Promise<{ state: string; redeems: number }[]> {
    const rows = await this.db.rows<{ state: string; redeems: bigint }>(sql`
      select relays.state, count(*) as redeems from relays join gift_redeems on relay_id = relays.id
       where gift_id = ${gift.id} group by relays.id order by relays.nonce`);
    return rows.map(({ state, redeems }) => ({ state, redeems: Number(redeems) }));
  }

  /** What is spent, and what is still held, of a gift's credits, in shares. */
  async shares(gift: TestGift): Promise<{ spent: bigint; held: bigint }> {
    const row = await this.db.one<{ spent: bigint; held: bigint }>(sql`
      select spent, held from ledger_balances
       where organization_id = ${gift.organizationId} and environment = 'development'`);
    return { spent: (row?.spent ?? 0n) / (AMOUNT + GAS), held: (row?.held ?? 0n) / (AMOUNT + GAS) };
  }
}
