import { formatTokenAmount, parseTokenAmount } from '@svc/protocol';
import { encodeU256, parseFelt, toHex } from '@svc/starknet';
import { type AccountState, decryptHint, encrypts, publicPoint } from '@svc/starknet/private-balance';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcApiError, SvcInputError, SvcPrivateBalanceError } from '../client/errors.ts';
import { readAddress, type SvcWallet } from '../client/values.ts';
import { openWalletKey } from '../keys/seal.ts';
import { waitForTransactionOf } from '../node/wait-for-transaction.ts';
import { type ContractCall, prepareCalls, sendSignedCalls, signExecution } from '../signing/calls.ts';
import { tokenOf } from '../transfers.ts';
import { decrypt, poolBusy, requireIdle, sumReceived } from './history.ts';
import { type PrivateKeys, readPrivateAddress, readViewingKey, viewingScalar } from './keys.ts';
import { formatAmount, openPool, type Pool, readAmount, readState, STRK_DECIMALS } from './pool.ts';
import { type Operation, Prover } from './prover.ts';

export interface GetPrivateBalanceParams {
  /** Of `deriveKeys`. They are used here and never sent. */
  readonly keys: Pick<PrivateKeys, 'viewingKey'>;
}

export interface PrivateBalance {
  readonly token: string;
  /** In whole tokens: can be unshielded and transferred. */
  readonly balance: string;
  /** In whole tokens: received, and spendable after `rollover`. */
  readonly pending: string;
}

/**
 * Reads the encrypted balance from a node and decrypts it here.
 *
 * @example
 * const keys = await svc.privateBalance.deriveKeys({ encryptKey, wallet });
 * const { balance, pending, token } = await svc.privateBalance.getPrivateBalance({ keys });
 */
export async function getPrivateBalance(client: Client, { keys }: GetPrivateBalanceParams): Promise<PrivateBalance> {
  const privateKey = readViewingKey(keys);
  const pool = await openPool(client);
  const state = await readState(client, pool, publicPoint(privateKey));
  const prover = new Prover(client);
  try {
    const account = { pool, state, privateKey, prover };
    const [balance, pending] = [await readBalance(account), await readPending(client, account)];
    return { token: pool.token, balance: formatAmount(pool, balance), pending: formatAmount(pool, pending) };
  } finally {
    prover.end();
  }
}

interface OpenedAccount {
  readonly pool: Pool;
  readonly state: AccountState;
  readonly privateKey: bigint;
  readonly prover: Prover;
}

async function readBalance(account: OpenedAccount): Promise<bigint> {
  const { state, privateKey, pool } = account;
  const key = { privateKey, publicKey: publicPoint(privateKey), pool: pool.address, nonce: state.nonce };
  const hint = state.hint && (await decryptHint(key, state.hint));
  // An account without a hint has done nothing yet.
  return requireReadable(await decrypt(state.balance, account, hint ?? 0n));
}

async function readPending(client: Client, account: OpenedAccount): Promise<bigint> {
  if (!hasPending(account)) return 0n;
  const hint = await sumReceived(client, { ...account, own: publicPoint(account.privateKey) });
  return requireReadable(await decrypt(account.state.pending, account, hint));
}

const hasPending = ({ state, privateKey }: OpenedAccount) => !encrypts(state.pending, privateKey, 0n);

/** `prepare`: terms and balance. `fund`: the fee and the tokens' allowance. `prove`, `submit`, `finish`: in a block. */
export type PrivateStep = 'prepare' | 'fund' | 'prove' | 'submit' | 'finish';

export interface PrivateOperationParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  /** Called at the start of each step. A promise is waited for. */
  readonly onStep?: ((step: PrivateStep) => unknown) | undefined;
  /** In whole STRK: a pool that asks more is not paid. Default: `'4'`. */
  readonly maxFee?: string | undefined;
  /** While waiting for the block. Default: 3000. */
  readonly retryIntervalMs?: number | undefined;
}

export interface PrivateOperation {
  readonly transactionHash: string;
  readonly blockNumber: number | undefined;
}

