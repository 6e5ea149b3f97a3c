import { allEndpoints, type RedeemStatus } from '@svc/protocol';
import { type Database, sql } from '@svc/store';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Authenticator } from '../src/auth/authenticate.ts';
import type { Networks } from '../src/chains/networks.ts';
import { type ClaimDeps, CodeLookup } from '../src/gifts/claim.ts';
import { claimHandlers } from '../src/gifts/module.ts';
import { endRedeems, RedeemWaiters } from '../src/gifts/redeem.ts';
import { AdmissionControl } from '../src/http/admission.ts';
import type { Handlers } from '../src/http/call.ts';
import { registerEndpoints } from '../src/http/endpoints.ts';
import { replyWithError } from '../src/http/error-reply.ts';
import { RateLimiter } from '../src/http/rate-limit.ts';
import { NOW } from './gifts.ts';

export const MANAGER = 0xabcn;
export const PAYMENT_ADDRESS = `0x${'def'.padStart(64, '0')}`;
export const USDC = '0x053b40a647cedfca6ca84f542a0fe36736031905a9639a7f19a3c1e66bfd5080';
/** The public keys of ed25519 seeds of all ones, twos and threes. */
export const SOLANA_WALLETS: readonly string[] = [
  'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9',
  '9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu',
  'GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse',
];
export const SOLANA_WALLET = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';

/** Enough for every test that is not about limits. */
const PLENTY = 1_000_000;

const networks = {
  starknet: () => ({ paymentAddress: PAYMENT_ADDRESS }),
  tokens: () => [{ chain: 'STARKNET', token: 'USDC', address: USDC, decimals: 6 }],
} as unknown as Pick<Networks, 'starknet' | 'tokens'>;

/** Claims on a database, with stand-ins for the chains. */
export function claimDeps(db: Database, changes: Partial<ClaimDeps> = {}): ClaimDeps {
  return {
    db,
    networks,
    manager: () => MANAGER,
    canBridge: () => true,
    codes: new CodeLookup(db, PLENTY),
    waiters: new RedeemWaiters(),
    now: () => NOW,
    ...changes,
  };
}

export interface AppLimits {
  readonly requests?: number;
}

/** A process that serves claims, without a network before it. */
export async function claimApp(deps: ClaimDeps, { requests = PLENTY }: AppLimits = {}): Promise<FastifyInstance> {
  const app = Fastify({ trustProxy: true, routerOptions: { maxParamLength: 1_024 } });
  app.setErrorHandler(replyWithError);
  const unused = Object.fromEntries(allEndpoints.map(({ operationId }) => [operationId, async () => ({})]));
  registerEndpoints(app, {
    db: deps.db,
    authenticator: {} as Authenticator,
    rateLimiter: {} as RateLimiter,
    clientLimiter: new RateLimiter(deps.db, requests),
    governor: new AdmissionControl({ perSecond: PLENTY }),
    handlers: { ...(unused as unknown as Handlers), ...claimHandlers(deps) },
  });
  await app.ready();
  return app;
}

/** Ends whatever waits to be paid until `work` is done, as `decide` says. Answers what work answers. */
export async function payMeanwhile<T>(
  db: Database,
  work: Promise<T>,
  decide: (id: string) => 'SUCCESS' | 'FAILED' = () => 'SUCCESS',
): Promise<T> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  // Whoever made it waits for it; that it failed is seen there.
  done.catch(() => {});
  while (!over) await payWaiting(db, decide);
  return done;
}

/** Some at a time, like a payout of many. */
const BATCH = 4;

async function payWaiting(db: Database, decide: (id: string) => 'SUCCESS' | 'FAILED'): Promise<void> {
  const waiting = await db.rows<{ id: string }>(sql`
    select id from gift_redeems where status = 'PENDING' order by created_at, id limit ${BATCH}`);
  await db.tx((tx) =>
    endRedeems(
      tx,
      waiting.map(({ id }) =>
        decide(id) === 'SUCCESS'
          ? { id, end: 'SUCCESS', transactionHash: `0x${id.length}` }
          : { id, end: 'FAILED', reason: 'out of luck' },
      ),
    ),
  );
}

/** Puts a redeem where the bridge would have brought it. */
export async function putStatus(db: Database, id: string, status: RedeemStatus, hash = '0xb0'): Promise<void> {
  await db.run(sql`update gift_redeems set status = ${status}, transaction_hash = ${hash} where id = ${id}`);
}
