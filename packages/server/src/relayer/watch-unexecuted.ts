import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import { reasonOf } from '../jobs/job.ts';
import { isDone } from './evidence/evidence.ts';
import type { Relay } from './relay.ts';
import { reopen } from './reopen.ts';
import { deedOf } from './tender/relay-calls.ts';
import type { TenderParts } from './tender/view.ts';
import { createTurns } from './turns.ts';

/** At one look, those first that were not asked about for longest: one question each. */
const MAX_WATCHED = 500;
/** Enough to keep a node busy, few enough to be polite. */
const AT_ONCE = 8;
/** So that the last look comes when the window is over and what it left is in a block. */
const WATCHED_LONGER_MS = 180_000;

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
export async function watchUnexecuted(parts: TenderParts, environment: Environment): Promise<void> {
  const { networks, log } = parts;
  const { chain, time } = networks.starknet(environment);
  const rows = await toWatch(parts.db, chain.chainId, new Date((await time()).getTime() - WATCHED_LONGER_MS));
  const turns = createTurns(AT_ONCE);
  const look = (row: Row) =>
    reopenExecuted(parts, chain, row).catch((error: unknown) =>
      log.warn({ relayId: row.id, reason: reasonOf(error) }, 'a wallet could not be asked what it has executed'),
    );
  await Promise.all(rows.map((row) => turns(() => look(row))));
}

function toWatch(db: Db, chainId: bigint, notBefore: Date): Promise<Row[]> {
  return db.rows(sql`
    update relays set looked_at = now()
     where state in ('REVERTED', 'VOIDED') and id in (
       select id from relays
        where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null
          and kind not in ('gap', 'payout', 'burn', 'refund') and not_after > ${notBefore}
        order by looked_at nulls first, not_after limit ${MAX_WATCHED})
    returning id, kind, wallet, not_after`);
}

async function reopenExecuted({ db, log }: TenderParts, chain: StarknetChain, row: Row): Promise<void> {
  const { id, kind, wallet, not_after } = row;
  const deed = await deedOf(db, { id, kind, wallet: BigInt(wallet), notAfter: not_after });
  if (!deed || !(await isDone(chain, deed, 'latest'))) return;
  log.warn({ relayId: id }, 'a relay that counted as lost was executed after all');
  await db.tx((tx) => reopen(tx, chain.chainId, sql`id = ${id}`));
}
