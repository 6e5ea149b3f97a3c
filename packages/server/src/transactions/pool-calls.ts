import { ApiError, formatTokenAmount, parseStarknetAddress, type StarknetAddress, type TxType } from '@svc/protocol';
import { type Call, CalldataReader, selector, toHex } from '@svc/starknet';
import type { StarknetNetwork } from '../chains/networks.ts';
import type { PoolTerms, PrivatePool } from '../chains/private-pool.ts';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import type { PoolFee } from '../relayer/relay.ts';

type Operation = 'fund' | 'withdraw' | 'ragequit' | 'transfer' | 'rollover';

const operations: ReadonlyMap<bigint, Operation> = new Map(
  (['fund', 'withdraw', 'ragequit', 'transfer', 'rollover'] as const).map((name) => [selector(name), name]),
);
const STRK_DECIMALS = 18;

/** Only what is public on the chain: amounts inside the pool are not. */
export interface PoolCall {
  readonly operation: Operation;
  /** A public key's point, in the first two felts of each operation. */
  readonly account: readonly [bigint, bigint];
  readonly amount: bigint | undefined;
  readonly to: StarknetAddress | undefined;
}

export function readPoolCall(pool: Pick<PrivatePool, 'address'> | undefined, call: Call): PoolCall | undefined {
  if (!pool || call.to !== BigInt(pool.address)) return undefined;
  const operation = operations.get(call.selector);
  if (!operation) return undefined;
  const { calldata } = call;
  const account = [calldata[0] ?? 0n, calldata[1] ?? 0n] as const;
  const reader = new CalldataReader(calldata.slice(2));
  if (operation === 'fund') return { operation, account, amount: reader.uint(128n), to: undefined };
  if (operation === 'transfer' || operation === 'rollover')
    return { operation, account, amount: undefined, to: undefined };
  const to = parseStarknetAddress(toHex(reader.address()));
  return { operation, account, amount: reader.uint(128n), to: to.ok ? to.value : undefined };
}

export const typeOfOperation: Readonly<Record<Operation, TxType>> = {
  fund: 'SHIELD',
  withdraw: 'UNSHIELD',
  ragequit: 'UNSHIELD',
  transfer: 'PRIVATE_TRANSFER',
  rollover: 'CONTRACT_CALL',
};

/** All shields of a transaction pay once, each other operation by itself. */
function feesOf(calls: readonly PoolCall[]): bigint {
  const others = calls.filter(({ operation }) => operation !== 'fund').length;
  return BigInt(others + (others < calls.length ? 1 : 0));
}

/** An app acts for one. Each costs two reads of events. */
const MAX_ACCOUNTS = 4;

function accountsOf(calls: readonly PoolCall[]): readonly PoolCall['account'][] {
  const accounts = [...new Map(calls.map(({ account }) => [account.join(), account])).values()];
  if (accounts.length <= MAX_ACCOUNTS) return accounts;
  const message = `The calls are of ${accounts.length} private accounts, and ${MAX_ACCOUNTS} fit one transaction.`;
  throw new ApiError('invalid_request', message);
}

type PoolNetwork = Pick<StarknetNetwork, 'pool' | 'tokens' | 'chain'>;

/**
 * What the sponsor pays for the pool with these calls of the wallet. Throws `shield_paused`, `pool_fee_unpaid` and `pool_busy`, before
 * anything is signed or stored. Calls that other contracts make are not seen.
 */
