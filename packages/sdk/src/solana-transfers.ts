import {
  type endpoints,
  isSolanaProgram,
  parseSolanaAddress,
  parseTokenAmount,
  type SolanaAddress,
  type SolanaTransfer,
  type SolanaTransferQuote,
  solanaAddressBytes,
} from '@svc/protocol';
import { encodeByteArray, encodeU256, parseFelt, toHex } from '@svc/starknet';
import type { BearerToken, Client } from './client/client.ts';
import { SvcConnectionError, SvcInputError } from './client/errors.ts';
import { type CursorList, type CursorParams, eachByCursor, type PageOptions, toCursorList } from './client/pages.ts';
import { type PollOptions, pollUntil } from './client/poll.ts';
import { request } from './client/request.ts';
import { requireTrustedBridge } from './client/trust.ts';
import type { SvcWallet } from './client/values.ts';
import { type ContractCall, type SignedCalls, signCalls } from './signing/calls.ts';
import { chainIdOf } from './signing/check.ts';
import { tokenOf } from './transfers.ts';

/** In USDC's smallest unit. */
interface SolanaBurn {
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly recipient: string;
  readonly fast: boolean;
  readonly usdc: bigint;
  readonly tokenMessenger: bigint;
  readonly usdcMint: string;
}

const SOLANA_DOMAIN = 5n;
const ANY_CALLER = 0n;
const FAST_THRESHOLD = 1_000n;
const STANDARD_THRESHOLD = 2_000n;

/** Made here, from what the user ordered: what the service prepares is compared with it before anything is signed. */
export async function burnCalls(burn: SolanaBurn): Promise<ContractCall[]> {
  const { amount, maxFee, fast, usdc, tokenMessenger } = burn;
  const owner = readOwner(burn.recipient, 'recipient');
  const account = await tokenAccountOf(owner, readOwner(burn.usdcMint, 'usdcMint'));
  const approve = [tokenMessenger, ...encodeU256(amount)];
  const deposit = [
    ...encodeU256(amount),
    SOLANA_DOMAIN,
    ...encodeU256(toInteger(account)),
    usdc,
    ...encodeU256(ANY_CALLER),
    ...encodeU256(maxFee),
    fast ? FAST_THRESHOLD : STANDARD_THRESHOLD,
    ...encodeByteArray(forwardHook(owner)),
  ];
  return [
    { contractAddress: toHex(usdc), entrypoint: 'approve', calldata: approve },
    { contractAddress: toHex(tokenMessenger), entrypoint: 'deposit_for_burn_with_hook', calldata: deposit },
  ];
}

function readAddress(text: string, name: string): SolanaAddress {
  const address = typeof text === 'string' ? parseSolanaAddress(text.trim()) : undefined;
  if (address?.ok) return address.value;
  throw new SvcInputError('invalid_input', `${name} ${address?.reason ?? 'must be text'}.`);
}

const readOwner = (text: string, name: string): Uint8Array => solanaAddressBytes(readAddress(text, name));

/** Money for the token account of a token account, a token or a program would be lost. */
export function requireSolanaWallet(text: string): SolanaAddress {
  const address = readAddress(text, 'recipient');
  if (!isSolanaProgram(address) && isOnCurve(solanaAddressBytes(address))) return address;
  throw new SvcInputError('invalid_input', 'recipient must be a wallet, not a token, a token account or a program.');
}

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const MARKER = new TextEncoder().encode('ProgramDerivedAddress');
const FIRST_BUMP = 255;

