import { parseOutsideExecutionTypedData } from '@svc/starknet';
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
import {
  findExecutingTransaction,
  findExecutionBlock,
  isExecuted,
  isWindowClosed,
  type RelayedExecution,
  wasExecutedIn,
} from '../execution-proof.ts';
import { type OutcomeHandlers, recordOutcome } from '../outcome.ts';
import { isOpen, type RelayState } from '../relay.ts';
import { type Answer, type PaymasterClient, provesNothingSent } from './client.ts';
import { countSend, openRelays, type PaymasterRelay, readRelay, setHash } from './store.ts';

/** Longer than the paymaster is waited for, so that what is under way is not asked for again. */
export const RESEND_AFTER_MS = 30_000;

/**
 * Brings a relay one step nearer to its end, by what the chain shows. Whether the wallet has executed it decides; what the paymaster
 * said only tells where to look first.
 */
export async function follow(deps: PaymasterDeps, relayId: string): Promise<PaymasterRelay | undefined> {
  const relay = await readRelay(deps.db, relayId);
  if (!relay || relay.state === 'SUCCEEDED') return relay;
  const network = deps.networks.starknet(relay.environment);
  const receipt = isOpen(relay.state) && relay.hash !== undefined ? await network.chain.receipt(relay.hash) : undefined;
  if (receipt && !receipt.accepted) return relay;
  if (receipt && (await isProven(network, relay, receipt))) await recordReceipt(deps, relay, receipt);
  else await searchExecution(deps, network, relay);
  return readRelay(deps.db, relayId);
}

/** A paymaster may name a transaction that is not the one, or send two of which the second must revert. */
async function isProven({ chain }: StarknetNetwork, relay: PaymasterRelay, receipt: Receipt): Promise<boolean> {
  const deed = executionOfPaymasterRelay(relay);
  if (receipt.status === 'REVERTED') return !(await isExecuted(chain, deed, 'latest'));
  return receipt.blockNumber !== undefined && wasExecutedIn(chain, deed, receipt.blockNumber);
}

async function searchExecution(deps: PaymasterDeps, network: StarknetNetwork, relay: PaymasterRelay): Promise<void> {
  const { chain } = network;
  const deed = executionOfPaymasterRelay(relay);
  const head = await chain.blockNumber();
  if (await isExecuted(chain, deed, head)) return recordExecution(deps, network, relay, head);
  if (!isOpen(relay.state)) return;
  if (await isWindowClosed(network, deed, head)) return voidRelay(deps, relay);
  if (relay.restedMs < RESEND_AFTER_MS || (await network.time()) >= relay.notAfter) return;
  if (await isExecuted(chain, deed, 'pre_confirmed')) return;
  const waits = relay.hash !== undefined && (await chain.transactionStatus(relay.hash)).status !== 'NOT_RECEIVED';
  if (!waits) await send(deps, relay);
}

/** It is executed, though not by a transaction that we know of, or although we were told that it never would be. */
async function recordExecution(
  deps: PaymasterDeps,
  { chain }: StarknetNetwork,
  relay: PaymasterRelay,
  head: number,
): Promise<void> {
  const deed = executionOfPaymasterRelay(relay);
  const block = await findExecutionBlock(chain, deed, head);
  if (block === undefined) {
    if (isOpen(relay.state)) await voidRelay(deps, relay);
    return;
  }
  const receipt = await findExecutingTransaction(deps.db, chain, deed, block);
  if (!receipt) {
    deps.log.error({ relayId: relay.id, block }, 'a paymaster executed a relay in a transaction that cannot be told');
    return;
  }
  deps.log.warn({ relayId: relay.id, block }, 'a paymaster executed a relay without telling its transaction');
  await setTransaction(deps, relay, receipt.transactionHash, ['STORED', 'SENT', 'REVERTED', 'VOIDED']);
  await recordReceipt(deps, relay, receipt);
}

/** Blocks come every few seconds. */
const FIRST_LOOK_MS = 2_000;

/**
 * Asks the paymaster to execute a stored relay. Asking again is safe, because the wallet executes a nonce once. For the same reason
 * a refusal ends the relay only when nothing else was asked: otherwise it is what a success looks like.
 */
export async function send(deps: PaymasterDeps, relay: PaymasterRelay): Promise<Answer<bigint>> {
  if (!(await countSend(deps.db, relay.id))) {
    return { outcome: 'failed', unclear: false, reason: 'the relay has ended already' };
  }
  const answer = await deps.paymaster.execute(relay.content.request);
  if (answer.outcome === 'answered') {
    await setTransaction(deps, relay, answer.value, ['STORED', 'SENT']);
    return answer;
  }
  deps.log.warn({ relayId: relay.id, ...answer }, 'the paymaster did not take a transaction');
  const sends = (await readRelay(deps.db, relay.id))?.content.sends;
  if (answer.outcome === 'refused' && sends === 1 && provesNothingSent(answer)) await voidRelay(deps, relay);
  return answer;
}

