import { type Call, type OutsideExecution, outsideExecutionTypedData, toHex } from '@svc/starknet';
import type { AccountDeployment, PrepareRequest, Sponsorship } from '../sponsor.ts';

/** SNIP-29 as far as we speak it: the paymaster pays, and asks no fee of the account. */
interface Parameters {
  readonly version: '0x1';
  readonly fee_mode: { readonly mode: 'sponsored' };
  readonly time_bounds: { readonly execute_after: number; readonly execute_before: number };
}

interface Deployment {
  readonly address: string;
  readonly class_hash: string;
  readonly salt: string;
  readonly calldata: readonly string[];
  /** Of Cairo. */
  readonly version: 1;
}

interface CallsToBuild {
  readonly user_address: string;
  readonly calls: readonly { readonly to: string; readonly selector: string; readonly calldata: readonly string[] }[];
}

interface SignedCalls {
  readonly user_address: string;
  readonly typed_data: object;
  readonly signature: readonly string[];
}

type Transaction<Invoke> =
  | { readonly type: 'invoke'; readonly invoke: Invoke }
  | { readonly type: 'deploy_and_invoke'; readonly invoke: Invoke; readonly deployment: Deployment }
  | { readonly type: 'deploy'; readonly deployment: Deployment };

export interface BuildRequest {
  readonly transaction: Transaction<CallsToBuild>;
  readonly parameters: Parameters;
}

export interface ExecuteRequest {
  readonly transaction: Transaction<SignedCalls>;
  readonly parameters: Parameters;
}

type Window = Pick<OutsideExecution, 'executeAfter' | 'executeBefore'>;

export function buildRequest({ account, deployment, calls }: PrepareRequest, window: Window): BuildRequest {
  const invoke = { user_address: toHex(account), calls: calls.map(showCall) };
  const transaction: BuildRequest['transaction'] = deployment
    ? { type: 'deploy_and_invoke', invoke, deployment: showDeployment(account, deployment) }
    : { type: 'invoke', invoke };
  return { transaction, parameters: parameters(window) };
}

export function executeRequest(sponsorship: Sponsorship, chainId: bigint): ExecuteRequest {
  return { transaction: signedTransaction(sponsorship, chainId), parameters: parameters(sponsorship.execution) };
}

/** An account without calls of its own is only deployed: paymasters refuse to invoke nothing. */
function signedTransaction(sponsorship: Sponsorship, chainId: bigint): ExecuteRequest['transaction'] {
  const { account, execution, signature } = sponsorship;
  const deployment = sponsorship.deployment && showDeployment(account, sponsorship.deployment);
  if (deployment && execution.calls.length === 0) return { type: 'deploy', deployment };
  const typed_data = outsideExecutionTypedData(execution, chainId);
  const invoke = { user_address: toHex(account), typed_data, signature: signature.map(toHex) };
  return deployment ? { type: 'deploy_and_invoke', invoke, deployment } : { type: 'invoke', invoke };
}

function parameters({ executeAfter, executeBefore }: Window): Parameters {
  const time_bounds = { execute_after: Number(executeAfter), execute_before: Number(executeBefore) };
  return { version: '0x1', fee_mode: { mode: 'sponsored' }, time_bounds };
}

function showCall({ to, selector, calldata }: Call): CallsToBuild['calls'][number] {
  return { to: toHex(to), selector: toHex(selector), calldata: calldata.map(toHex) };
}

function showDeployment(account: bigint, { classHash, salt, constructorCalldata }: AccountDeployment): Deployment {
  return {
    address: toHex(account),
    class_hash: toHex(classHash),
    salt: toHex(salt),
    calldata: constructorCalldata.map(toHex),
    version: 1,
  };
}
