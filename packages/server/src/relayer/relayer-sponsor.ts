import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pauseFor } from 'node:timers/promises';
import { ApiError, type Environment } from '@svc/protocol';
import { type OutsideExecution, toHex } from '@svc/starknet';
import { enqueueMany } from '../jobs/job.ts';
import { type Batcher, createBatcher, createSemaphore, QueueFullError, type Semaphore } from '../util/semaphore.ts';
import { traceparent } from '../util/trace.ts';
import { createAccountPool, type RelayerDeps, type RelayerKey } from './accounts.ts';
import { findReachedLimit, NO_LIMITS } from './budget.ts';
import {
  accountsBusy,
  type CreatedRelay,
  createRelays,
  type RelayOrder,
  type RelayToStore,
  relayedCalls,
  requireCalldataLimit,
  requireEstimate,
  requireFee,
} from './invoke.ts';
import {
  outsidePurpose,
  type PrepareRequest,
  prepareExecution,
  type Relayed,
  randomNonce,
  type Sponsor,
  type Sponsorship,
  type StoreWithRelay,
} from './relay.ts';
import { awaitSubmitted, findRelayByPurpose, markSent, offerAttempt, relayWorkerJob } from './relay-store.ts';

export interface RelayerSponsorDeps extends RelayerDeps {
  readonly random?: () => bigint;
  readonly pause?: (ms: number) => Promise<unknown>;
  readonly maxQueued?: number;
  readonly maxTurnMs?: number;
  readonly maxGatherMs?: number;
}

/** More would only queue at the node until they time out. */
const MAX_AT_NODE = 16;
/** Some seconds of work: a later request would be given up by its caller before its turn. Organisations take turns. */
const MAX_QUEUED = 2_000;
/** A node that is silent holds up an account no longer. The relay worker brings into order what it refuses. */
const MAX_TURN_MS = 2_000;
/** They share the locks, the trips to the database and the wait for its disk. */
const MAX_TOGETHER = 32;
/** So long a relay that was sent waits for those that its account offers next, to be marked with them. */
const MAX_GATHER_MS = 15;
const MAX_SECONDS = 8_640_000_000_000n;

interface StageLimits {
  readonly estimate: Semaphore;
  /** One per account: each holds an account's row lock, and a database connection. */
  readonly store: Batcher<RelayToStore, CreatedRelay | undefined>;
  readonly send: Semaphore;
  readonly record: Batcher<readonly SentRelay[], void>;
}

interface SentRelay extends CreatedRelay {
  readonly isSent: boolean;
}

interface SentTogether {
  readonly relays: SentRelay[];
  readonly recorded: PromiseWithResolvers<void>;
  /** Where the last one fails, or takes its time. */
  readonly timer: NodeJS.Timeout;
}

type RelayRequest = Pick<RelayOrder, 'keys' | 'chainId' | 'purpose' | 'messageHash'> & {
  readonly sponsorship: Sponsorship;
};

export function createRelayerSponsor(deps: RelayerSponsorDeps): Sponsor {
  return new RelayerSponsor(deps);
}

class RelayerSponsor implements Sponsor {
  readonly #deps: RelayerSponsorDeps;
  readonly #accounts = createAccountPool('RELAYER_ACCOUNTS');
  readonly #limits = new Map<Environment, StageLimits>();
  /** The last one of each account, whose nonces are offered in their order. */
  readonly #offers = new Map<string, Promise<boolean>>();
  /** Of each account: sent, and not marked yet. */
  readonly #sent = new Map<string, SentTogether>();

  constructor(deps: RelayerSponsorDeps) {
    this.#deps = deps;
  }

