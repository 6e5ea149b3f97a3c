import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@svc/protocol';
import { type Call, type OutsideExecution, parseOutsideExecutionTypedData } from '@svc/starknet';
import type { Database, Db } from '@svc/store';
import type { Networks, StarknetNetwork } from '../../chains/networks.ts';
import type { Receipt } from '../../chains/starknet/chain.ts';
import type { Crypto } from '../../crypto/crypto.ts';
import {
  enqueue,
  enqueueMany,
  type JobHandler,
  type JobHandlers,
  type JobLog,
  type NewJob,
  type RecurringJob,
} from '../../jobs/job.ts';
import { newId } from '../../util/ids.ts';
import { type DefaultLimits, dayOf, NO_LIMITS, reserveBudget } from '../budget.ts';
import {
  findExecutingTransaction,
  findExecutionBlock,
  isExecuted,
  isWindowClosed,
  type RelayedExecution,
  wasExecutedIn,
} from '../execution-proof.ts';
import { type OutcomeHandlers, recordOutcome } from '../outcome.ts';
import {
  isOpen,
  outsidePurpose,
  type PrepareRequest,
  prepareExecution,
  type Relayed,
  type RelayState,
  randomNonce,
  type Sponsor,
  type Sponsorship,
  type StoreWithRelay,
} from '../relay.ts';
import { awaitSubmitted, findRelayByPurpose, traceRelay } from '../relay-store.ts';
import {
  type Answer,
  buildRequest,
  executeRequest,
  notSubmittedYet,
  type PaymasterClient,
  provesNothingSent,
  refusedToBuild,
  refusedToExecute,
  unavailable,
} from './client.ts';
import {
  countSend,
  type FollowedRelay,
  insertPaymasterRelay,
  openRelays,
  type PaymasterRelay,
  readRelay,
  setHash,
} from './store.ts';

/** Longer than the paymaster's timeout. */
const RESEND_AFTER_MS = 30_000;

/** Ends the relay by what the chain proves, or sends it again. The paymaster's hash is only a hint where to look first. */
async function follow(deps: PaymasterDeps, relayId: string): Promise<PaymasterRelay | undefined> {
  const relay = await readRelay(deps.db, relayId);
  if (!relay || relay.state === 'SUCCEEDED') return relay;
  const network = deps.networks.starknet(relay.environment);
  const receipt = isOpen(relay.state) && relay.hash !== undefined ? await network.chain.receipt(relay.hash) : undefined;
  if (receipt && !receipt.accepted) return relay;
  if (receipt && (await isProven(network, relay, receipt))) await recordReceipt(deps, relay, receipt);
  else await searchExecution(deps, network, relay);
  return readRelay(deps.db, relayId);
}

/** A paymaster may name a wrong transaction, or send two, of which the second reverts. */
async function isProven({ chain }: StarknetNetwork, relay: PaymasterRelay, receipt: Receipt): Promise<boolean> {
  const relayed = executionOfPaymasterRelay(relay);
  if (receipt.status === 'REVERTED') return !(await isExecuted(chain, relayed, 'latest'));
  return receipt.blockNumber !== undefined && wasExecutedIn(chain, relayed, receipt.blockNumber);
}

async function searchExecution(deps: PaymasterDeps, network: StarknetNetwork, relay: PaymasterRelay): Promise<void> {
  const { chain } = network;
  const relayed = executionOfPaymasterRelay(relay);
  const head = await chain.blockNumber();
  if (await isExecuted(chain, relayed, head)) return recordExecution(deps, network, relay, head);
  if (!isOpen(relay.state)) return;
  if (await isWindowClosed(network, relayed, head)) return voidRelay(deps, relay);
  if (relay.restedMs < RESEND_AFTER_MS || (await network.time()) >= relay.notAfter) return;
  if (await isExecuted(chain, relayed, 'pre_confirmed')) return;
  const waits = relay.hash !== undefined && (await chain.transactionStatus(relay.hash)).status !== 'NOT_RECEIVED';
  if (!waits) await send(deps, relay);
}

async function recordExecution(
  deps: PaymasterDeps,
  { chain }: StarknetNetwork,
  relay: PaymasterRelay,
  head: number,
): Promise<void> {
  const relayed = executionOfPaymasterRelay(relay);
  const block = await findExecutionBlock(chain, relayed, head);
  if (block === undefined) {
    if (isOpen(relay.state)) await voidRelay(deps, relay);
    return;
  }
  const receipt = await findExecutingTransaction(deps.db, chain, relayed, block);
  if (!receipt) {
    deps.log.error({ relayId: relay.id, block }, 'relay executed by a paymaster, transaction not identified');
    return;
  }
  deps.log.warn({ relayId: relay.id, block }, 'relay executed by a paymaster in an unreported transaction');
  await setTransaction(deps, relay, receipt.transactionHash, ['STORED', 'SENT', 'REVERTED', 'VOIDED']);
  await recordReceipt(deps, relay, receipt);
}

const FIRST_POLL_MS = 2_000;

