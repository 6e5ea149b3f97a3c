import { ApiError } from '@svc/protocol';
import {
  ANY_CALLER,
  decodeSessionSignature,
  type OutsideExecution,
  parseOutsideExecutionTypedData,
  toHex,
  VALID,
} from '@svc/starknet';
import type { Database } from '@svc/store';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import type { Crypto } from '../crypto/crypto.ts';
import { readFelt, refuse } from '../http/validation.ts';
import type { Sponsor } from '../relayer/relay.ts';
import type { WalletRecord } from './wallet.ts';
import { typeOfClass } from './wallet-class.ts';

export interface SignatureDeps {
  readonly networks: Pick<Networks, 'starknet'>;
  readonly crypto: Crypto;
  readonly callers?: Callers | undefined;
}

export type SignatureText = readonly string[] | { readonly r: string; readonly s: string };

export interface SignedExecutionText {
  readonly typedData: unknown;
  readonly signature: SignatureText;
  readonly isSession?: boolean | undefined;
  readonly field?: string;
}

export interface SignedExecution {
  readonly execution: OutsideExecution;
  readonly signature: readonly bigint[];
  readonly isSession: boolean;
  readonly messageHash: bigint;
}

const OWNER_LENGTH = 2;
const SESSION_LENGTH = 4;

/** Checks window, chain, caller and signature. Session rules are checked by the contract. */
export async function readSignedExecution(
  deps: SignatureDeps,
  wallet: WalletRecord,
  text: SignedExecutionText,
): Promise<SignedExecution> {
  const field = text.field ?? 'body.userSignature';
  const signature = readSignature(text.signature, field);
  const isSession = isSessionSignature(signature, text.isSession, field);
  const network = deps.networks.starknet(wallet.environment);
  const execution = await readIssuedExecution(network, deps.callers ?? 'ANY_CALLER', text.typedData);
  const requireSigner = isSession ? requireSession : requireOwner;
  const messageHash = await requireSigner(deps.crypto, network, wallet, execution, signature);
  return { execution, signature, isSession, messageHash };
}

export function readSignature(signature: SignatureText, field: string): bigint[] {
  if (!('r' in signature)) return signature.map((text, index) => readFelt(text, `${field}[${index}]`));
  return [readFelt(signature.r, `${field}.r`), readFelt(signature.s, `${field}.s`)];
}

function isSessionSignature({ length }: readonly bigint[], claimed: boolean | undefined, field: string): boolean {
  if (length !== OWNER_LENGTH && length !== SESSION_LENGTH) {
    invalid(
      `${field} has ${length} items. The owner signs with [r, s], a session with [sessionKey, r, s, validUntil].`,
    );
  }
  const isSession = length === SESSION_LENGTH;
  if (claimed !== undefined && claimed !== isSession) {
    refuse(
      'body.isSessionSignature',
      `is ${claimed}, but ${field} has ${length} items: ${isSession ? 'a session' : 'the owner'} signed`,
    );
  }
  return isSession;
}

async function requireOwner(
  crypto: Crypto,
  { chain }: StarknetNetwork,
  wallet: WalletRecord,
  execution: OutsideExecution,
  [r = 0n, s = 0n]: readonly bigint[],
): Promise<bigint> {
  const account = BigInt(wallet.address);
  const check = { execution, account, chainId: chain.chainId, keys: [wallet.ownerKey], signature: { r, s } };
  const { hash, signer } = await crypto.checkExecution(check);
  if (signer !== undefined) return hash;
  // The owner may have changed; only the contract knows.
  const question = { to: account, entrypoint: 'is_valid_signature', calldata: [hash, 2n, r, s] };
  const answer = await chain.call(question, 'pre_confirmed');
  if (answer.ok && answer.felts[0] === VALID) return hash;
  return invalid(
    "The signature does not verify for the wallet's owner key. Sign the typed data as it was prepared, for this account.",
  );
}

