import { type Call, outsideExecutionHash, poseidon, selector, shortString, VALID } from '@svc/starknet';
import { calls, results } from '../calls.ts';
import { array, felt, option, span } from '../codec.ts';
import { event, key } from '../event.ts';
import type { Frame } from '../frame.ts';
import { action, type ContractFunction, external } from '../function.ts';
import { admitOutsideExecution, outsideExecution, readOutsideExecution } from '../outside-execution.ts';
import { Panic, panic, require } from '../panic.ts';
import { isVersion3 } from '../transaction-version.ts';
import { signatureFault, signer } from './signature.ts';
import { readyGuardian, readyOwner } from './storage.ts';

export const SignerLinked = event('SignerLinked', { signer_guid: key(felt), signer });
export const AccountCreated = event('AccountCreated', { owner: key(felt), guardian: felt });
export const AccountCreatedGuid = event('AccountCreatedGuid', { owner_guid: key(felt), guardian_guid: felt });
export const TransactionExecuted = event('TransactionExecuted', { hash: key(felt), response: span(span(felt)) });

const OUTSIDE_TEXTS = {
  caller: 'argent/invalid-caller',
  early: 'argent/invalid-timestamp',
  late: 'argent/invalid-timestamp',
  duplicate: 'argent/duplicated-outside-nonce',
};

const SIGNER_TYPE = shortString('Starknet Signer');

export function guidOf(publicKey: bigint): bigint {
  return publicKey === 0n ? 0n : poseidon(SIGNER_TYPE, publicKey);
}

export const construct = action(
  'constructor',
  { owner: signer, guardian: option(signer) },
  async (frame, { owner, guardian = 0n }) => {
    await readyOwner.write(frame, owner);
    await readyGuardian.write(frame, guardian);
    SignerLinked.emit(frame, { signer_guid: guidOf(owner), signer: owner });
    if (guardian !== 0n) SignerLinked.emit(frame, { signer_guid: guidOf(guardian), signer: guardian });
    AccountCreated.emit(frame, { owner, guardian });
    AccountCreatedGuid.emit(frame, { owner_guid: guidOf(owner), guardian_guid: guidOf(guardian) });
  },
);

function requireProtocol(frame: Frame): void {
  require(frame.caller === 0n, 'argent/non-null-caller');
  require(isVersion3(frame), 'argent/invalid-tx-version');
}

async function requireSignature(frame: Frame, hash: bigint, signature: readonly bigint[]): Promise<void> {
  const fault = await signatureFault(frame, hash, signature);
  if (fault) panic(fault);
}

/** The account is called alone or not at all: no bundle can hide a change of it among payments. */
function requireAllowedCalls(frame: Frame, list: readonly Call[]): void {
  const own = list.filter((call) => call.to === frame.address);
  require(list.length === 1 || own.length === 0, 'argent/no-multicall-to-self');
  const direct = ['execute_after_upgrade', 'perform_upgrade'].map((name) => selector(name));
  require(!own.some((call) => direct.includes(call.selector)), 'argent/forbidden-call');
}

async function multicall(frame: Frame, list: readonly Call[], hash: bigint): Promise<bigint[][]> {
  const response: bigint[][] = [];
  for (const [index, call] of list.entries()) {
    const outcome = await frame.tryCall(call);
    if (!outcome.ok) throw new Panic([shortString('argent/multicall-failed'), BigInt(index), ...outcome.felts]);
    response.push(outcome.result);
  }
  TransactionExecuted.emit(frame, { hash, response });
  return response;
}

function executeFromOutside(name: string, version: 1 | 2, signature: typeof signatureTypes.v1): ContractFunction {
  return external(name, { outside_execution: outsideExecution, signature }, results, async (frame, args) => {
    const execution = readOutsideExecution(args.outside_execution);
    await admitOutsideExecution(frame, execution, OUTSIDE_TEXTS);
    const hash = outsideExecutionHash(version, execution, frame.address, frame.block.chainId);
    requireAllowedCalls(frame, execution.calls);
    await requireSignature(frame, hash, args.signature);
    return multicall(frame, execution.calls, hash);
  });
}

const signatureTypes = { v1: array(felt), v2: span(felt) };

/** For `__validate_declare__` and `__validate_deploy__`, which sign for nothing but themselves. */
export async function requireOwner(frame: Frame): Promise<bigint> {
  require(isVersion3(frame), 'argent/invalid-tx-version');
  require(frame.transaction.paymasterData.length === 0, 'argent/unsupported-paymaster');
  await requireSignature(frame, frame.transaction.hash, frame.transaction.signature);
  return VALID;
}

export const executionFunctions: readonly ContractFunction[] = [
  external('__validate__', { calls }, felt, async (frame, args) => {
    requireProtocol(frame);
    requireAllowedCalls(frame, args.calls);
    return requireOwner(frame);
  }),
  external('__execute__', { calls }, results, async (frame, args) => {
    requireProtocol(frame);
    return multicall(frame, args.calls, frame.transaction.hash);
  }),
  executeFromOutside('execute_from_outside', 1, signatureTypes.v1),
  executeFromOutside('execute_from_outside_v2', 2, signatureTypes.v2),
];
