import { type ChainToken, formatTokenAmount, parseTokenAmount } from '@svc/protocol';
import { CalldataReader, parseFelt, toHex } from '@svc/starknet';
import { type AccountState, type CurvePoint, decodeState } from '@svc/starknet/private-balance';
import type { Client } from '../client/client.ts';
import { getNewConfig } from '../client/config.ts';
import { SvcConnectionError, SvcInputError, SvcPrivateBalanceError, SvcTrustError } from '../client/errors.ts';
import { requireTrustedPool } from '../client/trust.ts';
import { callContract } from '../node/rpc.ts';
import { chainIdOf } from '../signing/check.ts';
import { tokenOf } from '../transfers.ts';

/** What the pool asks at the moment. */
export interface PrivateBalanceTerms {
  /** The pool's contract. */
  readonly pool: string;
  /** The token that can be shielded. */
  readonly token: ChainToken;
  /** In whole STRK, for each operation; a batch of shields pays it once. */
  readonly fee: string;
  readonly shieldPaused: boolean;
  /** The next operation of an account waits for so many blocks and one more; 0: no wait. */
  readonly lagBlocks: number;
  /** In whole tokens: no amount and no private balance can be larger. */
  readonly maxAmount: string;
}

/**
 * Reads the pool's fee, whether shielding is paused, and how many blocks an account waits between operations.
 *
 * @example
 * const { fee, shieldPaused, lagBlocks } = await svc.privateBalance.terms();
 */
export async function terms(client: Client): Promise<PrivateBalanceTerms> {
  const pool = await openPool(client);
  return {
    pool: toHex(pool.address),
    token: pool.token,
    fee: formatTokenAmount(pool.fee, STRK_DECIMALS),
    shieldPaused: pool.shieldPaused,
    lagBlocks: pool.lagBlocks,
    maxAmount: formatAmount(pool, (1n << BigInt(pool.bits)) - 1n),
  };
}

export const STRK_DECIMALS = 18;
/** A hint of a balance holds 32 bits. */
const MAX_BITS = 32;

export interface Pool extends PoolFacts {
  readonly chainId: bigint;
  readonly address: bigint;
  readonly token: ChainToken;
  readonly tokenAddress: bigint;
  readonly decimals: number;
  /** In 10^-18 STRK. */
  readonly fee: bigint;
  /** Null: the sponsor pays the fee by itself. */
  readonly feePayment: { readonly entrypoint: 'approve' | 'transfer'; readonly to: bigint } | null;
  readonly shieldPaused: boolean;
  readonly lagBlocks: number;
}

/** Never change. */
interface PoolFacts {
  /** Smallest units of the token in one unit of the pool. */
  readonly rate: bigint;
  readonly bits: number;
}

/** The service names the pool and its terms; the pool itself says what it wraps. */
export async function openPool(client: Client): Promise<Pool> {
  const { privateBalance: stated } = await getNewConfig(client);
  if (!stated) {
    throw new SvcPrivateBalanceError('NO_PRIVATE_POOL', 'This network has no pool of private balances.');
  }
  const { token, fee, feePayment, shieldPaused, lagBlocks } = stated;
  const address = readStated(stated.pool);
  const chainId = await chainIdOf(client);
  requireTrustedPool(client.trust, chainId, address);
  const { address: tokenAddress, decimals } = await tokenOf(client, { token });
  const isKnown = feePayment === null || ['approve', 'transfer'].includes(feePayment?.entrypoint);
  if (!/^\d{1,40}$/.test(fee) || !isKnown) throw invalidTerms();
  if (!Number.isSafeInteger(lagBlocks) || lagBlocks < 0) throw invalidTerms();
  return {
    ...(await factsOf(client, address, tokenAddress)),
    ...{ chainId, address, token, tokenAddress, decimals, fee: BigInt(fee), lagBlocks },
    feePayment: feePayment && { entrypoint: feePayment.entrypoint, to: readStated(feePayment.to) },
    shieldPaused: shieldPaused !== false,
  };
}

const invalidTerms = () =>
  new SvcConnectionError('invalid_answer', "The service does not state the pool's terms as agreed.");

function readStated(text: string): bigint {
  const value = parseFelt(String(text));
  if (!value.ok || value.value === 0n) throw invalidTerms();
  return value.value;
}

const facts = new WeakMap<Client, Map<bigint, PoolFacts>>();

async function factsOf(client: Client, pool: bigint, token: bigint): Promise<PoolFacts> {
  const known = facts.get(client) ?? new Map<bigint, PoolFacts>();
  facts.set(client, known);
  const found = known.get(pool) ?? (await readFacts(client, pool, token));
  known.set(pool, found);
  return found;
}

async function readFacts(client: Client, pool: bigint, token: bigint): Promise<PoolFacts> {
  const read = (entrypoint: string) => callContract(client, { contractAddress: pool, entrypoint, calldata: [] });
  const [wrapped, rate, bits, auditor] = await Promise.all([
    ...[read('ERC20'), read('get_rate'), read('get_bit_size'), read('auditor_key')],
  ]);
  const reader = new CalldataReader([...(wrapped ?? []), ...(rate ?? []), ...(bits ?? []), ...(auditor ?? [])]);
  const shown = {
    token: reader.address(),
    rate: reader.u256(),
    bits: Number(reader.uint(32n)),
    auditor: reader.felt(),
  };
  const whole = reader.finish(shown);
  const fits = whole?.token === token && whole.rate > 0n && whole.bits > 0 && whole.bits <= MAX_BITS;
  if (whole && fits && whole.auditor === 1n) return { rate: whole.rate, bits: whole.bits };
  const reason = `The contract at ${toHex(pool)} is not a pool of this token that the library can use.`;
  throw new SvcTrustError('untrusted_pool', `${reason} Nothing was signed.`);
}

export async function readState(client: Client, pool: Pool, { x, y }: CurvePoint): Promise<AccountState> {
  const call = { contractAddress: pool.address, entrypoint: 'get_state', calldata: [x, y] };
  const state = decodeState(await callContract(client, call));
  if (state) return state;
  throw new SvcConnectionError('invalid_answer', 'The pool shows a private account that cannot be read.');
}

/** In the pool's units, exact, above zero. */
export function readAmount({ decimals, rate, bits }: Pool, amount: string | number): bigint {
  const refuse = (reason: string): never => {
    throw new SvcInputError('invalid_input', `amount ${reason}.`);
  };
  if (typeof amount === 'number' && !(Math.abs(amount) <= Number.MAX_SAFE_INTEGER)) {
    refuse('is a number that is not exact: pass it as text');
  }
  const raw = parseTokenAmount(String(amount), decimals);
  if (!raw.ok) return refuse(raw.reason);
  if (raw.value === 0n) refuse('must be more than zero');
  if (raw.value % rate !== 0n) refuse('has more digits than the pool keeps');
  const units = raw.value / rate;
  if (units >> BigInt(bits) !== 0n) refuse('is larger than the pool takes; see maxAmount of its terms');
  return units;
}

export function formatAmount({ decimals, rate }: Pool, units: bigint): string {
  return formatTokenAmount(units * rate, decimals);
}
