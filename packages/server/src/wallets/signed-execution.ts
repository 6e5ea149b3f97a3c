import { ApiError } from '@svc/protocol';
import { decodeSessionSignature, type OutsideExecution, VALID } from '@svc/starknet';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import type { Crypto } from '../crypto/crypto.ts';
import { readFelt, refuse } from './fields.ts';
import { type Callers, readIssuedExecution } from './issued-execution.ts';
import type { WalletRecord } from './wallet.ts';
import { typeOfClass } from './wallet-class.ts';

export interface SignatureParts {
  readonly networks: Pick<Networks, 'starknet'>;
  readonly crypto: Crypto;
  /** ANY_CALLER unless a paymaster elsewhere pays. */
  readonly callers?: Callers | undefined;
}

export type SignatureText = readonly string[] | { readonly r: string; readonly s: string };

export interface SignedExecutionText {
  readonly typedData: unknown;
  readonly signature: SignatureText;
  /** What the caller says it is, where they say it. */
  readonly isSession?: boolean | undefined;
  /** What the request calls the signature, for messages. */
  readonly field?: string;
}

export interface SignedExecution {
  readonly execution: OutsideExecution;
  readonly signature: readonly bigint[];
  readonly isSession: boolean;
  /** What was signed. */
  readonly messageHash: bigint;
}

const OWNER_LENGTH = 2;
const SESSION_LENGTH = 4;

/**
 * Reads what the wallet's owner or one of its sessions signed, and checks it as far as that is possible without executing it: what
 * a session may do, and whether it is registered at all, is the contract's business.
 */
export async function readSignedExecution(
  parts: SignatureParts,
  wallet: WalletRecord,
  text: SignedExecutionText,
): Promise<SignedExecution> {
  const field = text.field ?? 'body.userSignature';
  const signature = readSignature(text.signature, field);
  const isSession = isSessionSignature(signature, text.isSession, field);
  const network = parts.networks.starknet(wallet.environment);
  const execution = await readIssuedExecution(network, parts.callers ?? 'ANY_CALLER', text.typedData);
  const requireSigner = isSession ? requireSession : requireOwner;
  const messageHash = await requireSigner(parts.crypto, network, wallet, execution, signature);
  return { execution, signature, isSession, messageHash };
}

export function readSignature(signature: SignatureText, field: string): bigint[] {
  if (!('r' in signature)) return signature.map((text, index) => readFelt(text, `${field}[${index}]`));
  return [readFelt(signature.r, `${field}.r`), readFelt(signature.s, `${field}.s`)];
}

function isSessionSignature({ length }: readonly bigint[], said: boolean | undefined, field: string): boolean {
  if (length !== OWNER_LENGTH && length !== SESSION_LENGTH) {
    invalid(
      `${field} has ${length} items. The owner signs with [r, s], a session with [sessionKey, r, s, validUntil].`,
    );
  }
  const isSession = length === SESSION_LENGTH;
  if (said !== undefined && said !== isSession) {
    refuse(
      'body.isSessionSignature',
      `is ${said}, but ${field} has ${length} items: ${isSession ? 'a session' : 'the owner'} signed`,
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
  // The owner may have changed since the wallet was created, and only the contract knows the new one.
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

/** A wallet that was upgraded a moment ago may still be `READY` in our books. */
async function hasSessions(network: StarknetNetwork, { walletType, address }: WalletRecord): Promise<boolean> {
  if (walletType === 'SVC') return true;
  const classHash = await network.chain.classHashAt(BigInt(address), 'pre_confirmed');
  return classHash !== undefined && typeOfClass(network, classHash) === 'SVC';
}

function invalid(message: string): never {
  throw new ApiError('invalid_signature', message);
}
