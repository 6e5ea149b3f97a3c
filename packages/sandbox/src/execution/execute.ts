import { selector, toHex, VALID } from '@svc/starknet';
import { u256 } from '../contracts/codec.ts';
import type { TransactionInfo } from '../contracts/contract.ts';
import { erc20Storage } from '../contracts/erc20.ts';
import { contractOf } from '../contracts/genesis.ts';
import { starknetToken } from '../tokens.ts';
import { callError, failureText, nestedError, padHex } from './failure.ts';
import { calldataOf, capped, checkBounds, exhausted, feeOf, gasOf, maxFee } from './fees.ts';
import { Machine, type Outcome } from './machine.ts';
import { ExecutionState } from './state.ts';
import type {
  BlockContext,
  CallOutcome,
  ContractCall,
  Executed,
  ExecutionOptions,
  Gas,
  Invocation,
  NestedError,
  Refused,
  StateReader,
  Trace,
  Transaction,
  ValidationOptions,
} from './types.ts';

export async function executeTransaction(
  state: StateReader,
  block: BlockContext,
  tx: Transaction,
  options: ExecutionOptions = {},
): Promise<Executed | Refused> {
  const machine = machineFor(state, block, tx);
  const refused = await preValidate(machine.state, tx, options);
  if (refused) return refused;
  if (tx.type === 'DEPLOY_ACCOUNT' && options.forceRevert !== undefined) return refusal(options.forceRevert);
  const sender = senderOf(tx);
  await machine.state.setNonce(sender, (await machine.state.nonceAt(sender)) + 1n);
  const validated = await runValidation(machine, tx, options.skipValidate ?? false);
  if ('refused' in validated) return validated;

  const mark = machine.mark();
  const run = await runBody(machine, tx, options.forceRevert);
  const overrun = run.reverted || options.skipFee ? undefined : await overrunOf(machine, tx);
  // An account that cannot pay for its deployment is not deployed.
  if (overrun && tx.type === 'DEPLOY_ACCOUNT') return { refused: 'INSUFFICIENT_RESOURCES', reason: overrun };
  const reverted = run.reverted ?? (overrun === undefined ? undefined : { text: overrun, error: overrun });
  if (reverted) machine.rollback(mark);

  const used = gasFor(machine, tx, run.reverted !== undefined);
  const gas = reverted && !options.skipFee ? capped(tx, used) : used;
  const fee = feeOf(gas, tx.tip);
  const feeTransfer = options.skipFee ? undefined : await charge(machine, sender, block.sequencer, fee);
  return {
    status: reverted ? 'REVERTED' : 'SUCCEEDED',
    ...(reverted && { revertReason: reverted.text, revertError: reverted.error }),
    events: machine.events,
    diff: machine.state.diff(),
    fee,
    gas,
    ...(tx.type === 'DEPLOY_ACCOUNT' && { contractAddress: tx.address }),
    trace: { ...validated, ...(run.execute && { execute: run.execute }), ...(feeTransfer && { feeTransfer }) },
  };
}

interface Body {
  readonly execute?: Invocation;
  readonly reverted?: { readonly text: string; readonly error: NestedError };
}

async function runBody(machine: Machine, tx: Transaction, forced: string | undefined): Promise<Body> {
  if (forced !== undefined) return { reverted: { text: forced, error: forced } };
  if (tx.type === 'DECLARE') machine.state.declare(tx.classHash);
  if (tx.type !== 'INVOKE') return {};
  const outcome = await machine.call({ to: tx.sender, selector: selector('__execute__'), calldata: tx.calldata });
  if (outcome.ok) return { execute: outcome.invocation };
  const text = failureText('Transaction execution has failed', outcome.failure);
  return { execute: outcome.invocation, reverted: { text, error: nestedError(outcome.failure) } };
}

async function overrunOf(machine: Machine, tx: Transaction): Promise<string | undefined> {
  const gas = gasFor(machine, tx, false);
  const ranOut = exhausted(tx, gas);
  if (ranOut) return ranOut;
  const fee = feeOf(gas, tx.tip);
  const balance = await strkBalance(machine.state, senderOf(tx));
  if (fee <= balance) return undefined;
  const [low, high] = u256.write(balance);
  return `Insufficient fee token balance. Fee: ${fee}, balance: low/high ${low}/${high}.`;
}

