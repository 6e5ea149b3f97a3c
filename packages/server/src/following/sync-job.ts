import type { Environment, StarknetAddress } from '@svc/protocol';
import { sql } from '@svc/store';
import { enqueue } from '../jobs/enqueue.ts';
import type { JobHandlers, NewJob } from '../jobs/job.ts';
import { walletsAt } from '../wallets/find-wallet.ts';
import { MAX_ADDED, type SyncParts } from './sync.ts';
import { syncInTurn } from './sync-in-turn.ts';

const SYNC_TASK = 'sync-wallet';

interface ToSync {
  readonly walletId: string;
}

/** Looks for what a wallet sent and received before it was known here, which following never sees. */
export function syncJob(walletId: string): NewJob {
  return { task: SYNC_TASK, key: walletId, payload: { walletId } satisfies ToSync };
}

export function syncHandlers(parts: SyncParts): JobHandlers {
  const { db } = parts;
  return {
    [SYNC_TASK]: async ({ walletId }: ToSync) => {
      const found = await db.one<{ environment: Environment; address: StarknetAddress }>(
        sql`select environment, address from wallets where id = ${walletId}`,
      );
      const [wallet] = found ? await walletsAt(db, found.environment, [found.address]) : [];
      if (!wallet) return;
      const { synced } = await syncInTurn(parts, wallet);
      if (synced >= MAX_ADDED) await enqueue(db, syncJob(walletId));
    },
  };
}
