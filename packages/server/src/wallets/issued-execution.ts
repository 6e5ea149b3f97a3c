import { ApiError } from '@svc/protocol';
import { ANY_CALLER, type OutsideExecution, parseOutsideExecutionTypedData, toHex } from '@svc/starknet';
import type { StarknetNetwork } from '../chains/networks.ts';
import { feltsOf, MAX_CALLS, MAX_FELTS } from './call-bounds.ts';

/** Who may send a signed execution: anyone, as our own relayers want it, or whoever a paymaster elsewhere names. */
export type Callers = 'ANY_CALLER' | 'any';

/** A signature that leaves our hands should not stay good for longer. */
const MAX_WINDOW_SECONDS = 3_600n;

/** The outside execution in typed data, provided that it is one that this service would issue and its window is open. */
export async function readIssuedExecution(
  network: StarknetNetwork,
  callers: Callers,
  typedData: unknown,
): Promise<OutsideExecution> {
  const read = parseOutsideExecutionTypedData(typedData);
  if (!read.ok) refuse(`${read.reason}. Send typedData as it was prepared`);
  const { execution, chainId } = read.value;
  if (chainId !== network.chain.chainId) {
    refuse(`domain.chainId is ${toHex(chainId)}, but this network is ${toHex(network.chain.chainId)}`);
  }
  if (callers === 'ANY_CALLER' && execution.caller !== ANY_CALLER) refuse('message.Caller must be ANY_CALLER');
  requireBounds(execution);
  requireOpenWindow(execution, await network.time());
  return execution;
}

/** Hashing takes time for every felt, and what is longer would not fit a transaction. */
function requireBounds({ calls }: OutsideExecution): void {
  if (calls.length > MAX_CALLS) refuse(`message.Calls has ${calls.length} calls, and ${MAX_CALLS} are the most`);
  const felts = feltsOf(calls);
  if (felts > MAX_FELTS) refuse(`message.Calls has ${felts} felts, and ${MAX_FELTS} fit one transaction`);
}

function requireOpenWindow({ executeAfter, executeBefore }: OutsideExecution, time: Date): void {
  const now = BigInt(Math.floor(time.getTime() / 1_000));
  if (executeBefore <= executeAfter) refuse('message.Execute Before must be later than message.Execute After');
  if (executeBefore - executeAfter > MAX_WINDOW_SECONDS) {
    refuse(`message.Execute After and message.Execute Before may be ${MAX_WINDOW_SECONDS} seconds apart at most`);
  }
  if (now >= executeBefore) throw new ApiError('typed_data_expired');
  if (now <= executeAfter) refuse('message.Execute After lies ahead');
}

function refuse(reason: string): never {
  throw new ApiError('invalid_typed_data', `The typed data is not what this service issues: ${reason}.`);
}