/** Of calls that failed a node counts the steps, not what they read and wrote. */
function gasFor({ work, events, state }: Machine, tx: Transaction, failed: boolean): Gas {
  const counted = failed ? { calls: work.calls, reads: 0, writes: 0 } : work;
  return gasOf(tx, { work: counted, events, diff: state.diff(), firstWrites: state.firstWrites() });
}

/** A normal transfer from the sender, so the receipt has its event. */
async function charge(machine: Machine, sender: bigint, sequencer: bigint, fee: bigint): Promise<Invocation> {
  const calldata = [sequencer, ...u256.write(fee)];
  const to = starknetToken('STRK').address;
  const outcome = await machine.call({ to, selector: selector('transfer'), calldata }, sender);
  if (!outcome.ok) throw new Error(`The fee could not be charged: ${failureText('Fee transfer', outcome.failure)}`);
  return outcome.invocation;
}

export function machineFor(state: StateReader, block: BlockContext, tx: Transaction): Machine {
  return new Machine(new ExecutionState(state), block, tx);
}

/** For the mempool, where a nonce may be ahead. */
export async function validate(
  state: StateReader,
  block: BlockContext,
  tx: Transaction,
  options: ValidationOptions = {},
): Promise<Refused | undefined> {
  const machine = machineFor(state, block, tx);
  const refused = await preValidate(machine.state, tx, options);
  if (refused) return refused;
  const validated = await runValidation(machine, tx, false);
  return 'refused' in validated ? validated : undefined;
}

/** A new account is constructed first, so that its own code can validate. */
export async function runValidation(
  machine: Machine,
  tx: Transaction,
  skipValidate: boolean,
): Promise<Refused | Pick<Trace, 'construct' | 'validate'>> {
  const construct =
    tx.type === 'DEPLOY_ACCOUNT' && (await machine.deploy(tx.address, tx.classHash, tx.constructorCalldata));
  if (construct && !construct.ok) return refusalOf('Contract constructor execution has failed', construct);
  const built = construct ? { construct: construct.invocation } : {};
  if (skipValidate) return built;
  const outcome = await callValidate(machine, tx);
  if (!outcome.ok) return refusalOf('Transaction validation has failed', outcome);
  if (outcome.result.length !== 1 || outcome.result[0] !== VALID) {
    return refusal('The `validate` entry point should return `VALID`.');
  }
  return { ...built, validate: outcome.invocation };
}

/** Not counted: the flat price of a transaction covers it, so estimates with and without validation agree. */
async function callValidate(machine: Machine, tx: Transaction): Promise<Outcome> {
  const { work } = machine;
  machine.work = { calls: 0, reads: 0, writes: 0 };
  const outcome = await machine.call({ to: senderOf(tx), ...validationCall(tx) });
  machine.work = work;
  return outcome;
}

function validationCall(tx: Transaction): { selector: bigint; calldata: readonly bigint[] } {
  if (tx.type === 'INVOKE') return { selector: selector('__validate__'), calldata: tx.calldata };
  if (tx.type === 'DECLARE') return { selector: selector('__validate_declare__'), calldata: [tx.classHash] };
  const { classHash, salt, constructorCalldata } = tx;
  return { selector: selector('__validate_deploy__'), calldata: [classHash, salt, ...constructorCalldata] };
}

function refusalOf(heading: string, { failure }: Extract<Outcome, { ok: false }>): Refused {
  return { refused: 'VALIDATION_FAILURE', reason: failureText(heading, failure), error: nestedError(failure) };
}

/** Limits of the live gateway. */
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

export async function preValidate(
  state: ExecutionState,
  tx: Transaction,
  options: ValidationOptions & Pick<ExecutionOptions, 'skipNonce'>,
): Promise<Refused | undefined> {
  return (
    checkSize(tx) ??
    (await checkNonce(state, tx, options)) ??
    // Before the account, as on a live node: a sender that is not there has no money either.
    (options.skipFee ? undefined : (checkBounds(tx) ?? (await checkBalance(state, tx)))) ??
    (await checkAccount(state, tx))
  );
}

