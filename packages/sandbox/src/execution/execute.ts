import { selector } from '@svc/starknet';
import { u256 } from '../contracts/codec.ts';
import { starknetToken } from '../tokens.ts';
import { failureText, nestedError } from './failure.ts';
import { capped, exhausted, feeOf } from './fees.ts';
import { gasOf } from './gas.ts';
import type { Machine } from './machine.ts';
import { preValidate, refusal, senderOf, strkBalance } from './pre-validation.ts';
import type {
  BlockContext,
  Executed,
  ExecutionOptions,
  Gas,
  Invocation,
  NestedError,
  Refused,
  StateReader,
  Transaction,
} from './types.ts';
import { machineFor, runValidation } from './validate.ts';

/** Runs one transaction. What comes back says all that it changes; the state that was read from is left alone. */
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
  // An account that could not pay for its own creation does not come into being.
  if (overrun && tx.type === 'DEPLOY_ACCOUNT') return { refused: 'INSUFFICIENT_RESOURCES', reason: overrun };
  const reverted = run.reverted ?? (overrun === undefined ? undefined : { text: overrun, error: overrun });
  if (reverted) machine.rollback(mark);

  const gas = gasFor(machine, tx, reverted !== undefined && !options.skipFee);
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

/** It did what it should, but for more than the sender agreed to, or left nothing to pay it with. */
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

function gasFor(machine: Machine, tx: Transaction, cap: boolean): Gas {
  const gas = gasOf(tx, machine.work, machine.state.diff());
  return cap ? capped(tx, gas) : gas;
}

/** The protocol moves it in the sender's name, so the receipt shows the same event as for any transfer. */
async function charge(machine: Machine, sender: bigint, sequencer: bigint, fee: bigint): Promise<Invocation> {
  const calldata = [sequencer, ...u256.write(fee)];
  const to = starknetToken('STRK').address;
  const outcome = await machine.call({ to, selector: selector('transfer'), calldata }, sender);
  if (!outcome.ok) throw new Error(`The fee could not be charged: ${failureText('Fee transfer', outcome.failure)}`);
  return outcome.invocation;
}
