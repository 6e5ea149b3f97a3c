import { selector, toHex } from '@svc/starknet';
import { erc20Storage } from '../contracts/erc20.ts';
import { contractOf } from '../contracts/registry.ts';
import { starknetToken } from '../tokens.ts';
import { padded } from './failure.ts';
import { boundsFault, maxFee } from './fees.ts';
import { calldataOf } from './gas.ts';
import type { ExecutionState } from './state.ts';
import type { ExecutionOptions, Refused, Transaction, ValidationOptions } from './types.ts';

/** As the gateway of a live network has them. */
const MAX_CALLDATA_FELTS = 5_000;
const MAX_SIGNATURE_FELTS = 4_000;

export function senderOf(tx: Transaction): bigint {
  return tx.type === 'DEPLOY_ACCOUNT' ? tx.address : tx.sender;
}

export async function strkBalance(state: ExecutionState, account: bigint): Promise<bigint> {
  const { address } = starknetToken('STRK');
  const key = erc20Storage.balances.key(account);
  return (await state.storageAt(address, key)) | ((await state.storageAt(address, key + 1n)) << 128n);
}

export function refusal(reason: string): Refused {
  return { refused: 'VALIDATION_FAILURE', reason };
}

/** Everything that is looked at before a contract runs. */
export async function preValidate(
  state: ExecutionState,
  tx: Transaction,
  options: ValidationOptions & Pick<ExecutionOptions, 'skipNonce'>,
): Promise<Refused | undefined> {
  return (
    sizeFault(tx) ??
    (await accountFault(state, tx)) ??
    (await nonceFault(state, tx, options)) ??
    (options.skipFee ? undefined : (boundsFault(tx) ?? (await balanceFault(state, tx))))
  );
}

function sizeFault(tx: Transaction): Refused | undefined {
  const calldata = calldataOf(tx).length;
  if (calldata > MAX_CALLDATA_FELTS) {
    return refusal(`Calldata length exceeded maximum: length ${calldata} (allowed length: ${MAX_CALLDATA_FELTS}).`);
  }
  const signature = tx.signature.length;
  if (signature <= MAX_SIGNATURE_FELTS) return undefined;
  return refusal(`Signature length exceeded maximum: length ${signature} (allowed length: ${MAX_SIGNATURE_FELTS}).`);
}

async function accountFault(state: ExecutionState, tx: Transaction): Promise<Refused | undefined> {
  const sender = senderOf(tx);
  const present = await state.classHashAt(sender);
  if (tx.type === 'DEPLOY_ACCOUNT') {
    if (present !== 0n && (await state.nonceAt(sender)) === 0n) {
      return refusal(`Requested contract address ${padded(sender)} is unavailable for deployment.`);
    }
    return classFault(state, tx.classHash);
  }
  if (present === 0n) {
    const reason = `Requested contract address ${padded(sender)} is not deployed.`;
    return { refused: 'CONTRACT_NOT_FOUND', reason };
  }
  if (tx.type === 'DECLARE' && (contractOf(tx.classHash) || (await state.isDeclared(tx.classHash)))) {
    const reason = `Class with hash ${padded(tx.classHash)} is already declared.`;
    return { refused: 'CLASS_ALREADY_DECLARED', reason };
  }
  return contractOf(present)?.entrypoints.has(selector('__validate__')) === false
    ? { refused: 'NON_ACCOUNT', reason: `The contract at ${toHex(sender)} is no account.` }
    : undefined;
}

async function classFault(state: ExecutionState, classHash: bigint): Promise<Refused | undefined> {
  if (contractOf(classHash) || (await state.isDeclared(classHash))) return undefined;
  return { refused: 'CLASS_NOT_FOUND', reason: `Class with hash ${padded(classHash)} is not declared.` };
}

async function nonceFault(
  state: ExecutionState,
  tx: Transaction,
  { skipNonce = false, maxNonceGap = 0n }: ValidationOptions & Pick<ExecutionOptions, 'skipNonce'>,
): Promise<Refused | undefined> {
  const sender = senderOf(tx);
  const expected = await state.nonceAt(sender);
  if (skipNonce || (tx.nonce >= expected && tx.nonce <= expected + maxNonceGap)) return undefined;
  const reason = `Invalid transaction nonce of contract at address ${padded(sender)}. Account nonce: ${toHex(expected)}; got: ${toHex(tx.nonce)}.`;
  return { refused: 'INVALID_NONCE', reason };
}

async function balanceFault(state: ExecutionState, tx: Transaction): Promise<Refused | undefined> {
  const balance = await strkBalance(state, senderOf(tx));
  const most = maxFee(tx);
  if (most <= balance) return undefined;
  return { refused: 'INSUFFICIENT_BALANCE', reason: `Resources bounds (${most}) exceed balance (${balance}).` };
}