async function tokenAccountOf(owner: Uint8Array, mint: Uint8Array): Promise<Uint8Array> {
  const program = readOwner(ASSOCIATED_TOKEN_PROGRAM, 'program');
  const seeds = [...owner, ...readOwner(TOKEN_PROGRAM, 'program'), ...mint];
  for (let bump = FIRST_BUMP; bump >= 0; bump--) {
    const preimage = Uint8Array.of(...seeds, bump, ...program, ...MARKER);
    const address = new Uint8Array(await crypto.subtle.digest('SHA-256', preimage));
    if (!isOnCurve(address)) return address;
  }
  throw new SvcInputError('invalid_input', 'recipient has no token account.');
}

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** Whether the bytes are a point of Ed25519: x² = (y² − 1) / (dy² + 1) has a solution. */
function isOnCurve(bytes: Uint8Array): boolean {
  const y = toInteger(Uint8Array.from(bytes).reverse()) & (2n ** 255n - 1n);
  if (y >= P) return false;
  const square = (y * y) % P;
  const u = (square - 1n + P) % P;
  const v = (D * square + 1n) % P;
  if (u === 0n) return true;
  // u / v is a square where u · v is.
  return power((u * v) % P, (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [square, rest] = [base, exponent]; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

const MAGIC = new TextEncoder().encode('cctp-forward');
const MAGIC_BYTES = 24;
const LENGTH_AT = MAGIC_BYTES + 7;
const PAYLOAD_BYTES = 33;
const CREATE_ACCOUNT = 1;

/** Has the bridge mint by itself, and make the token account. */
function forwardHook(owner: Uint8Array): Uint8Array {
  const hook = new Uint8Array(LENGTH_AT + 1 + PAYLOAD_BYTES);
  hook.set(MAGIC);
  hook[LENGTH_AT] = PAYLOAD_BYTES;
  hook[LENGTH_AT + 1] = CREATE_ACCOUNT;
  hook.set(owner, LENGTH_AT + 2);
  return hook;
}

const toInteger = (bytes: Uint8Array): bigint => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);

export interface SolanaTransferOrder {
  /** Its address is enough for a quote. */
  readonly wallet: Pick<SvcWallet, 'publicKey'>;
  /** A wallet on Solana. It needs no token account. */
  readonly recipient: string;
  /** What leaves the wallet, in USDC, exact: `'5'`. What the bridge takes is part of it. */
  readonly amount: string | number;
  /** In seconds, for a small fee. `false`: in hours. Default: `true`. */
  readonly fast?: boolean | undefined;
}

/**
 * Asks what moving USDC to Solana costs, and what arrives.
 *
 * @example
 * const solanaWallet = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
 * const { fee, maxFee, arrives } = await svc.quoteSolanaTransfer({ wallet, recipient: solanaWallet, amount: '5' });
 */
export function quoteSolanaTransfer(
  client: Client,
  { wallet, recipient, amount, fast }: SolanaTransferOrder,
  bearerToken?: BearerToken,
): Promise<SolanaTransferQuote> {
  return request<typeof endpoints.quoteSolanaTransfer>(client, {
    route: 'POST /solana-transfers/quote',
    access: 'both',
    body: { publicKey: wallet.publicKey, recipient: requireSolanaWallet(recipient), amount: String(amount), fast },
    bearerToken,
  });
}

/** A signed transfer, as plain JSON. Sent again, it moves the money once. */
export interface SignedSolanaTransfer extends SignedCalls {
  readonly version: 1;
  readonly recipient: string;
  readonly amount: string;
}

export interface MoveToSolanaParams extends SolanaTransferOrder {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  /** What the bridge may take at most, in USDC, as quoted. Default: `maxFee` of a new quote. */
  readonly maxFee?: string | undefined;
  /** Store it: it is awaited before money moves. If it throws, nothing is moved. */
  readonly onSigned?: ((signed: SignedSolanaTransfer) => void | Promise<void>) | undefined;
}

/**
 * Moves USDC from the user's wallet to Solana, over Circle's bridge. The service pays the gas and follows it until it
 * has arrived: `waitForSolanaTransfer` waits for that.
 *
 * After a `SvcConnectionError` the money may be on its way: call `sendSolanaTransfer` with what `onSigned` stored, and
 * do not start anew.
 *
 * @example
 * const solanaWallet = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
 * const { id, status } = await svc.moveToSolana({
 *   encryptKey,
 *   wallet,
 *   recipient: solanaWallet,
 *   amount: '5',
 *   onSigned: (signed) => storage.setItem('to-solana', JSON.stringify(signed)),
 * });
 */
export async function moveToSolana(
  client: Client,
  params: MoveToSolanaParams,
  bearerToken?: BearerToken,
): Promise<SolanaTransfer> {
  const { encryptKey, wallet, fast = true, onSigned } = params;
  const recipient = requireSolanaWallet(params.recipient);
  const quote = await quoteSolanaTransfer(client, { ...params, fast }, bearerToken);
  const [token, chainId] = await Promise.all([tokenOf(client, { token: 'USDC' }), chainIdOf(client)]);
  const { usdcMint } = quote;
  const messenger = parseFelt(String(quote.tokenMessenger));
  if (!messenger.ok) throw new SvcConnectionError('invalid_answer', 'The quote names no contract of the bridge.');
  const tokenMessenger = messenger.value;
  requireTrustedBridge(client.trust, { chainId, tokenMessenger, usdcMint });
  const amount = readUsdc('amount', String(params.amount));
  const maxFee = readUsdc('maxFee', params.maxFee ?? quote.maxFee);
  if (maxFee >= amount) throw new SvcInputError('invalid_input', 'amount must be more than the bridge may take.');
  const calls = await burnCalls({ amount, maxFee, recipient, fast, usdc: token.address, tokenMessenger, usdcMint });
  const signed = await signCalls(client, { wallet, encryptKey, calls }, bearerToken);
  const stored: SignedSolanaTransfer = { ...signed, version: 1, recipient, amount: quote.amount };
  await onSigned?.(stored);
  return sendSolanaTransfer(client, stored, bearerToken);
}

const USDC_DECIMALS = 6;

function readUsdc(name: string, text: string): bigint {
  const raw = parseTokenAmount(text, USDC_DECIMALS);
  if (raw.ok && raw.value > 0n) return raw.value;
  throw new SvcInputError('invalid_input', `${name} ${raw.ok ? 'must be more than zero' : raw.reason}.`);
}

/**
 * Sends a signed transfer again after a lost answer; it moves the money once and answers the same transfer. With the
 * code `typed_data_expired` nothing was moved, and nothing will be: start anew.
 *
 * @example
 * let signed;
 * const solanaWallet = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
 * const order = { encryptKey, wallet, recipient: solanaWallet, amount: '5', onSigned: (state) => (signed = state) };
 * await svc.moveToSolana(order);
 * const { id } = await svc.sendSolanaTransfer(signed);
 */
export function sendSolanaTransfer(
  client: Client,
  { publicKey, typedData, userSignature }: SignedCalls,
  bearerToken?: BearerToken,
): Promise<SolanaTransfer> {
  return request<typeof endpoints.createSolanaTransfer>(client, {
    route: 'POST /solana-transfers',
    access: 'both',
    body: { publicKey, typedData, userSignature },
    bearerToken,
  });
}

export interface GetSolanaTransferParams {
  readonly id: string;
}

/**
 * Reads a transfer to Solana. `FAILED`: the money is in the wallet. `STUCK`: it is burned and on its way, and the
 * operator of the service looks after it.
 *
 * @example
 * const { items: [latest] } = await svc.listSolanaTransfers({ walletAddress: wallet.publicKey });
 * if (latest) console.log((await svc.getSolanaTransfer({ id: latest.id })).status);
 */
export function getSolanaTransfer(
  client: Client,
  { id }: GetSolanaTransferParams,
  bearerToken?: BearerToken,
): Promise<SolanaTransfer> {
  return request<typeof endpoints.getSolanaTransfer>(client, {
    route: 'GET /solana-transfers/{id}',
    access: 'both',
    params: { id },
    bearerToken,
  });
}

export interface WaitForSolanaTransferParams extends GetSolanaTransferParams, PollOptions {}

/**
 * Waits until a transfer is `SUCCESS`, `FAILED` or `STUCK`; all three are results. Standard transfers take hours: pass a
 * longer `timeoutMs`, or call `getSolanaTransfer` at intervals.
 *
 * @throws SvcConnectionError with code `timeout` if it is not final in time; it continues, so wait again
 * @example
 * const solanaWallet = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
 * const { id } = await svc.moveToSolana({ encryptKey, wallet, recipient: solanaWallet, amount: '5' });
 * const { status, received } = await svc.waitForSolanaTransfer({ id, retryIntervalMs: 1000 });
 */
export function waitForSolanaTransfer(
  client: Client,
  params: WaitForSolanaTransferParams,
  bearerToken?: BearerToken,
): Promise<SolanaTransfer> {
  const { id } = params;
  return pollUntil(client, params, {
    name: `Transfer ${id}`,
    read: () => getSolanaTransfer(client, { id }, bearerToken),
    isFinal: ({ status }) => status === 'SUCCESS' || status === 'FAILED' || status === 'STUCK',
  });
}

export interface ListSolanaTransfersParams extends CursorParams {
  readonly walletAddress: string;
}

/**
 * Reads a wallet's transfers to Solana, newest first. `solanaTransfers` iterates over all of them.
 *
 * @example
 * const { items } = await svc.listSolanaTransfers({ walletAddress: wallet.publicKey });
 */
export async function listSolanaTransfers(
  client: Client,
  { walletAddress, limit, cursor }: ListSolanaTransfersParams,
  bearerToken?: BearerToken,
): Promise<CursorList<SolanaTransfer>> {
  return toCursorList(
    await request<typeof endpoints.listSolanaTransfers>(client, {
      route: 'GET /solana-transfers',
      access: 'both',
      query: { walletAddress, limit, cursor },
      bearerToken,
    }),
  );
}

export interface SolanaTransfersParams extends PageOptions {
  readonly walletAddress: string;
}

/**
 * Iterates over a wallet's transfers to Solana, newest first.
 *
 * @example
 * for await (const { amount, status } of svc.solanaTransfers({ walletAddress: wallet.publicKey })) console.log(amount, status);
 */
export function solanaTransfers(
  client: Client,
  { walletAddress, ...page }: SolanaTransfersParams,
  bearerToken?: BearerToken,
): AsyncGenerator<SolanaTransfer, void, undefined> {
  const read = async (query: CursorParams) => {
    const { items, nextCursor } = await listSolanaTransfers(client, { walletAddress, ...query }, bearerToken);
    return { data: items, nextCursor };
  };
  return eachByCursor(read, page);
}
