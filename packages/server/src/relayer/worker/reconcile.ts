import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Block, StarknetChain } from '../../chains/starknet/chain.ts';
import { createSemaphore } from '../../util/semaphore.ts';
import { errorText } from '../../util/text.ts';
import {
  executionOfRelay,
  findExecutingTransaction,
  findExecutionBlock,
  isExecuted,
  NonceUnreadableError,
} from '../execution-proof.ts';
import { type Included, recordOutcome } from '../outcome.ts';
import type { Relay } from '../relay.ts';
import { insertForeignAttempt, reopen } from '../relay-store.ts';
import {
  type AccountContext,
  ageMs,
  countFailure,
  markSince,
  type OpenRelay,
  type RelayWorkerDeps,
} from './context.ts';

/** Reads of one look at the same time: enough to keep a node busy, few enough to be polite. */
const READS_AT_ONCE = 8;
/** A node may tell nonces before receipts, or be behind another one; after so long it is neither. */
const DISPLACED_AFTER_MS = 300_000;

/** `LATER`: it is on the chain, but its block may still change, or it cannot be read now. `UNKNOWN`: none of its transactions is there. */
type Inclusion = Included | 'LATER' | 'UNKNOWN';

/** Stores the end of relays whose nonces are used. Answers whether there was one. */
export async function recordIncluded(view: AccountContext, relays: readonly OpenRelay[]): Promise<boolean> {
  const blocks = new Map<number, Promise<Block | undefined>>();
  const blockAt = (number: number) => {
    const block = blocks.get(number) ?? view.chain.block(number);
    blocks.set(number, block);
    return block;
  };
  let settled = false;
  for (let start = 0; start < relays.length; start += READS_AT_ONCE) {
    const some = relays.slice(start, start + READS_AT_ONCE);
    const all = await Promise.all(
      some.map(async (relay) => ({ relay, found: await readInclusion(view, relay, blockAt) })),
    );
    for (const { relay, found } of all) settled = (await endRelay(view, relay, found)) || settled;
  }
  return settled;
}

type BlockAt = (number: number) => Promise<Block | undefined>;

/** One that cannot be read must not hold up the others. */
function readInclusion(view: AccountContext, relay: OpenRelay, blockAt: BlockAt): Promise<Inclusion> {
  return read(view, relay, blockAt).catch((error: unknown) => {
    view.log.warn({ relayId: relay.id, reason: errorText(error) }, 'the end of a relay could not be read');
    return 'LATER';
  });
}

async function read({ chain }: AccountContext, { attempts }: OpenRelay, blockAt: BlockAt): Promise<Inclusion> {
  for (const { hash, kind } of attempts) {
    const receipt = await chain.receipt(hash);
    if (!receipt) continue;
    if (!receipt.accepted || receipt.blockNumber === undefined) return 'LATER';
    const block = await blockAt(receipt.blockNumber);
    return block && block.hash === receipt.blockHash ? { receipt, block, filler: kind === 'FILLER' } : 'LATER';
  }
  return 'UNKNOWN';
}

async function endRelay(view: AccountContext, relay: OpenRelay, found: Inclusion): Promise<boolean> {
  const { db, outcomes, log } = view;
  if (found === 'LATER') return false;
  try {
    if (found === 'UNKNOWN' && !(await isDisplaced(view, relay))) return false;
    const own = found === 'UNKNOWN' ? undefined : found;
    const other = isExecution(own) ? 'NONE' : await findForeignExecution(view, relay);
    if (other === 'UNIDENTIFIED') return false;
    return await recordOutcome(db, outcomes, relay, other === 'NONE' ? own : other);
  } catch (error) {
    // A relay that cannot be recorded does not hold up the others.
    log.error({ relayId: relay.id, err: error }, 'relay outcome not recorded, retrying');
    await countFailure(view, relay.id);
    return false;
  }
}

const isExecution = (own: Included | undefined): boolean =>
  own !== undefined && !own.filler && own.receipt.status !== 'REVERTED';

