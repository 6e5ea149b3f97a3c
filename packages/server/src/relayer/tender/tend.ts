import type { Environment } from '@svc/protocol';
import { reasonOf } from '../../jobs/job.ts';
import { nextNonces, raiseNextNonce } from '../accounts.ts';
import { hasOpenRelays, openRelays } from './open-relays.ts';
import { pushWaiting } from './push-waiting.ts';
import { settleIncluded } from './settle-included.ts';
import { type TenderParts, type View, viewOf } from './view.ts';

/** What one look settles; the next one goes on. */
const MAX_SETTLED = 200;
/** More than a node lets wait, so that nothing that could be sent is overlooked. */
const MAX_WAITING = 200;

export interface Looked {
  /** Whether there is more to look at later. */
  readonly open: boolean;
  /** Whether something went forward, so that looking again at once is worth it. */
  readonly progressed: boolean;
}

/**
 * Looks after everything that an account has under way: stores how things ended, sends what no node has, raises what is stuck. It
 * may be repeated, and run beside requests that send the same. Nodes that fail change nothing.
 */
export async function tend(parts: TenderParts, environment: Environment, account: string): Promise<Looked> {
  const view = await viewOf(parts, environment, account);
  const isOpen = () => hasOpenRelays(view);
  if (!(await isOpen())) return { open: false, progressed: false };
  const progressed = await look(view).catch((error: unknown) => complain(view, error));
  return { open: await isOpen(), progressed };
}

/** Answers whether something went forward. */
async function look(view: View): Promise<boolean> {
  const { sealed, pending } = await readNonces(view);
  await catchUp(view, sealed);
  const included = await openRelays(view, { below: sealed, limit: MAX_SETTLED });
  const waiting = await openRelays(view, { from: pending, limit: MAX_WAITING });
  // Together, and neither fails with the other: somebody waits for both.
  const [pushed, settled] = await Promise.all([
    pushWaiting(view, waiting, pending).catch((error: unknown) => complain(view, error)),
    settleIncluded(view, included).catch((error: unknown) => complain(view, error)),
  ]);
  return pushed || settled;
}

function complain({ log, account }: View, error: unknown): false {
  log.warn({ account, reason: reasonOf(error) }, 'a look at a relayer account was cut short');
  return false;
}

/** What is below `sealed` stands in blocks; what is below `pending` is executed, but its block is still open. */
async function readNonces({ chain, account }: View): Promise<{ sealed: bigint; pending: bigint }> {
  const address = BigInt(account);
  const [sealed, pending] = await Promise.all([chain.nonceAt(address), chain.nonceAt(address, 'pre_confirmed')]);
  if (sealed === undefined || pending === undefined) throw new Error('The account does not stand on the chain.');
  // Two nodes may have answered, one of them behind.
  return { sealed, pending: pending > sealed ? pending : sealed };
}

/** The chain can be ahead of us only when the account's key was used elsewhere. */
async function catchUp({ db, chain, account, log }: View, sealed: bigint): Promise<void> {
  const next = (await nextNonces(db.reads, chain.chainId, [account])).get(account);
  if (next !== undefined && next >= sealed) return;
  log.error({ account, next: String(next), chain: String(sealed) }, 'somebody else uses the key of a relayer account');
  await raiseNextNonce(db, chain.chainId, account, sealed);
}
