import { selector } from '@svc/starknet';
import { starknetToken } from '../tokens.ts';
import { bool, felt, panic, require, struct, u64, u256, type Value } from './codec.ts';
import { type Frame, map, variable } from './contract.ts';
import type { PubKey } from './tongo-types.ts';

/** What a pool asks besides a proof. Tongo's own contract asks nothing: all zero, as at genesis. */
export const poolTerms = struct('svc::PoolTerms', { fee: u256, shield_paused: bool, lag_blocks: u64 });
const terms = variable('svc_pool_terms', poolTerms);
/** The block and the transaction of an account's last operation. */
const last = map('svc_pool_last', struct('svc::PoolOperation', { block: u64, transaction: felt }));
/** The transaction in which a caller last paid for shielding. */
const shieldPaidIn = map('svc_pool_shield_paid_in', felt);

export type PoolTerms = Value<typeof poolTerms>;

export function getTerms(frame: Frame): Promise<PoolTerms> {
  return terms.read(frame);
}

export async function setTerms(frame: Frame, value: PoolTerms): Promise<void> {
  await terms.write(frame, value);
}

/** Before an operation of an account: shielding is open, its state is old enough, the fee is paid. */
export async function admit(frame: Frame, operation: string, { x, y }: PubKey, payee: bigint): Promise<void> {
  const { fee, shield_paused, lag_blocks } = await getTerms(frame);
  const isShield = operation === 'fund';
  if (isShield) require(!shield_paused, 'Pool: shielding is paused');
  if (lag_blocks > 0n) await requireAge(frame, { x, y }, lag_blocks, isShield);
  if (fee > 0n) await charge(frame, fee, payee, isShield);
}

/** Proofs refer to the state `lag` blocks behind the last block. A batch of shields is one operation. */
async function requireAge(frame: Frame, { x, y }: PubKey, lag: bigint, isShield: boolean): Promise<void> {
  const { block, transaction } = await last.read(frame, x, y);
  const { number } = frame.block;
  const inBatch = isShield && transaction === frame.transaction.hash;
  const wait = block + lag + 1n - number;
  if (block > 0n && !inBatch && wait > 0n) panic(`Pool: busy for ${wait} blocks`);
  await last.write(frame, [x, y], { block: number, transaction: frame.transaction.hash });
}

/** From the caller's allowance. The first shield of a transaction pays for all of them. */
async function charge(frame: Frame, fee: bigint, payee: bigint, isShield: boolean): Promise<void> {
  const { caller, transaction } = frame;
  if (isShield && transaction.hash !== 0n && (await shieldPaidIn.read(frame, caller)) === transaction.hash) return;
  const calldata = [caller, payee, ...u256.write(fee)];
  const paid = await frame.tryCall({
    to: starknetToken('STRK').address,
    selector: selector('transfer_from'),
    calldata,
  });
  require(paid.ok, 'Pool: fee unpaid');
  if (isShield) await shieldPaidIn.write(frame, [caller], transaction.hash);
}
