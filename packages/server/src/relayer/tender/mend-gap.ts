import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { firstFee } from '../fees.ts';
import { fillerCalls } from '../relayed-calls.ts';
import { reopen } from '../reopen.ts';
import { signTransaction, unsigned } from '../sign.ts';
import { insertRelay } from '../store-relay.ts';
import type { View } from './view.ts';

/** At one look; the next one goes on. */
const MAX_MENDED = 100;
/** Long over: a gap's transaction is never sent for anything but its nonce. */
const OVER = new Date(0);

interface Ended {
  readonly id: string;
  readonly nonce: bigint;
  readonly block_number: bigint | null;
  readonly block_hash: string | null;
}

/**
 * Nonces that nothing under way has, although the chain waits for them: what had them was taken off the chain again, or they were
 * given out and lost. The former goes on; for the latter something that does nothing is stored. Answers whether anything was done.
 */
export async function mendGap(view: View, from: bigint, to: bigint): Promise<boolean> {
  const { db, chain, account, log } = view;
  const end = to - from > BigInt(MAX_MENDED) ? from + BigInt(MAX_MENDED) : to;
  const ended = await endedRelays(db, chain.chainId, account, from, end);
  for (const relay of ended) if (await stands(view, relay)) return false;
  log.error(
    { account, from: String(from), to: String(end) },
    'nonces of a relayer account were lost; they are made good',
  );
  const ids = ended.map(({ id }) => id);
  await db.tx((tx) => reopen(tx, chain.chainId, sql`id = any (${ids})`));
  const known = new Set(ended.map(({ nonce }) => nonce));
  const missing = Array.from({ length: Number(end - from) }, (_, index) => from + BigInt(index));
  return fill(
    view,
    missing.filter((nonce) => !known.has(nonce)),
  );
}

function endedRelays(db: Db, chainId: bigint, account: string, from: bigint, to: bigint): Promise<Ended[]> {
  return db.rows(sql`
    select id, nonce, block_hash,
           -- Where somebody else's transaction executed it, its block says nothing of our nonce.
           case when hash in (select hash from relay_attempts where relay_id = relays.id and kind = 'OTHER')
                then null else block_number end as block_number
      from relays
     where chain_id = ${toHex(chainId)} and account = ${account} and nonce >= ${from} and nonce < ${to}`);
}

/** Its block is there, so the account has come further than the node says that we asked. */
async function stands({ chain }: View, { block_number, block_hash }: Ended): Promise<boolean> {
  if (block_number === null || block_hash === null) return false;
  return (await chain.block(Number(block_number)))?.hash === BigInt(block_hash);
}

async function fill(view: View, nonces: readonly bigint[]): Promise<boolean> {
  const { db, chain, environment, account, key } = view;
  const [first] = nonces;
  if (first === undefined) return true;
  if (!key) throw new Error('Nonces were lost, and the key of the account is not configured.');
  const { chainId } = chain;
  const calls = fillerCalls(key.address, view.strk);
  const estimate = await chain.estimate(unsigned({ chainId, sender: key.address, nonce: first, calls }));
  if (!estimate.ok) throw new Error(`The fee of a filler could not be estimated: ${estimate.reason}`);
  for (const nonce of nonces) {
    const signed = await signTransaction(
      view.crypto,
      key,
      { chainId, sender: key.address, nonce, calls },
      firstFee(estimate),
    );
    const about = { environment, chainId, kind: 'gap', messageHash: 0n, wallet: key.address, notAfter: OVER } as const;
    const place = { account, nonce, calls, attempt: 'FILLER', signed } as const;
    const purpose = `gap ${account} ${nonce}`;
    await db.tx((tx) => insertRelay(tx, { ...about, ...place, purpose }));
  }
  return true;
}