function checkSize(tx: Transaction): Refused | undefined {
  const calldata = calldataOf(tx).length;
  if (calldata > MAX_CALLDATA_FELTS) {
    return refusal(`Calldata length exceeded maximum: length ${calldata} (allowed length: ${MAX_CALLDATA_FELTS}).`);
  }
  const signature = tx.signature.length;
  if (signature <= MAX_SIGNATURE_FELTS) return undefined;
  return refusal(`Signature length exceeded maximum: length ${signature} (allowed length: ${MAX_SIGNATURE_FELTS}).`);
}

async function checkAccount(state: ExecutionState, tx: Transaction): Promise<Refused | undefined> {
  const sender = senderOf(tx);
  const present = await state.classHashAt(sender);
  if (tx.type === 'DEPLOY_ACCOUNT') {
    if (present !== 0n && (await state.nonceAt(sender)) === 0n) {
      return refusal(`Requested contract address ${padHex(sender)} is unavailable for deployment.`);
    }
    return checkClass(state, tx.classHash);
  }
  if (present === 0n) {
    const reason = `Requested contract address ${padHex(sender)} is not deployed.`;
    return { refused: 'CONTRACT_NOT_FOUND', reason };
  }
  if (tx.type === 'DECLARE' && (contractOf(tx.classHash) || (await state.isDeclared(tx.classHash)))) {
    const reason = `Class with hash ${padHex(tx.classHash)} is already declared.`;
    return { refused: 'CLASS_ALREADY_DECLARED', reason };
  }
  return contractOf(present)?.entrypoints.has(selector('__validate__')) === false
    ? { refused: 'NON_ACCOUNT', reason: `The contract at ${toHex(sender)} is no account.` }
    : undefined;
}

async function checkClass(state: ExecutionState, classHash: bigint): Promise<Refused | undefined> {
  if (contractOf(classHash) || (await state.isDeclared(classHash))) return undefined;
  return { refused: 'CLASS_NOT_FOUND', reason: `Class with hash ${padHex(classHash)} is not declared.` };
}

async function checkNonce(
  state: ExecutionState,
  tx: Transaction,
  { skipNonce = false, maxNonceGap = 0n }: ValidationOptions & Pick<ExecutionOptions, 'skipNonce'>,
): Promise<Refused | undefined> {
  const sender = senderOf(tx);
  const expected = await state.nonceAt(sender);
  if (skipNonce || (tx.nonce >= expected && tx.nonce <= expected + maxNonceGap)) return undefined;
  const reason = `Invalid transaction nonce of contract at address ${padHex(sender)}. Account nonce: ${toHex(expected)}; got: ${toHex(tx.nonce)}.`;
  return { refused: 'INVALID_NONCE', reason };
}

async function checkBalance(state: ExecutionState, tx: Transaction): Promise<Refused | undefined> {
  const balance = await strkBalance(state, senderOf(tx));
  const max = maxFee(tx);
  if (max <= balance) return undefined;
  return { refused: 'INSUFFICIENT_BALANCE', reason: `Resources bounds (${max}) exceed balance (${balance}).` };
}

const NO_TRANSACTION: TransactionInfo = { version: 0n, hash: 0n, signature: [], paymasterData: [] };

/** Read-only: writes are discarded. */
export async function callContract(state: StateReader, block: BlockContext, call: ContractCall): Promise<CallOutcome> {
  const classHash = await state.classHashAt(call.to);
  if (classHash === 0n) return { ok: false, kind: 'CONTRACT_NOT_FOUND', error: 'Contract not found' };
  const contract = contractOf(classHash);
  if (contract && !contract.entrypoints.has(call.selector)) {
    const error = `Entry point ${toHex(call.selector)} not found in contract`;
    return { ok: false, kind: 'ENTRYPOINT_NOT_FOUND', error };
  }
  const machine = new Machine(new ExecutionState(state), block, NO_TRANSACTION);
  const outcome = await machine.call(call);
  if (outcome.ok) return { ok: true, result: outcome.result };
  return { ok: false, kind: 'REVERTED', error: callError(outcome.failure) };
}
