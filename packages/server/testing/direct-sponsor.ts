import { randomBytes } from 'node:crypto';
import { ApiError } from '@svc/protocol';
import { ANY_CALLER, type OutsideExecution, toHex } from '@svc/starknet';
import { type Database, sql } from '@svc/store';
import type { Networks } from '../src/chains/networks.ts';
import { relayedCalls } from '../src/relayer/invoke.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import type { PrepareRequest, Relayed, Sponsor, Sponsorship, StoreWithRelay } from '../src/relayer/relay.ts';
import { newId } from '../src/util/ids.ts';
import { relayer, signed } from './starknet.ts';

/** A sponsor in the simplest form that keeps the port's promises, on the sandbox's chain, with one account and one relay at a time. */
export class DirectSponsor implements Sponsor {
  /** What came to be stored, by the relay's id. */
  readonly stored = new Map<string, Sponsorship>();
  /** How often it was asked to pay. */
  asked = 0;
  /** What happens between storing and sending; a test may throw here. */
  beforeSend: () => void = () => {};
  /** Whether hashes are known at storing, as with our own accounts. */
  knowsHashes = true;
  readonly #db: Database;
  readonly #networks: Networks;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(db: Database, networks: Networks) {
    this.#db = db;
    this.#networks = networks;
  }

  async prepare({ environment, calls }: PrepareRequest): Promise<OutsideExecution> {
    const now = BigInt(Math.floor((await this.#networks.starknet(environment).time()).getTime() / 1_000));
    const nonce = BigInt(`0x${randomBytes(31).toString('hex')}`);
    return { caller: ANY_CALLER, nonce, executeAfter: now - 60n, executeBefore: now + 3_540n, calls };
  }

  sponsor(sponsorship: Sponsorship, store: StoreWithRelay): Promise<Relayed> {
    this.asked += 1;
    const result = this.#turn.then(() => this.#relay(sponsorship, store));
    this.#turn = result.catch(() => {});
    return result;
  }

  async #relay(sponsorship: Sponsorship, store: StoreWithRelay): Promise<Relayed> {
    const { environment, account, execution } = sponsorship;
    const { chain } = this.#networks.starknet(environment);
    const purpose = `${toHex(account)} ${toHex(execution.nonce)}`;
    const known = await this.#db.one<{ id: string; hash: string }>(
      sql`select id, hash from relays where purpose = ${purpose}`,
    );
    if (known) return { id: known.id, hash: BigInt(known.hash) };
    const from = relayer(1);
    const nonce = (await chain.nonceAt(from.address, 'pre_confirmed')) ?? 0n;
    const transaction = signed(relayedCalls(sponsorship), { nonce, from });
    const estimate = await chain.estimate(transaction.transaction);
    if (!estimate.ok) throw new ApiError('transaction_reverted', estimate.reason);
    const { hash } = transaction;
    const id = newId('rel');
    await this.#db.tx(async (tx) => {
      await store(tx, { id, hash: this.knowsHashes ? hash : undefined });
      await tx.run(sql`
        insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, content, hash)
        values (${id}, ${environment}, ${toHex(chain.chainId)}, ${sponsorship.kind}, ${purpose}, '0x0', ${toHex(account)}, now(),
                '{}', ${toHex(hash)})`);
    });
    this.stored.set(id, sponsorship);
    this.beforeSend();
    await chain.send(transaction);
    return { id, hash };
  }

  /** How the relay of an answered transaction ended, as the watcher would tell it. */
  async outcomeOf(hash: string): Promise<RelayOutcome> {
    const relay = await this.#db.one<{ id: string }>(sql`select id from relays where hash = ${hash}`);
    const sponsorship = this.stored.get(relay?.id ?? '');
    if (!relay || !sponsorship) throw new Error(`There is no relay of ${hash}.`);
    const receipt = await this.#networks.starknet(sponsorship.environment).chain.receipt(BigInt(hash));
    const result = !receipt ? 'VOIDED' : receipt.status === 'REVERTED' ? 'REVERTED' : 'SUCCEEDED';
    return {
      relayId: relay.id,
      kind: sponsorship.kind,
      environment: sponsorship.environment,
      account: sponsorship.account,
      result,
      hash: receipt?.transactionHash,
      revertReason: receipt?.revertReason,
      receipt,
      confirmedAt: receipt && new Date(),
    };
  }
}