/** Safe to repeat: the wallet executes a nonce once. A refused repetition can mean that the first send succeeded. */
async function send(deps: PaymasterDeps, relay: PaymasterRelay): Promise<Answer<bigint>> {
  if (!(await countSend(deps.db, relay.id))) {
    return { outcome: 'failed', unclear: false, reason: 'the relay has ended already' };
  }
  const step = { name: 'relay send', hash: undefined };
  const answer = await traceRelay(deps.db, relay.id, step, () => deps.paymaster.execute(relay.content.request));
  if (answer.outcome === 'answered') {
    await setTransaction(deps, relay, answer.value, ['STORED', 'SENT']);
    return answer;
  }
  deps.log.warn({ relayId: relay.id, ...answer }, 'paymaster did not accept a relay');
  const sends = (await readRelay(deps.db, relay.id))?.content.sends;
  if (answer.outcome === 'refused' && sends === 1 && provesNothingSent(answer)) await voidRelay(deps, relay);
  return answer;
}

async function setTransaction(
  deps: Pick<PaymasterDeps, 'db' | 'onHash'>,
  relay: PaymasterRelay,
  hash: bigint,
  from: readonly RelayState[],
): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await setHash(tx, { id: relay.id, hash, from }))) return;
    await deps.onHash(tx, relay.id, hash);
    await enqueue(tx, followJob(relay, FIRST_POLL_MS));
  });
}

type Deps = Pick<PaymasterDeps, 'db' | 'networks' | 'outcomes'>;

async function recordReceipt(deps: Deps, relay: PaymasterRelay, receipt: Receipt): Promise<void> {
  const { chain } = deps.networks.starknet(relay.environment);
  const block = receipt.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  if (block?.hash !== receipt.blockHash || !block) return;
  await recordOutcome(deps.db, deps.outcomes, relay, { receipt, block, filler: false });
}

async function voidRelay(deps: Deps, relay: PaymasterRelay): Promise<void> {
  await recordOutcome(deps.db, deps.outcomes, relay, undefined);
}

function executionOfPaymasterRelay({ id, wallet, notAfter, content }: PaymasterRelay): RelayedExecution {
  const { transaction } = content.request;
  const about = { relayId: id, wallet, notAfter, fromBlock: content.fromBlock, deploys: transaction.type !== 'invoke' };
  if (transaction.type === 'deploy') return { ...about, execution: undefined };
  const typedData = parseOutsideExecutionTypedData(transaction.invoke.typed_data);
  if (!typedData.ok) throw new Error(`The stored request cannot be read: ${typedData.reason}`);
  return { ...about, execution: typedData.value.execution };
}

const FOLLOW_TASK = 'follow-paymaster-relay';

interface FollowPayload {
  readonly relayId: string;
}

function followJob({ id, organizationId }: FollowedRelay, inMs: number): NewJob {
  const payload: FollowPayload = { relayId: id };
  const runAt = new Date(Date.now() + inMs);
  return { task: FOLLOW_TASK, payload, key: id, queue: id, tenant: organizationId ?? undefined, runAt };
}

const SWEEP_TASK = 'sweep-paymaster-relays';
const SWEEP_SECONDS = 60;
/** Its job may have used up its attempts, or a reorganisation has reopened it. */
const QUIET_MS = 60_000;
const MAX_SWEPT = 1_000;
/** Longer is left to the operator. */
const MAX_FOLLOWED_MS = 7 * 24 * 3_600_000;

/** A tenth of the relay's age: from a block time on, less and less often. */
const MIN_POLL_MS = 2_000;
const MAX_POLL_MS = 300_000;
const POLLS_PER_AGE = 10;
export function paymasterJobs(deps: PaymasterDeps): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const followRelay: JobHandler<FollowPayload> = async ({ relayId }) => {
    const relay = await follow(deps, relayId);
    if (relay && !isDone(relay)) await enqueue(deps.db, followJob(relay, pollDelayMs(relay)));
  };
  const sweep: JobHandler<object> = async () => {
    const relays = await openRelays(deps.db, { quietMs: QUIET_MS, maxAgeMs: MAX_FOLLOWED_MS, limit: MAX_SWEPT });
    await enqueueMany(
      deps.db,
      relays.map((relay) => followJob(relay, 0)),
    );
  };
  return {
    handlers: { [FOLLOW_TASK]: followRelay, [SWEEP_TASK]: sweep },
    recurring: [{ task: SWEEP_TASK, everySeconds: SWEEP_SECONDS }],
  };
}

/** Until its window ends, a failed relay can still be executed by the paymaster or any holder of the signature. */
function isDone(relay: PaymasterRelay): boolean {
  if (isOpen(relay.state)) return ageOf(relay) > MAX_FOLLOWED_MS;
  return relay.state === 'SUCCEEDED' || Date.now() > relay.notAfter.getTime() + MAX_POLL_MS;
}

function pollDelayMs(relay: PaymasterRelay): number {
  return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, ageOf(relay) / POLLS_PER_AGE));
}

const ageOf = ({ createdAt }: PaymasterRelay): number => Date.now() - createdAt.getTime();

export interface PaymasterDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly crypto: Crypto;
  readonly paymaster: PaymasterClient;
  readonly outcomes: OutcomeHandlers;
  /** Runs in the transaction that stores the hash, before any outcome; again when the hash changes. */
  readonly onHash: (tx: Db, relayId: string, hash: bigint) => Promise<void>;
  readonly log: JobLog;
  readonly maxFeeFri?: bigint | undefined;
  readonly sponsorLimits?: DefaultLimits | undefined;
}

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

type PrepareDeps = Pick<PaymasterDeps, 'networks' | 'paymaster'>;

/** The paymaster chooses nonce and caller only; the rest is checked. */
async function prepare({ networks, paymaster }: PrepareDeps, request: PrepareRequest): Promise<OutsideExecution> {
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