/** From now on this is the relay's transaction. */
export async function setTransaction(
  deps: Pick<PaymasterDeps, 'db' | 'onHash'>,
  relay: PaymasterRelay,
  hash: bigint,
  from: readonly RelayState[],
): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await setHash(tx, { id: relay.id, hash, from }))) return;
    await deps.onHash(tx, relay.id, hash);
    await enqueue(tx, followJob(relay.id, FIRST_LOOK_MS));
  });
}

type Deps = Pick<PaymasterDeps, 'db' | 'networks' | 'outcomes'>;

/** What the chain says of the relay's transaction, once it is in a block. */
export async function recordReceipt(deps: Deps, relay: PaymasterRelay, receipt: Receipt): Promise<void> {
  const { chain } = deps.networks.starknet(relay.environment);
  const block = receipt.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  // The block was taken away while we looked; what takes its place is seen the next time.
  if (block?.hash !== receipt.blockHash || !block) return;
  await recordOutcome(deps.db, deps.outcomes, relay, { receipt, block, filler: false });
}

/** It was not executed and will not be. */
export async function voidRelay(deps: Deps, relay: PaymasterRelay): Promise<void> {
  await recordOutcome(deps.db, deps.outcomes, relay, undefined);
}

/** What a paymaster was asked to do. */
export function executionOfPaymasterRelay({ id, wallet, notAfter, content }: PaymasterRelay): RelayedExecution {
  const { transaction } = content.request;
  const about = { relayId: id, wallet, notAfter, fromBlock: content.fromBlock, deploys: transaction.type !== 'invoke' };
  if (transaction.type === 'deploy') return { ...about, execution: undefined };
  const typedData = parseOutsideExecutionTypedData(transaction.invoke.typed_data);
  if (!typedData.ok) throw new Error(`The stored request cannot be read: ${typedData.reason}`);
  return { ...about, execution: typedData.value.execution };
}

export const FOLLOW_TASK = 'follow-paymaster-relay';

export interface FollowPayload {
  readonly relayId: string;
}

export function followJob(relayId: string, inMs: number): NewJob {
  const payload: FollowPayload = { relayId };
  return { task: FOLLOW_TASK, payload, key: relayId, queue: relayId, runAt: new Date(Date.now() + inMs) };
}

const SWEEP_TASK = 'sweep-paymaster-relays';
const SWEEP_SECONDS = 60;
/** Untouched for this long: perhaps its own job has given up, or the chain was reorganised. */
const QUIET_MS = 60_000;
const MAX_SWEPT = 1_000;
/** What cannot be told after a week is for the operator to find out. */
const MAX_FOLLOWED_MS = 7 * 24 * 3_600_000;

/** A block's time while it is young, and then less and less often. */
const MIN_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 300_000;
const PAUSES_PER_AGE = 10;

/** Follows what a paymaster was asked to execute until the chain shows how it ended. */
export function paymasterJobs(deps: PaymasterDeps): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const followRelay: JobHandler<FollowPayload> = async ({ relayId }) => {
    const relay = await follow(deps, relayId);
    if (relay && !isDone(relay)) await enqueue(deps.db, followJob(relayId, pollDelayMs(relay)));
  };
  const sweep: JobHandler<object> = async () => {
    const ids = await openRelays(deps.db, { quietMs: QUIET_MS, maxAgeMs: MAX_FOLLOWED_MS, limit: MAX_SWEPT });
    await enqueueMany(
      deps.db,
      ids.map((id) => followJob(id, 0)),
    );
  };
  return {
    handlers: { [FOLLOW_TASK]: followRelay, [SWEEP_TASK]: sweep },
    recurring: [{ task: SWEEP_TASK, everySeconds: SWEEP_SECONDS }],
  };
}

/**
 * Until its window is over, anyone who has the signature may still execute what reverted or what the paymaster refused, the
 * paymaster included.
 */
function isDone(relay: PaymasterRelay): boolean {
  if (isOpen(relay.state)) return ageOf(relay) > MAX_FOLLOWED_MS;
  return relay.state === 'SUCCEEDED' || Date.now() > relay.notAfter.getTime() + MAX_PAUSE_MS;
}

function pollDelayMs(relay: PaymasterRelay): number {
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ageOf(relay) / PAUSES_PER_AGE));
}

const ageOf = ({ createdAt }: PaymasterRelay): number => Date.now() - createdAt.getTime();

export interface PaymasterDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly crypto: Crypto;
  readonly paymaster: PaymasterClient;
  readonly outcomes: OutcomeHandlers;
  /**
   * Told the transaction of a relay, in the database transaction that stores it and before any outcome; again when it turns out
   * to be another one.
   */
  readonly onHash: (tx: Db, relayId: string, hash: bigint) => Promise<void>;
  readonly log: JobLog;
}
