import { selector, VALID } from '@svc/starknet';
import { failureText, nestedError } from './failure.ts';
import { Machine, type Outcome } from './machine.ts';
import { preValidate, refusal, senderOf } from './pre-validation.ts';
import { ExecutionState } from './state.ts';
import type { BlockContext, Refused, StateReader, Trace, Transaction, ValidationOptions } from './types.ts';

export function machineFor(state: StateReader, block: BlockContext, tx: Transaction): Machine {
  return new Machine(new ExecutionState(state), block, tx);
}

/** Would the transaction be taken? For the mempool, where a nonce may be ahead of its turn. */
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

/** The account decides; a new one is constructed first, because only its own code can. */
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
  const outcome = await askAccount(machine, tx);
  if (!outcome.ok) return refusalOf('Transaction validation has failed', outcome);
  if (outcome.result.length !== 1 || outcome.result[0] !== VALID) {
    return refusal('The `validate` entry point should return `VALID`.');
  }
  return { ...built, validate: outcome.invocation };
}

/** Its work is part of the price of every transaction, so that an estimate that skips it comes to the same. */
async function askAccount(machine: Machine, tx: Transaction): Promise<Outcome> {
  const { work } = machine;
  machine.work = { calls: 0, reads: 0, writes: 0, events: 0 };
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
