import { ApiError } from '@svc/protocol';
import { type Call, type OutsideExecution, outsideExecutionTypedData, parseFelt, toHex } from '@svc/starknet';
import { type Fetch, failureIn, nodeFetch } from '../../chains/node-fetch.ts';
import { readReason } from '../../chains/starknet/rpc-answers.ts';
import type { AccountDeployment, PrepareRequest, Sponsorship } from '../relay.ts';

/** A paymaster estimates and sends before it answers. */
export const PAYMASTER_TIMEOUT_MS = 20_000;

/** `refused`: a SNIP-29 error. `failed`: no usable answer; `unclear` when the paymaster may have sent it. */
export type Answer<T> =
  | { readonly outcome: 'answered'; readonly value: T }
  | { readonly outcome: 'refused'; readonly code: number; readonly reason: string }
  | { readonly outcome: 'failed'; readonly unclear: boolean; readonly reason: string };

/** SNIP-29. Does not retry: the caller checks the chain first. */
export interface PaymasterClient {
  build(request: BuildRequest): Promise<Answer<unknown>>;
  execute(request: ExecuteRequest): Promise<Answer<bigint>>;
}

export interface PaymasterAccess {
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs?: number;
}

export function createPaymasterClient({ url, apiKey, timeoutMs }: PaymasterAccess): PaymasterClient {
  const post = nodeFetch(timeoutMs ?? PAYMASTER_TIMEOUT_MS);
  const headers = { 'content-type': 'application/json', 'x-paymaster-api-key': apiKey };
  const ask = (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return exchange(post, url, { method: 'POST', headers, body });
  };
  return {
    async build(request) {
      const answer = await ask('paymaster_buildTransaction', request);
      return answer.outcome === 'answered' ? { ...answer, value: fieldOf(answer.value, 'typed_data') } : answer;
    },
    async execute(request) {
      const answer = await ask('paymaster_executeTransaction', request);
      if (answer.outcome !== 'answered') return answer;
      const hash = parseFelt(String(fieldOf(answer.value, 'transaction_hash')));
      if (hash.ok) return { outcome: 'answered', value: hash.value };
      return { outcome: 'failed', unclear: true, reason: 'the paymaster answered without the hash of a transaction' };
    },
  };
}

async function exchange(post: Fetch, url: string, init: RequestInit): Promise<Answer<unknown>> {
  try {
    const answer = (await (await post(url, init)).json()) as { result?: unknown; error?: unknown };
    return answer.error ? refusal(answer.error) : { outcome: 'answered', value: answer.result };
  } catch (error) {
    // Foreign errors may quote the request, which is private to the account.
    const failure = failureIn(error);
    return {
      outcome: 'failed',
      unclear: failure?.unclear ?? true,
      reason: failure?.message ?? 'the answer could not be read',
    };
  }
}

function refusal(error: unknown): Answer<never> {
  const reason = readReason(String(fieldOf(error, 'message')), fieldOf(error, 'data'));
  return { outcome: 'refused', code: Number(fieldOf(error, 'code')), reason };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

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

/** Paymasters refuse an invoke without calls. */
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

const INVALID_SIGNATURE = 153;
const EXECUTION_ERROR = 156;
const INVALID_TIME_BOUNDS = 157;
/** Does not say whether it was sent. */
const UNKNOWN_ERROR = 163;
const FIRST_OF_SNIP29 = 150;
const NOT_UNDERSTOOD = new Set([-32700, -32600, -32602]);

interface Refused {
  readonly code: number;
  readonly reason: string;
}

/** Errors that a paymaster answers before it sends. */
export function provesNothingSent({ code }: Refused): boolean {
  return (code >= FIRST_OF_SNIP29 && code < UNKNOWN_ERROR) || NOT_UNDERSTOOD.has(code);
}

export function refusedToBuild(refused: Refused): ApiError {
  return refused.code === EXECUTION_ERROR ? wouldRevert(refused) : unavailable(`refused to build (${show(refused)})`);
}

export function refusedToExecute(refused: Refused): ApiError {
  if (refused.code === INVALID_SIGNATURE) return new ApiError('invalid_signature');
  if (refused.code === INVALID_TIME_BOUNDS) return new ApiError('typed_data_expired');
  if (refused.code === EXECUTION_ERROR) return wouldRevert(refused);
  return unavailable(`refused to execute (${show(refused)})`);
}

export function unavailable(reason: string): ApiError {
  return new ApiError('chain_unavailable', 'The paymaster did not serve this request. Try again.', {
    cause: new Error(`The paymaster ${reason}.`),
  });
}

/** It may still be executed, so the caller must not sign anew. */
export function notSubmittedYet(reason: string): ApiError {
  return new ApiError(
    'chain_unavailable',
    'The transaction is stored, but the paymaster has not taken it yet. Send the same request again in a moment.',
    { cause: new Error(`The paymaster has not taken a transaction: ${reason}.`) },
  );
}

function wouldRevert({ reason }: Refused): ApiError {
  return new ApiError('transaction_reverted', `The transaction would be reverted: ${reason}`);
}

const show = ({ code, reason }: Refused) => `error ${code}: ${reason}`;