async function requireSession(
  crypto: Crypto,
  network: StarknetNetwork,
  wallet: WalletRecord,
  execution: OutsideExecution,
  signature: readonly bigint[],
): Promise<bigint> {
  if (!(await hasSessions(network, wallet))) {
    invalid(`${wallet.walletType} wallets have no session keys. Sign with the owner's key: [r, s].`);
  }
  const session = decodeSessionSignature(signature);
  if (!session) invalid('The last item of a session signature must be the time until which the session is valid.');
  const { sessionKey, r, s } = session;
  const { chainId } = network.chain;
  const account = BigInt(wallet.address);
  const { hash, signer } = await crypto.checkExecution({
    execution,
    account,
    chainId,
    keys: [sessionKey],
    signature: { r, s },
  });
  if (signer === undefined) invalid('The signature does not verify for the session key that it names.');
  return hash;
}

/** Our record may lag behind an upgrade from `READY`. */
async function hasSessions(network: StarknetNetwork, { walletType, address }: WalletRecord): Promise<boolean> {
  if (walletType === 'SVC') return true;
  const classHash = await network.chain.classHashAt(BigInt(address), 'pre_confirmed');
  return classHash !== undefined && typeOfClass(network, classHash) === 'SVC';
}

function invalid(message: string): never {
  throw new ApiError('invalid_signature', message);
}

/** `any`: the caller that a paymaster names. */
export type Callers = 'ANY_CALLER' | 'any';

/** Bounds how long a leaked signature is valid. */
const MAX_WINDOW_SECONDS = 3_600n;

/** Refuses what this service would not issue, and closed windows. */
export async function readIssuedExecution(
  network: StarknetNetwork,
  callers: Callers,
  typedData: unknown,
): Promise<OutsideExecution> {
  const read = parseOutsideExecutionTypedData(typedData);
  if (!read.ok) refuseTypedData(`${read.reason}. Send typedData as it was prepared`);
  const { execution, chainId } = read.value;
  if (chainId !== network.chain.chainId) {
    refuseTypedData(`domain.chainId is ${toHex(chainId)}, but this network is ${toHex(network.chain.chainId)}`);
  }
  if (callers === 'ANY_CALLER' && execution.caller !== ANY_CALLER) refuseTypedData('message.Caller must be ANY_CALLER');
  requireBounds(execution);
  requireOpenWindow(execution, await network.time());
  return execution;
}

/** Hashing costs time per felt. */
function requireBounds({ calls }: OutsideExecution): void {
  if (calls.length > MAX_CALLS)
    refuseTypedData(`message.Calls has ${calls.length} calls, and ${MAX_CALLS} are the most`);
  const felts = feltsOf(calls);
  if (felts > MAX_FELTS) refuseTypedData(`message.Calls has ${felts} felts, and ${MAX_FELTS} fit one transaction`);
}

function requireOpenWindow({ executeAfter, executeBefore }: OutsideExecution, time: Date): void {
  const now = BigInt(Math.floor(time.getTime() / 1_000));
  if (executeBefore <= executeAfter) refuseTypedData('message.Execute Before must be later than message.Execute After');
  if (executeBefore - executeAfter > MAX_WINDOW_SECONDS) {
    refuseTypedData(
      `message.Execute After and message.Execute Before may be ${MAX_WINDOW_SECONDS} seconds apart at most`,
    );
  }
  if (now >= executeBefore) throw new ApiError('typed_data_expired');
  if (now <= executeAfter) refuseTypedData('message.Execute After lies ahead');
}

function refuseTypedData(reason: string): never {
  throw new ApiError('invalid_typed_data', `The typed data is not what this service issues: ${reason}.`);
}

export const MAX_CALLS = 64;
/** Starknet takes 5,000; the rest is for deployment, window and signature. */
export const MAX_FELTS = 4_500;
/** Contract, selector, length. */
const FELTS_PER_CALL = 3;

export function feltsOf(calls: readonly { readonly calldata: readonly unknown[] }[]): number {
  return calls.reduce((sum, { calldata }) => sum + FELTS_PER_CALL + calldata.length, 0);
}

export interface WalletDeps extends SignatureDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'evm' | 'token'>;
  readonly sponsor: Sponsor;
}