export async function requirePoolTerms(
  { pool, tokens, chain }: PoolNetwork,
  wallet: StarknetAddress,
  calls: readonly Call[],
): Promise<PoolFee | undefined> {
  const found = calls.flatMap((call) => readPoolCall(pool, call) ?? []);
  const terms = found.length > 0 ? await pool?.terms() : undefined;
  if (!pool || !terms) return undefined;
  const accounts = accountsOf(found);
  if (terms.shieldPaused && found.some(({ operation }) => operation === 'fund')) throw new ApiError('shield_paused');
  const fri = terms.fee * feesOf(found);
  const strk = BigInt(tokens.find(({ token }) => token === 'STRK')?.address ?? 0);
  if (fri > paidBy(pool, strk, calls)) throw feeUnpaid(pool, fri);
  if (!pool.isStrict) await requireAge(chain, pool, terms, accounts);
  const payee = pool.sponsorPays(wallet);
  if (fri === 0n || payee === undefined) return undefined;
  const payment = { to: strk, selector: selector('transfer'), calldata: [BigInt(payee), ...u256(fri)] };
  return { fri, payment };
}

const LOW = (1n << 128n) - 1n;
const u256 = (value: bigint): bigint[] => [value & LOW, value >> 128n];

/** An approval replaces the one before it; transfers add up. */
function paidBy({ feePayment }: PrivatePool, strk: bigint, calls: readonly Call[]): bigint {
  if (!feePayment) return LOW;
  const paying = selector(feePayment.entrypoint);
  const amounts = calls.flatMap(({ to, selector: called, calldata: [payee, low = 0n, high = 0n] }) =>
    to === strk && called === paying && payee === BigInt(feePayment.to) ? [low + (high << 128n)] : [],
  );
  return feePayment.entrypoint === 'approve' ? (amounts.at(-1) ?? 0n) : amounts.reduce((sum, each) => sum + each, 0n);
}

function feeUnpaid({ feePayment }: PrivatePool, fri: bigint): ApiError {
  const how = feePayment && `A call of STRK's ${feePayment.entrypoint} with ${feePayment.to} has to go before.`;
  const message = `The calls do not pay the private pool's fee of ${formatTokenAmount(fri, STRK_DECIMALS)} STRK. ${how}`;
  return new ApiError('pool_fee_unpaid', message);
}

const OF_ACCOUNT = ['FundEvent', 'RolloverEvent', 'WithdrawEvent', 'RagequitEvent'].map(selector);
const TRANSFERRED = [selector('TransferEvent')];
/** An account has one operation in a block or two. */
const EVENTS = 100;

/** The contract does not keep the lag by itself. */
async function requireAge(
  chain: Pick<StarknetChain, 'blockNumber' | 'events'>,
  { address }: PrivatePool,
  { lagBlocks }: PoolTerms,
  accounts: readonly PoolCall['account'][],
): Promise<void> {
  if (lagBlocks === 0) return;
  const head = await chain.blockNumber();
  const range = {
    fromBlock: Math.max(0, head - lagBlocks + 1),
    toBlock: head,
    limit: EVENTS,
    address: BigInt(address),
  };
  for (const [x, y] of accounts) {
    const pages = await Promise.all([
      chain.events({ ...range, keys: [OF_ACCOUNT, [x], [y]] }),
      chain.events({ ...range, keys: [TRANSFERRED, [], [], [x], [y]] }),
    ]);
    const last = Math.max(-1, ...pages.flatMap(({ events }) => events.map(({ blockNumber }) => blockNumber ?? head)));
    if (last >= 0) throw busy(last + lagBlocks - head);
  }
}

function busy(blocks: number): ApiError {
  const message = `The private account's last operation is too recent: it is busy for ${blocks} blocks.`;
  return new ApiError('pool_busy', message);
}

/** A strict contract refuses with texts of its own. */
export function asPoolError(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'transaction_reverted') return error;
  const { message } = error;
  const blocks = /Pool: busy for (\d{1,9}) blocks/.exec(message)?.[1];
  if (blocks !== undefined) return busy(Number(blocks));
  if (message.includes('Pool: shielding is paused')) return new ApiError('shield_paused');
  if (message.includes('Pool: fee unpaid')) return new ApiError('pool_fee_unpaid');
  return message.includes('Tongo: invalid proof') ? new ApiError('proof_rejected') : error;
}