export interface ShieldParams extends PrivateOperationParams {
  /** In whole tokens, exact: `'0.5'`. */
  readonly amount: string | number;
}

/**
 * Moves tokens from the wallet into its private balance. The amount is public, and so is the wallet. The service pays
 * the gas. Resolves when the operation is in a block.
 *
 * @throws SvcPrivateBalanceError with `SHIELD_PAUSED`, `POOL_BUSY`, `POOL_FEE_UNPAID` or `PROOF_REJECTED`
 * @example
 * const { transactionHash } = await svc.privateBalance.shield({ encryptKey, wallet, amount: '2.5' });
 */
export function shield(client: Client, params: ShieldParams, bearerToken?: BearerToken): Promise<PrivateOperation> {
  return shieldBatch(client, { ...params, amounts: [params.amount] }, bearerToken);
}

export interface ShieldBatchParams extends PrivateOperationParams {
  /** In whole tokens, at most 20. */
  readonly amounts: readonly (string | number)[];
}

const MAX_BATCH = 20;

/**
 * Shields several amounts in one transaction. The pool's fee is paid once.
 *
 * @example
 * await svc.privateBalance.shieldBatch({ encryptKey, wallet, amounts: ['1', '2'], onStep: (step) => console.log(step) });
 */
export function shieldBatch(
  client: Client,
  params: ShieldBatchParams,
  bearerToken?: BearerToken,
): Promise<PrivateOperation> {
  const { amounts } = params;
  if (!Array.isArray(amounts) || amounts.length === 0 || amounts.length > MAX_BATCH) {
    throw new SvcInputError('invalid_input', `amounts must be a list of 1 to ${MAX_BATCH} amounts.`);
  }
  const plan: Plan = async ({ pool }, balance) => {
    const units = amounts.map((amount) => readAmount(pool, amount));
    requireRoom(
      pool,
      units.reduce((sum, one) => sum + one, balance),
    );
    return { kind: 'shield', amounts: units };
  };
  return operate(client, { params, plan, isShield: true }, bearerToken);
}

export interface UnshieldParams extends PrivateOperationParams {
  readonly amount: string | number;
  /** The Starknet address that gets the tokens. Default: the wallet. */
  readonly recipient?: string | undefined;
}

/**
 * Moves tokens from the private balance to a public address. Amount and address are public; what is left is not.
 *
 * @throws SvcPrivateBalanceError with `INSUFFICIENT_PRIVATE_BALANCE`, `POOL_BUSY`, `POOL_FEE_UNPAID` or `PROOF_REJECTED`
 * @example
 * await svc.privateBalance.shield({ encryptKey, wallet, amount: '1' });
 * await svc.privateBalance.unshield({ encryptKey, wallet, amount: '0.5', recipient });
 */
export async function unshield(
  client: Client,
  params: UnshieldParams,
  bearerToken?: BearerToken,
): Promise<PrivateOperation> {
  const to = readAddress(params.recipient ?? params.wallet.publicKey, 'recipient');
  const plan: Plan = async (account, balance) => {
    return { kind: 'unshield', amount: spendable(account, balance, params.amount), to };
  };
  return operate(client, { params, plan }, bearerToken);
}

export interface PrivateTransferParams extends PrivateOperationParams {
  readonly amount: string | number;
  /** `privateAddress` of the recipient's `deriveKeys`. */
  readonly recipient: string;
}

/**
 * Sends tokens from one private balance to another. Both accounts are public, the amount is not. The recipient spends
 * them after `rollover`.
 *
 * @throws SvcPrivateBalanceError with `INSUFFICIENT_PRIVATE_BALANCE`, `POOL_BUSY`, `POOL_FEE_UNPAID` or `PROOF_REJECTED`
 * @example
 * await svc.privateBalance.shield({ encryptKey, wallet, amount: '1' });
 * const ana = await svc.getWallet({ externalUserId: 'ana' });
 * const { privateAddress } = await svc.privateBalance.deriveKeys({ encryptKey, wallet: ana });
 * await svc.privateBalance.transfer({ encryptKey, wallet, amount: '0.25', recipient: privateAddress });
 */
