import type { BodyOf, endpoints } from '@svc/protocol';
import {
  type Call,
  type OutsideExecution,
  outsideExecutionHash,
  parseFelt,
  selector,
  sign,
  toHex,
} from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcInputError, SvcKeyError } from '../client/errors.ts';
import { request } from '../client/request.ts';
import { isObject, readAddress, type SvcWallet } from '../client/values.ts';
import { openWalletKey } from '../keys/seal.ts';
import { type CheckedExecution, checkForSigning } from './check.ts';

/** One call of a contract function. */
export interface ContractCall {
  readonly contractAddress: string;
  /** The function's name, or its selector (`0x…`). */
  readonly entrypoint: string;
  /** Whole numbers: bigint, hexadecimal or decimal text, or a safe integer. */
  readonly calldata: readonly (string | number | bigint)[];
}

const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function toCalls(calls: readonly ContractCall[]): Call[] {
  if (!Array.isArray(calls) || calls.length === 0 || calls.some((call) => !isObject(call))) {
    throw new SvcInputError('invalid_input', 'calls must be a list of calls, and not empty.');
  }
  return calls.map(toCall);
}

/** The call as felts, to compare with the typed data. */
export function toCall({ contractAddress, entrypoint, calldata }: ContractCall): Call {
  if (!Array.isArray(calldata)) {
    throw new SvcInputError('invalid_input', 'calldata must be a list; pass [] for a function that takes nothing.');
  }
  return {
    to: readAddress(contractAddress, 'contractAddress'),
    selector: readEntrypoint(entrypoint),
    calldata: calldata.map(readFelt),
  };
}

/** The call as the API takes it. Function names are kept for the history. */
export function toWireCall(call: ContractCall): { contractAddress: string; entrypoint: string; calldata: string[] } {
  const { to, calldata } = toCall(call);
  return { contractAddress: toHex(to), entrypoint: call.entrypoint, calldata: calldata.map(toHex) };
}

export function readEntrypoint(text: string): bigint {
  if (typeof text === 'string' && FUNCTION_NAME.test(text)) return selector(text);
  const value = typeof text === 'string' && text.startsWith('0x') ? parseFelt(text) : undefined;
  if (value?.ok) return value.value;
  throw new SvcInputError('invalid_input', `entrypoint must be a function's name or a selector (0x…): ${text}`);
}

function readFelt(item: string | number | bigint, index: number): bigint {
  const isExact = typeof item !== 'number' || Number.isSafeInteger(item);
  const value = isExact ? parseFelt(String(item)) : undefined;
  if (value?.ok) return value.value;
  const reason = value?.reason ?? 'is a number that is not exact: pass it as text or bigint';
  throw new SvcInputError('invalid_input', `calldata[${index}] ${reason}.`);
}

export interface CallsToPrepare {
  readonly walletAddress: string;
  readonly calls: readonly ContractCall[];
  /** The expected type: the service refuses if it differs. */
  readonly walletType?: SvcWallet['walletType'];
}

export interface PreparedCalls extends CheckedExecution {
  /** As returned by the service, to be sent back with the signature. */
  readonly typedData: Record<string, unknown>;
}

/** Has the service prepare typed data, and verifies that it is exactly these calls. */
export async function prepareCalls(
  client: Client,
  { walletAddress, calls, walletType }: CallsToPrepare,
  bearerToken?: BearerToken,
): Promise<PreparedCalls> {
  const account = readAddress(walletAddress, 'publicKey of the wallet');
  const expected = toCalls(calls);
  const { typedData } = await request<typeof endpoints.prepareTypedData>(client, {
    route: 'POST /transactions/prepare-typed-data',
    access: 'both',
    body: {
      publicKey: toHex(account),
      calls: calls.map(toWireCall),
      walletType: walletType === 'SHHH' ? undefined : walletType,
    },
    bearerToken,
  });
  return { ...(await checkForSigning(client, typedData, { account, calls: expected })), typedData };
}

export interface CallsToSign {
  readonly wallet: SvcWallet;
  readonly encryptKey: string;
  readonly calls: readonly ContractCall[];
}

/** Input of `sendSignedCalls`, as plain JSON. It can be stored and sent again; it executes once. */
export interface SignedCalls {
  readonly publicKey: string;
  readonly typedData: Record<string, unknown>;
  readonly userSignature: { readonly r: string; readonly s: string };
}

/** Prepares the calls, verifies the typed data and signs as the owner. The key is opened last. */
export async function signCalls(
  client: Client,
  { wallet, encryptKey, calls }: CallsToSign,
  bearerToken?: BearerToken,
): Promise<SignedCalls> {
  const account = readAddress(wallet.publicKey, 'publicKey of the wallet');
  const { execution, typedData, chainId } = await prepareCalls(
    client,
    { walletAddress: wallet.publicKey, calls },
    bearerToken,
  );
  const privateKey = await openWalletKey({ encryptKey, wallet });
  return {
    publicKey: wallet.publicKey,
    typedData,
    userSignature: signExecution(execution, { account, chainId, privateKey }),
  };
}

export interface Signer {
  readonly account: bigint;
  readonly chainId: bigint;
  readonly privateKey: bigint;
}

/** Signs what `checkTypedData` verified. The hash is computed here, from the verified values. */
export function signExecution(
  execution: OutsideExecution,
  { account, chainId, privateKey }: Signer,
): { r: string; s: string } {
  const { r, s } = signHash(outsideExecutionHash(2, execution, account, chainId), privateKey);
  return { r: toHex(r), s: toHex(s) };
}

/** Without the cause, which could contain the key. */
function signHash(hash: bigint, privateKey: bigint) {
  try {
    return sign(hash, privateKey);
  } catch {
    throw new SvcKeyError('wrong_key', 'This is not a private key of the Stark curve.');
  }
}

export type CallsToSend = Readonly<BodyOf<typeof endpoints.executeSponsoredTransaction>>;

/** Has the service execute signed calls. Idempotent by wallet and nonce: repeating it returns the same hash. */
export async function sendSignedCalls(
  client: Client,
  signed: CallsToSend,
  bearerToken?: BearerToken,
  idempotencyKey?: string,
): Promise<string> {
  const { transactionHash } = await request<typeof endpoints.executeSponsoredTransaction>(client, {
    route: 'POST /transactions/execute-sponsored-transaction',
    access: 'both',
    body: signed,
    bearerToken,
    idempotencyKey,
  });
  return transactionHash;
}

export async function executeCalls(client: Client, params: CallsToSign, bearerToken?: BearerToken): Promise<string> {
  return sendSignedCalls(client, await signCalls(client, params, bearerToken), bearerToken);
}
