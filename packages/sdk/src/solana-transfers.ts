import { type endpoints, parseTokenAmount, type SolanaTransfer, type SolanaTransferQuote } from '@svc/protocol';
import { parseFelt } from '@svc/starknet';
import type { BearerToken, Client } from './client/client.ts';
import { SvcConnectionError, SvcInputError } from './client/errors.ts';
import type { SvcWallet } from './client/input.ts';
import { type CursorList, type CursorParams, eachByCursor, type PageOptions, toCursorList } from './client/pages.ts';
import { type PollOptions, pollUntil } from './client/poll.ts';
import { request } from './client/request.ts';
import { requireTrustedBridge } from './client/trust.ts';
import { type SignedCalls, signCalls } from './signing/calls.ts';
import { chainIdOf } from './signing/check.ts';
import { burnCalls, requireSolanaWallet } from './signing/solana-burn.ts';
import { tokenOf } from './transfers.ts';

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