  async prepare({ environment, calls }: PrepareRequest): Promise<OutsideExecution> {
    const network = this.#deps.networks.starknet(environment);
    this.#requireKeys(environment);
    return prepareExecution(network, calls, this.#deps.random ?? randomNonce);
  }

  async sponsor(sponsorship: Sponsorship, store: StoreWithRelay): Promise<Relayed> {
    const { environment, account, execution } = sponsorship;
    const { chainId } = this.#deps.networks.starknet(environment).chain;
    const keys = this.#requireKeys(environment);
    const purpose = outsidePurpose(account, execution.nonce);
    const { messageHash = await this.#deps.crypto.executionHash(execution, account, chainId) } = sponsorship;
    const request = { sponsorship, keys, chainId, purpose, messageHash };
    // Read together. Of a relay that is known the budget does not matter.
    const [known, refusal] = await Promise.all([this.#findRelayed(request), this.#findReachedLimit(sponsorship)]);
    if (known) return known;
    try {
      const stored = await this.#store(request, refusal, store);
      if (stored) return await this.#send(sponsorship, stored);
    } catch (error) {
      // A duplicate that has landed makes this one look as if it would revert.
      if (!(error instanceof ApiError) || error.code !== 'transaction_reverted') throw error;
      return (await this.#findRelayed(request)) ?? Promise.reject(error);
    }
    const duplicate = await this.#findRelayed(request);
    if (!duplicate) throw new Error(`The relay of ${purpose} could not be stored.`);
    return duplicate;
  }

  async #findRelayed({ chainId, purpose, messageHash }: RelayRequest): Promise<Relayed | undefined> {
    const { db, pause = pauseFor } = this.#deps;
    const known = await findRelayByPurpose(db.reads, chainId, purpose);
    if (!known) return undefined;
    if (known.messageHash === messageHash) return awaitSubmitted(db.reads, known.id, pause);
    const message = 'The nonce of this typed data was used for another message. Prepare it again.';
    throw new ApiError('invalid_typed_data', message);
  }

  async #store(
    request: RelayRequest,
    refusal: ApiError | undefined,
    store: StoreWithRelay,
  ): Promise<CreatedRelay | undefined> {
    const { db, networks, maxFeeFri } = this.#deps;
    const { sponsorship, ...identity } = request;
    const { keys, chainId } = identity;
    const { environment, kind, account: wallet, execution, user } = sponsorship;
    const { chain } = networks.starknet(environment);
    const limits = this.#limitsOf(environment);
    const calls = relayedCalls(sponsorship);
    requireCalldataLimit(calls);
    if (refusal) throw refusal;
    const ready = await this.#accounts.ready(db, chain, keys);
    const tenant = user.organizationId;
    const estimating = () => requireEstimate(chain, { chainId, ...ready, calls });
    const estimate = await limits.estimate(estimating, tenant).catch(asBusy);
    const fee = requireFee(estimate, maxFeeFri);
    const notAfter = new Date(Number(min(execution.executeBefore, MAX_SECONDS)) * 1_000);
    const order = {
      ...identity,
      environment,
      kind,
      wallet,
      notAfter,
      calls,
      fee,
      user,
      poolFri: sponsorship.poolFee?.fri,
      traceparent: traceparent(),
    };
    return limits.store({ order, store: AsyncLocalStorage.bind(store) }, tenant).catch(asBusy);
  }

  /** Spares the node what a budget refuses anyway; the reservation decides. */
  async #findReachedLimit({ environment, kind, user, poolFee }: Sponsorship): Promise<ApiError | undefined> {
    const { db, sponsorLimits, now = Date.now } = this.#deps;
    const { organizationId, externalUserId } = user;
    if (externalUserId === undefined) return undefined;
    const fri = 1n + (poolFee?.fri ?? 0n);
    const budget = { organizationId, externalUserId, environment, kind, fri, at: new Date(now()) };
    return findReachedLimit(db.reads, sponsorLimits?.(environment) ?? NO_LIMITS, budget);
  }

  async #send({ environment, user }: Sponsorship, relay: CreatedRelay): Promise<Relayed> {
    const { db, networks, pause = pauseFor } = this.#deps;
    const { chain } = networks.starknet(environment);
    const { id, account, signed } = relay;
    const place = `${toHex(chain.chainId)} ${account}`;
    const offering = this.#offer(environment, user.organizationId, relay, this.#offers.get(place));
    const ended = offering.catch(() => false);
    this.#offers.set(place, ended);
    const isSent = await offering;
    const flush = () => this.#flush(place, environment, user.organizationId);
    const together = this.#gather(place, { ...relay, isSent }, flush);
    if (this.#offers.get(place) === ended) flush();
    await together.recorded.promise;
    return isSent ? { id, hash: signed.hash } : awaitSubmitted(db.reads, id, pause);
  }

  #gather(place: string, relay: SentRelay, flush: () => void): SentTogether {
    const { maxGatherMs = MAX_GATHER_MS } = this.#deps;
    const together = this.#sent.get(place) ?? {
      relays: [],
      recorded: Promise.withResolvers<void>(),
      timer: setTimeout(flush, maxGatherMs),
    };
    together.relays.push(relay);
    this.#sent.set(place, together);
    return together;
  }