async function isDisplaced(view: AccountContext, relay: OpenRelay): Promise<boolean> {
  const { chain, account, log } = view;
  const { id, nonce, missingSince, attempts } = relay;
  if (!missingSince) await markSince(view, id, 'missing');
  if (!missingSince || ageMs(view, missingSince) < DISPLACED_AFTER_MS) return false;
  const used = (await chain.nonceAt(BigInt(account))) ?? 0n;
  const known = await Promise.all(attempts.map(({ hash }) => chain.transactionStatus(hash)));
  if (used <= nonce || known.some(({ status }) => status !== 'NOT_RECEIVED')) return false;
  const hashes = attempts.map(({ hash }) => toHex(hash));
  log.error({ account, relayId: id, nonce: String(nonce), hashes }, 'the nonce of a relay was used by somebody else');
  return true;
}

/**
 * Anyone who has seen the signature can execute a relay: when our own transaction did not, the wallet is asked whether somebody has.
 * `NO`: nobody has. `UNTOLD`: somebody has, in a transaction that cannot be told yet.
 */
export async function findForeignExecution(
  view: AccountContext,
  relay: OpenRelay,
): Promise<Included | 'NONE' | 'UNIDENTIFIED'> {
  const { db, chain, log } = view;
  const deed = await executionOfRelay(db, relay);
  if (!deed) return 'NONE';
  try {
    if (!(await isExecuted(chain, deed, 'latest'))) return 'NONE';
  } catch (error) {
    if (error instanceof NonceUnreadableError) return 'NONE';
    throw error;
  }
  const head = await chain.blockNumber();
  const number = (await isExecuted(chain, deed, head)) ? await findExecutionBlock(chain, deed, head) : undefined;
  const receipt = number === undefined ? undefined : await findExecutingTransaction(db, chain, deed, number);
  const block = receipt?.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  if (!receipt || !block || block.hash !== receipt.blockHash) {
    await markSince(view, relay.id, 'looked');
    log.error({ relayId: relay.id, block: number }, 'somebody executed a relay in a transaction that cannot be told');
    return 'UNIDENTIFIED';
  }
  const hash = receipt.transactionHash;
  await insertForeignAttempt(db, chain.chainId, relay.id, hash);
  log.warn({ relayId: relay.id, hash: toHex(hash) }, 'somebody else executed a relay');
  return { receipt, block, filler: false };
}

/** At one look, those first that were not asked about for longest: one question each. */
const MAX_RECHECKED = 500;
/** Enough to keep a node busy, few enough to be polite. */
const RECHECKS_AT_ONCE = 8;
/** So that the last look comes when the window is over and what it left is in a block. */
const RECHECK_MARGIN_MS = 180_000;

interface Row {
  readonly id: string;
  readonly kind: Relay['kind'];
  readonly wallet: string;
  readonly not_after: Date;
}

/**
 * What reverted or was given up can still be executed by anyone who has the signature, until its window is over. Where the wallet says
 * that it was, the relay is under way again, and the tender finds out how it ended.
 */
export async function recheckUnexecuted(deps: RelayWorkerDeps, environment: Environment): Promise<void> {
  const { networks, log } = deps;
  const { chain, time } = networks.starknet(environment);
  const rows = await relaysToRecheck(deps.db, chain.chainId, new Date((await time()).getTime() - RECHECK_MARGIN_MS));
  const turns = createSemaphore({ limit: RECHECKS_AT_ONCE, maxQueued: MAX_RECHECKED });
  const look = (row: Row) =>
    reopenExecuted(deps, chain, row).catch((error: unknown) =>
      log.warn({ relayId: row.id, reason: errorText(error) }, 'a wallet could not be asked what it has executed'),
    );
  await Promise.all(rows.map((row) => turns(() => look(row))));
}

function relaysToRecheck(db: Db, chainId: bigint, notBefore: Date): Promise<Row[]> {
  return db.rows(sql`
    update relays set looked_at = now()
     where state in ('REVERTED', 'VOIDED') and id in (
       select id from relays
        where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null
          and kind not in ('gap', 'payout', 'burn', 'refund') and not_after > ${notBefore}
        order by looked_at nulls first, not_after limit ${MAX_RECHECKED})
    returning id, kind, wallet, not_after`);
}

async function reopenExecuted({ db, log }: RelayWorkerDeps, chain: StarknetChain, row: Row): Promise<void> {
  const { id, kind, wallet, not_after } = row;
  const deed = await executionOfRelay(db, { id, kind, wallet: BigInt(wallet), notAfter: not_after });
  if (!deed || !(await isExecuted(chain, deed, 'latest'))) return;
  log.warn({ relayId: id }, 'a relay that counted as lost was executed after all');
  await db.tx((tx) => reopen(tx, chain.chainId, sql`id = ${id}`));
}