export async function transfer(
  client: Client,
  params: PrivateTransferParams,
  bearerToken?: BearerToken,
): Promise<PrivateOperation> {
  const to = readPrivateAddress(params.recipient);
  const plan: Plan = async (account, balance) => {
    return { kind: 'transfer', amount: spendable(account, balance, params.amount), to };
  };
  return operate(client, { params, plan }, bearerToken);
}

export type RolloverParams = PrivateOperationParams;

/**
 * Adds what was received to the balance that can be spent.
 *
 * @example
 * await svc.privateBalance.rollover({ encryptKey, wallet });
 */
export function rollover(client: Client, params: RolloverParams, bearerToken?: BearerToken): Promise<PrivateOperation> {
  const plan: Plan = async (account, balance) => {
    const pending = await readPending(client, account);
    requireRoom(account.pool, balance + pending);
    return { kind: 'rollover', pending };
  };
  return operate(client, { params, plan }, bearerToken);
}

type Plan = (account: OpenedAccount, balance: bigint) => Promise<Operation>;

interface Work {
  readonly params: PrivateOperationParams;
  readonly plan: Plan;
  readonly isShield?: boolean;
}

async function operate(
  client: Client,
  { params, plan, isShield = false }: Work,
  bearerToken?: BearerToken,
): Promise<PrivateOperation> {
  const { encryptKey, wallet, onStep, retryIntervalMs } = params;
  const sender = readAddress(wallet.publicKey, 'publicKey of the wallet');
  await onStep?.('prepare');
  const pool = await openPool(client);
  if (isShield && pool.shieldPaused) throw shieldPaused();
  requireFee(pool, params.maxFee);
  const walletKey = await openWalletKey({ encryptKey, wallet });
  const privateKey = await viewingScalar(walletKey, sender);
  const state = await readState(client, pool, publicPoint(privateKey));
  await requireIdle(client, pool, publicPoint(privateKey), state.nonce);
  const { address, chainId, bits } = pool;
  const prover = new Prover(client);
  try {
    const account = { pool, state, privateKey, prover };
    const balance = await readBalance(account);
    const operation = await plan(account, balance);
    await onStep?.('fund');
    const funding = await fundingCalls(client, pool, operation);
    await onStep?.('prove');
    const context = { chainId, pool: address, sender, nonce: state.nonce, balance: state.balance, bits };
    const proofs = await prover.prove({ context, privateKey, operation, balance });
    const entrypoint = ENTRYPOINTS[operation.kind];
    const calls = [
      ...funding,
      ...proofs.map((calldata) => ({ contractAddress: toHex(address), entrypoint, calldata })),
    ];
    await onStep?.('submit');
    const { publicKey: walletAddress } = wallet;
    const prepared = await prepareCalls(client, { walletAddress, calls }, bearerToken);
    const signer = { account: sender, chainId: prepared.chainId, privateKey: walletKey };
    const userSignature = signExecution(prepared.execution, signer);
    const signed = { publicKey: walletAddress, typedData: prepared.typedData, userSignature };
    const transactionHash = await sendSignedCalls(client, signed, bearerToken);
    await onStep?.('finish');
    return await finish(client, { transactionHash, pool, retryIntervalMs });
  } catch (error) {
    throw toPrivateBalanceError(error);
  } finally {
    prover.end();
  }
}

const ENTRYPOINTS = { shield: 'fund', unshield: 'withdraw', transfer: 'transfer', rollover: 'rollover' } as const;

/** The fee, and for a shield the allowance of exactly its tokens. */
async function fundingCalls(client: Client, pool: Pool, operation: Operation): Promise<ContractCall[]> {
  const calls: ContractCall[] = [];
  if (pool.fee > 0n && pool.feePayment) {
    const { address } = await tokenOf(client, { token: 'STRK' });
    const { entrypoint, to } = pool.feePayment;
    calls.push({ contractAddress: toHex(address), entrypoint, calldata: [to, ...encodeU256(pool.fee)] });
  }
  if (operation.kind === 'shield') {
    const total = operation.amounts.reduce((sum, amount) => sum + amount, 0n) * pool.rate;
    const calldata = [pool.address, ...encodeU256(total)];
    calls.push({ contractAddress: toHex(pool.tokenAddress), entrypoint: 'approve', calldata });
  }
  return calls;
}

