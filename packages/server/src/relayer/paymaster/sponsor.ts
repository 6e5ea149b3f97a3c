import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@svc/protocol';
import { type Call, type OutsideExecution, parseOutsideExecutionTypedData } from '@svc/starknet';
import { enqueue } from '../../jobs/job.ts';
import { newId } from '../../util/ids.ts';
import { dayOf, NO_LIMITS, reserveBudget } from '../budget.ts';
import {
  outsidePurpose,
  type PrepareRequest,
  prepareExecution,
  type Relayed,
  randomNonce,
  type Sponsor,
  type Sponsorship,
  type StoreWithRelay,
} from '../relay.ts';
import { awaitSubmitted, findRelayByPurpose } from '../relay-store.ts';
import {
  buildRequest,
  executeRequest,
  notSubmittedYet,
  refusedToBuild,
  refusedToExecute,
  unavailable,
} from './client.ts';
import { followJob, type PaymasterDeps, RESEND_AFTER_MS, send } from './follow.ts';
import { insertPaymasterRelay, type PaymasterRelay, readRelay } from './store.ts';

/** Reorganisation depth up to which its transaction is still found. */
const REORG_BLOCKS = 100;

export function createPaymasterSponsor(deps: PaymasterDeps): Sponsor {
  return {
    prepare: (request) => prepare(deps, request),
    async sponsor(sponsorship, store) {
      const { chain } = deps.networks.starknet(sponsorship.environment);
      const { execution, account } = sponsorship;
      const messageHash =
        sponsorship.messageHash ?? (await deps.crypto.executionHash(execution, account, chain.chainId));
      const purpose = outsidePurpose(account, execution.nonce);
      const known = await findRelayByPurpose(deps.db.reads, chain.chainId, purpose);
      const added = known ? undefined : await storeRelay(deps, sponsorship, { purpose, messageHash, store });
      if (added) return sendFirst(deps, added);
      const first = known ?? (await findRelayByPurpose(deps.db.reads, chain.chainId, purpose));
      if (first?.messageHash === messageHash) return awaitSubmitted(deps.db.reads, first.id, pause);
      throw new ApiError(
        'invalid_typed_data',
        'The nonce of this typed data was used for another message. Prepare it again.',
      );
    },
  };
}

interface Identity {
  readonly purpose: string;
  readonly messageHash: bigint;
  readonly store: StoreWithRelay;
}

async function storeRelay(
  { db, networks, maxFeeFri = 0n, sponsorLimits }: PaymasterDeps,
  sponsorship: Sponsorship,
  { purpose, messageHash, store }: Identity,
): Promise<PaymasterRelay | undefined> {
  const { environment, kind, account: wallet, execution, user } = sponsorship;
  const { chain } = networks.starknet(environment);
  const request = executeRequest(sponsorship, chain.chainId);
  const fromBlock = Math.max(0, (await chain.blockNumber()) - REORG_BLOCKS);
  const notAfter = new Date(Number(execution.executeBefore) * 1_000);
  const id = newId('rly');
  const identity = { id, environment, chainId: chain.chainId, kind, purpose, messageHash, wallet };
  const at = new Date();
  const { organizationId, externalUserId } = user;
  // The paymaster says what it cost when the transaction is on the chain.
  const budget = externalUserId === undefined ? undefined : { day: dayOf(at), fri: maxFeeFri };
  return db.tx(async (tx) => {
    const relay = { ...identity, notAfter, request, fromBlock, user, budget };
    if (!(await insertPaymasterRelay(tx, relay))) return undefined;
    if (externalUserId !== undefined) {
      const reserved = { organizationId, externalUserId, environment, kind, fri: maxFeeFri, at };
      await reserveBudget(tx, sponsorLimits?.(environment) ?? NO_LIMITS, reserved);
    }
    await store(tx, { id, hash: undefined });
    await enqueue(tx, followJob({ id, organizationId }, RESEND_AFTER_MS));
    return readRelay(tx, id);
  });
}

async function sendFirst(deps: PaymasterDeps, relay: PaymasterRelay): Promise<Relayed> {
  const answer = await send(deps, relay);
  if (answer.outcome === 'answered') return { id: relay.id, hash: answer.value };
  const now = await readRelay(deps.db, relay.id);
  if (now?.hash !== undefined) return { id: relay.id, hash: now.hash };
  if (answer.outcome === 'refused' && now?.state === 'VOIDED') throw refusedToExecute(answer);
  throw notSubmittedYet(answer.reason);
}

type Deps = Pick<PaymasterDeps, 'networks' | 'paymaster'>;

/** The paymaster chooses nonce and caller only; the rest is checked. */
export async function prepare({ networks, paymaster }: Deps, request: PrepareRequest): Promise<OutsideExecution> {
  const network = networks.starknet(request.environment);
  const own = await prepareExecution(network, request.calls, randomNonce);
  if (own.calls.length === 0) return own;
  const answer = await paymaster.build(buildRequest(request, own));
  if (answer.outcome === 'refused') throw refusedToBuild(answer);
  if (answer.outcome === 'failed') throw unavailable(`did not build: ${answer.reason}`);
  return checked(answer.value, own, network.chain.chainId);
}

function checked(typedData: unknown, own: OutsideExecution, chainId: bigint): OutsideExecution {
  const built = parseOutsideExecutionTypedData(typedData);
  if (!built.ok) throw unavailable(`built typed data that is not an outside execution: ${built.reason}`);
  const { execution } = built.value;
  if (built.value.chainId !== chainId) throw unavailable('built typed data for another chain');
  if (!sameCalls(execution.calls, own.calls)) throw unavailable('built typed data with calls that were not asked for');
  if (execution.executeAfter < own.executeAfter || execution.executeBefore > own.executeBefore) {
    throw unavailable('built typed data that is valid for longer than was asked for');
  }
  return execution;
}

function sameCalls(built: readonly Call[], requested: readonly Call[]): boolean {
  return (
    built.length === requested.length &&
    built.every(({ to, selector, calldata }, index) => {
      const other = requested[index];
      return (
        to === other?.to &&
        selector === other.selector &&
        calldata.length === other.calldata.length &&
        calldata.every((felt, position) => felt === other.calldata[position])
      );
    })
  );
}