  #flush(place: string, environment: Environment, tenant: string): void {
    const together = this.#sent.get(place);
    if (!together) return;
    this.#sent.delete(place);
    clearTimeout(together.timer);
    together.recorded.resolve(this.#limitsOf(environment).record(together.relays, tenant));
  }

  /** After the one with the nonce before it: some nodes refuse a nonce that comes too early, and devnet one that comes too late. */
  async #offer(
    environment: Environment,
    tenant: string,
    { id, signed }: CreatedRelay,
    before: Promise<unknown> | undefined,
  ): Promise<boolean> {
    const { db, networks, maxTurnMs = MAX_TURN_MS } = this.#deps;
    const { chain } = networks.starknet(environment);
    const { send } = this.#limitsOf(environment);
    if (before) await within(before, maxTurnMs);
    try {
      return (await send(() => offerAttempt(db, chain, id, signed), tenant)).outcome === 'sent';
    } catch (error) {
      if (error instanceof QueueFullError) return false;
      throw error;
    }
  }

  /** Marks what a node took and wakes the worker, in one transaction. */
  async #record(environment: Environment, relays: readonly SentRelay[]): Promise<void> {
    const { db, networks } = this.#deps;
    const { chainId } = networks.starknet(environment).chain;
    const sent = relays.flatMap(({ id, signed, isSent }) => (isSent ? [{ id, hash: signed.hash }] : []));
    const byAccount = Object.entries(Object.groupBy(relays, ({ account }) => account));
    const jobs = byAccount.map(([account, own = []]) =>
      relayWorkerJob(environment, chainId, account, { isSent: own.every(({ isSent }) => isSent) }),
    );
    await db.tx(async (tx) => {
      await Promise.all([sent.length > 0 && markSent(tx, chainId, sent), enqueueMany(tx, jobs)]);
    });
  }

  #limitsOf(environment: Environment): StageLimits {
    const { maxQueued = MAX_QUEUED } = this.#deps;
    const atNode = { limit: MAX_AT_NODE, maxQueued };
    const together = { limit: this.#requireKeys(environment).length, maxQueued, maxTogether: MAX_TOGETHER };
    const limits = this.#limits.get(environment) ?? {
      estimate: createSemaphore(atNode),
      store: createBatcher(together, (relays) => createRelays(this.#deps, relays)),
      send: createSemaphore(atNode),
      record: createBatcher({ ...together, maxQueued: Number.POSITIVE_INFINITY }, async (all) => {
        await this.#record(environment, all.flat());
        return all.map(() => ({ status: 'fulfilled', value: undefined }));
      }),
    };
    this.#limits.set(environment, limits);
    return limits;
  }

  #requireKeys(environment: Environment): readonly RelayerKey[] {
    const found = this.#deps.keys(environment);
    if (found.length > 0) return found;
    const message = `No account of this deployment pays for gas in ${environment}. Its operator sets RELAYER_ACCOUNTS.`;
    throw new ApiError('chain_not_configured', message);
  }
}

function asBusy(error: unknown): never {
  throw error instanceof QueueFullError ? accountsBusy() : error;
}

async function within(turn: Promise<unknown>, ms: number): Promise<void> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([turn, isLate]);
  clearTimeout(timer);
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