interface Sent {
  readonly transactionHash: string;
  readonly pool: Pool;
  readonly retryIntervalMs: number | undefined;
}

async function finish(client: Client, { transactionHash, pool, retryIntervalMs }: Sent): Promise<PrivateOperation> {
  const receipt = await waitForTransactionOf(client, transactionHash, { retryIntervalMs });
  if (!receipt.success) {
    const message = `The transaction was reverted: ${receipt.revertReason}`;
    throw refusal(message) ?? new SvcApiError('transaction_reverted', message, { status: 400 });
  }
  // Early wallet classes skip a call that fails.
  const isDone = receipt.events.some(({ from_address }) => parsedEquals(from_address, pool.address));
  if (isDone) return { transactionHash, blockNumber: receipt.blockNumber };
  throw new SvcPrivateBalanceError('PROOF_REJECTED', 'The wallet skipped the operation, because the pool refused it.');
}

function parsedEquals(text: string, value: bigint): boolean {
  const felt = parseFelt(text);
  return felt.ok && felt.value === value;
}

const DEFAULT_MAX_FEE = '4';

function requireFee({ fee }: Pool, maxFee = DEFAULT_MAX_FEE): void {
  const most = parseTokenAmount(String(maxFee), STRK_DECIMALS);
  if (!most.ok) throw new SvcInputError('invalid_input', `maxFee ${most.reason}.`);
  if (fee <= most.value) return;
  const asked = formatTokenAmount(fee, STRK_DECIMALS);
  throw new SvcPrivateBalanceError('POOL_FEE_UNPAID', `The pool asks ${asked} STRK, and maxFee is ${maxFee}.`);
}

function requireReadable(units: bigint | undefined): bigint {
  if (units !== undefined) return units;
  throw new SvcInputError('invalid_input', 'The private balance is larger than the pool can prove.');
}

function requireRoom(pool: Pool, total: bigint): void {
  if (total >> BigInt(pool.bits) === 0n) return;
  const message = 'A private balance cannot become larger than maxAmount of the terms. Unshield a part of it first.';
  throw new SvcInputError('invalid_input', message);
}

function spendable(account: OpenedAccount, balance: bigint, amount: string | number): bigint {
  const { pool } = account;
  const units = readAmount(pool, amount);
  if (units <= balance) return units;
  const waiting = hasPending(account) ? ' More was received, and can be spent after rollover.' : '';
  const message = `The private balance is ${formatAmount(pool, balance)} ${pool.token}.${waiting}`;
  throw new SvcPrivateBalanceError('INSUFFICIENT_PRIVATE_BALANCE', message);
}

const shieldPaused = (cause?: unknown) =>
  new SvcPrivateBalanceError('SHIELD_PAUSED', 'Shielding is paused. Unshielding works.', { cause });

/** Maps refusals of the service and of the pool; other errors stay. */
function toPrivateBalanceError(error: unknown): unknown {
  if (!(error instanceof SvcApiError)) return error;
  return refusal(`${error.code} ${error.message}`, error) ?? error;
}

function refusal(text: string, cause?: unknown): SvcPrivateBalanceError | undefined {
  if (/shield_paused|Pool: shielding is paused/.test(text)) return shieldPaused(cause);
  if (/pool_busy|Pool: busy/.test(text)) {
    const blocks = /busy for (\d{1,9})/.exec(text)?.[1];
    return poolBusy(blocks === undefined ? undefined : Number(blocks), cause);
  }
  if (/pool_fee_unpaid|Pool: fee unpaid/.test(text)) {
    return new SvcPrivateBalanceError('POOL_FEE_UNPAID', "The pool's fee was not paid.", { cause });
  }
  if (/proof_rejected|Tongo: invalid proof/.test(text)) {
    const message = 'The pool refused the proof: another operation changed the private balance meanwhile. Try again.';
    return new SvcPrivateBalanceError('PROOF_REJECTED', message, { cause });
  }
  return undefined;
}
