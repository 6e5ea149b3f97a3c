import type { Environment } from '@svc/protocol';
import { type Call, selector, toHex } from '@svc/starknet';
import { type Database, type Db, type Sql, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import type { PayAnswer, Payer, PayOrder } from './payer.ts';
import type { StoreWithRelay } from './relay.ts';

export interface ManagerFundsDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly payer: Payer;
}

interface Account {
  readonly chainId: string;
  readonly address: string;
}

/** The balance at one moment, and the stored payments that may not be deducted from it yet. */
export interface ManagerFunds {
  readonly environment: Environment;
  readonly account: Account;
  readonly token: bigint;
  readonly balance: bigint;
  /** Payouts, burns with their fee, and refunds. */
  readonly pending: bigint;
  readonly pendingRelays: readonly string[];
  /** Payments that are stored later have this nonce or a higher one. */
  readonly nextNonce: bigint;
}

export type FundedPayAnswer =
  | Extract<PayAnswer, { ok: true }>
  | { readonly ok: false; readonly cause: 'INSUFFICIENT_FUNDS' | 'WOULD_REVERT'; readonly reason: string };

/** Reads pending payments before the balance: one executed in between counts twice for seconds, and is never missed. */
export async function readManagerFunds(
  { db, networks, payer }: ManagerFundsDeps,
  environment: Environment,
  token: bigint,
): Promise<ManagerFunds> {
  const { chain } = networks.starknet(environment);
  const manager = payer.manager(environment);
  const account = { chainId: toHex(chain.chainId), address: padAddress(manager) };
  const nextNonce = await readNextNonce(db, account);
  const open = await readSpending(db, token, openRelays(account));
  const balance = await chain.balanceOf(token, manager, 'pre_confirmed');
  return { environment, account, token, balance, pending: open.amount, pendingRelays: open.relays, nextNonce };
}

export const availableFunds = ({ balance, pending }: ManagerFunds): bigint => balance - pending;

/** Only where the balance covers it besides everything pending, checked under the lock on the manager's nonce. */
export async function payFromFunds(
  deps: ManagerFundsDeps,
  funds: ManagerFunds,
  order: PayOrder,
  store: StoreWithRelay,
): Promise<FundedPayAnswer> {
  try {
    const answer = await deps.payer.pay(order, async (tx, relay) => {
      const missing = (await spendingSince(tx, funds)) - funds.balance;
      if (missing > 0n) throw new InsufficientFundsError(`The manager lacks ${missing} units for it.`);
      await store(tx, relay);
    });
    if (answer.ok) return answer;
    const cause = (await isCovered(deps, funds, order.calls)) ? 'WOULD_REVERT' : 'INSUFFICIENT_FUNDS';
    return { ok: false, cause, reason: answer.reason };
  } catch (error) {
    if (!(error instanceof InsufficientFundsError)) throw error;
    return { ok: false, cause: 'INSUFFICIENT_FUNDS', reason: error.message };
  }
}

class InsufficientFundsError extends Error {
  override readonly name = 'InsufficientFundsError';
}

/** False where the refusal of an estimate may be for lack of funds alone, before or after what was stored in between. */
async function isCovered(deps: ManagerFundsDeps, funds: ManagerFunds, calls: readonly Call[]): Promise<boolean> {
  const amount = spendingOf(calls, funds.token);
  if ((await spendingSince(deps.db, funds)) + amount > funds.balance) return false;
  return availableFunds(await readManagerFunds(deps, funds.environment, funds.token)) >= amount;
}

/** Everything that `balance` may still contain although it is spent. */
async function spendingSince(db: Db, { account, token, pendingRelays, nextNonce }: ManagerFunds): Promise<bigint> {
  const since = sql`
    select id from relays where id = any (${pendingRelays})
    union ${openRelays(account)}
    union select id from relays
     where chain_id = ${account.chainId} and account = ${account.address} and nonce >= ${nextNonce}::bigint`;
  return (await readSpending(db, token, since)).amount;
}

const openRelays = ({ chainId, address }: Account): Sql => sql`
  select id from relays where chain_id = ${chainId} and account = ${address} and state in ('STORED', 'SENT')`;

async function readNextNonce(db: Db, { chainId, address }: Account): Promise<bigint> {
  const row = await db.one<{ next: bigint }>(sql`
    select coalesce(max(nonce) + 1, 0) as next from relays where chain_id = ${chainId} and account = ${address}`);
  return row?.next ?? 0n;
}

/** A burn approves exactly what its second call takes. Both have the calldata `[address, low, high]`. */
const SPENDING_SELECTORS: readonly bigint[] = [selector('transfer'), selector('approve')];
const WORD_BITS = 128n;

export function spendingOf(calls: readonly Call[], token: bigint): bigint {
  return calls
    .filter((call) => call.to === token && SPENDING_SELECTORS.includes(call.selector))
    .reduce((sum, { calldata: [, low = 0n, high = 0n] }) => sum + low + (high << WORD_BITS), 0n);
}

interface SpendingRow {
  readonly low: string | null;
  readonly high: string | null;
  readonly count: bigint;
  readonly relays: readonly string[];
}

/** Amounts repeat, so rows are few. PostgreSQL 15 cannot read hexadecimal numbers of this size. */
async function readSpending(db: Db, token: bigint, relayIds: Sql): Promise<{ amount: bigint; relays: string[] }> {
  const rows = await db.rows<SpendingRow>(sql`
    select call -> 'calldata' ->> 1 as low, call -> 'calldata' ->> 2 as high, count(*) as count,
           array_agg(distinct relays.id) as relays
      from relays
      left join lateral jsonb_array_elements(content -> 'calls') as call
        on call ->> 'to' = ${toHex(token)} and call ->> 'selector' = any (${SPENDING_SELECTORS.map(toHex)})
     where relays.id in (${relayIds})
     group by low, high`);
  const amountOf = ({ low, high, count }: SpendingRow) => count * (BigInt(low ?? 0) + (BigInt(high ?? 0) << WORD_BITS));
  const amount = rows.reduce((sum, row) => sum + amountOf(row), 0n);
  return { amount, relays: [...new Set(rows.flatMap(({ relays }) => relays))] };
}
