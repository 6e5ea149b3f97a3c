import { setTimeout as pauseFor } from 'node:timers/promises';
import { ApiError, type Environment } from '@svc/protocol';
import type { OutsideExecution } from '@svc/starknet';
import { enqueue } from '../jobs/job.ts';
import { createSemaphore, QueueFullError, type Semaphore } from '../util/semaphore.ts';
import { createAccountPool, type RelayerDeps, type RelayerKey } from './accounts.ts';
import { findReachedLimit, NO_LIMITS } from './budget.ts';
import {
  accountsBusy,
  type CreatedRelay,
  createRelay,
  type RelayOrder,
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
import { awaitSubmitted, findRelayByPurpose, relayWorkerJob, sendAttempt } from './relay-store.ts';

export interface RelayerSponsorDeps extends RelayerDeps {
  readonly random?: () => bigint;
  readonly pause?: (ms: number) => Promise<unknown>;
  readonly maxQueued?: number;
}

/** More would only queue at the node until they time out. */
const MAX_AT_NODE = 16;
/** Some seconds of work: a later request would be given up by its caller before its turn. Organisations take turns. */
const MAX_QUEUED = 2_000;
const MAX_SECONDS = 8_640_000_000_000n;

interface StageLimits {
  readonly estimate: Semaphore;
  /** One per account: each holds an account's row lock, and a database connection. */
  readonly store: Semaphore;
  readonly send: Semaphore;
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
    const known = await this.#findRelayed(request);
    if (known) return known;
    try {
      const stored = await this.#store(request, store);
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

  async #store(request: RelayRequest, store: StoreWithRelay): Promise<CreatedRelay | undefined> {
    const { db, networks, maxFeeFri } = this.#deps;
    const { sponsorship, ...identity } = request;
    const { keys, chainId } = identity;
    const { environment, kind, account: wallet, execution, user } = sponsorship;
    const { chain } = networks.starknet(environment);
    const limits = this.#limitsOf(environment);
    const calls = relayedCalls(sponsorship);
    requireCalldataLimit(calls);
    await this.#requireBudget(sponsorship);
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
    };
    return limits.store(() => createRelay(this.#deps, order, store), tenant).catch(asBusy);
  }

  /** Spares the node what a budget refuses anyway; the reservation decides. */
  async #requireBudget({ environment, kind, user, poolFee }: Sponsorship): Promise<void> {
    const { db, sponsorLimits, now = Date.now } = this.#deps;
    const { organizationId, externalUserId } = user;
    if (externalUserId === undefined) return;
    const fri = 1n + (poolFee?.fri ?? 0n);
    const budget = { organizationId, externalUserId, environment, kind, fri, at: new Date(now()) };
    const refusal = await findReachedLimit(db.reads, sponsorLimits?.(environment) ?? NO_LIMITS, budget);
    if (refusal) throw refusal;
  }

  async #send({ environment, user }: Sponsorship, { id, account, signed }: CreatedRelay): Promise<Relayed> {
    const { db, networks, pause = pauseFor } = this.#deps;
    const { chain } = networks.starknet(environment);
    const { send } = this.#limitsOf(environment);
    const sending = async () => (await sendAttempt(db, chain, id, signed)).outcome === 'sent';
    const isSent = await send(sending, user.organizationId).catch((error: unknown) => {
      if (error instanceof QueueFullError) return false;
      throw error;
    });
    await enqueue(db, relayWorkerJob(environment, chain.chainId, account, { isSent }));
    return isSent ? { id, hash: signed.hash } : awaitSubmitted(db.reads, id, pause);
  }

  #limitsOf(environment: Environment): StageLimits {
    const { maxQueued = MAX_QUEUED } = this.#deps;
    const limits = this.#limits.get(environment) ?? {
      estimate: createSemaphore({ limit: MAX_AT_NODE, maxQueued }),
      store: createSemaphore({ limit: this.#requireKeys(environment).length, maxQueued }),
      send: createSemaphore({ limit: MAX_AT_NODE, maxQueued }),
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

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
