import {
  ANY_CALLER,
  type Call,
  chainIds,
  type OutsideExecution,
  parseFelt,
  parseOutsideExecutionTypedData,
  readShortString,
} from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { getConfig } from '../client/config.ts';
import { SvcTypedDataError } from '../client/errors.ts';
import { isLive } from '../client/trust.ts';
import { chainTime } from '../node/rpc.ts';

export interface ExpectedExecution {
  readonly account: bigint;
  readonly chainId: bigint;
  readonly calls: readonly Call[];
  readonly nowSeconds: bigint;
  /** Default: an hour. */
  readonly maxWindowSeconds?: bigint;
}

/** Bounds how long a signature stays valid. */
const MAX_WINDOW_SECONDS = 3_600n;
/** Phone clocks are off by minutes. */
const CLOCK_TOLERANCE_SECONDS = 300n;

/**
 * The outside execution in the service's typed data, verified against the request. The account is not part of it: the
 * signature covers ours and is valid for no other.
 */
export function checkTypedData(typedData: unknown, expected: ExpectedExecution): OutsideExecution {
  const read = parseOutsideExecutionTypedData(typedData);
  if (!read.ok) refuse(read.reason);
  const { execution, chainId } = read.value;
  if (chainId !== expected.chainId) {
    refuse(`it is for the chain ${readShortString(chainId)}, not ${readShortString(expected.chainId)}`);
  }
  checkCalls(execution.calls, expected.calls);
  checkCaller(execution.caller, expected.account);
  checkWindow(execution, expected.nowSeconds, expected.maxWindowSeconds);
  return execution;
}

function checkCalls(given: readonly Call[], expected: readonly Call[]): void {
  if (given.length !== expected.length) refuse(`it has ${given.length} calls, not ${expected.length}`);
  for (const [index, call] of expected.entries()) {
    const found = given[index];
    if (found?.to !== call.to) refuse(`call ${index} goes to another contract`);
    if (found.selector !== call.selector) refuse(`call ${index} calls another function`);
    if (!isEqual(found.calldata, call.calldata)) refuse(`call ${index} has other calldata`);
  }
}

function isEqual(one: readonly bigint[], other: readonly bigint[]): boolean {
  return one.length === other.length && one.every((felt, index) => felt === other[index]);
}

/** A caller only restricts who may submit. Zero can never submit, and the account itself would pass as its owner. */
function checkCaller(caller: bigint, account: bigint): void {
  if (caller === ANY_CALLER) return;
  if (caller === 0n) refuse('its caller is the zero address');
  if (caller === account) refuse('its caller is the account itself');
}

function checkWindow(
  { executeAfter, executeBefore }: OutsideExecution,
  nowSeconds: bigint,
  maxSeconds = MAX_WINDOW_SECONDS,
): void {
  if (executeBefore <= executeAfter) refuse('its window ends before it begins');
  if (executeBefore - executeAfter > maxSeconds) {
    refuse(
      `its window is wider than ${maxSeconds === MAX_WINDOW_SECONDS ? 'an hour' : `${maxSeconds / 86_400n} days`}`,
    );
  }
  if (executeBefore <= nowSeconds) refuse(`its window is over. ${CLOCK_ADVICE}`);
  // Together with the width this bounds the end: one hour and the tolerance from now.
  if (executeAfter >= nowSeconds + CLOCK_TOLERANCE_SECONDS) refuse(`its window lies ahead. ${CLOCK_ADVICE}`);
}

const CLOCK_ADVICE = "Is this device's clock right?";

function refuse(reason: string): never {
  throw new SvcTypedDataError(
    'typed_data_mismatch',
    `The service handed over typed data that was not asked for, and nothing was signed: ${reason}`,
  );
}

export interface CheckedExecution {
  readonly execution: OutsideExecution;
  readonly chainId: bigint;
}

/** Verifies that typed data is exactly these calls of this account, on the client's chain, now. */
export async function checkForSigning(
  client: Client,
  typedData: unknown,
  { account, calls }: { readonly account: bigint; readonly calls: readonly Call[] },
): Promise<CheckedExecution> {
  const chainId = await chainIdOf(client);
  const nowSeconds = await signingTime(client, chainId);
  return { execution: checkTypedData(typedData, { account, chainId, calls, nowSeconds }), chainId };
}

/**
 * The service's chain, verified against the app's options and public key: a chain that the app names is the only one, a
 * development key never signs for mainnet, a production key only for live networks.
 */
export async function chainIdOf(client: Client): Promise<bigint> {
  const { chainId: text } = await getConfig(client);
  const chainId = parseFelt(String(text));
  if (!chainId.ok) refuseNetwork(`The service names no chain: ${text}`);
  const isProduction = client.publicKey.startsWith('pk_prod_');
  const named = client.trust.chainId;
  if (named !== undefined && chainId.value !== named) {
    refuseNetwork(
      `The service names the chain ${readShortString(chainId.value)}, not ${readShortString(named)} of trust.chainId`,
    );
  }
  const fits = isProduction ? isLive(client.trust, chainId.value) : chainId.value !== chainIds.SN_MAIN;
  if (!fits)
    refuseNetwork(`The service names the chain ${readShortString(chainId.value)}, which does not fit your public key`);
  return chainId.value;
}

function refuseNetwork(reason: string): never {
  throw new SvcTypedDataError('typed_data_mismatch', `${reason}. Nothing was signed.`);
}

/** This device's time, or the sandbox's own clock, which tests move. */
export async function signingTime(client: Client, chainId: bigint): Promise<bigint> {
  if (chainId === chainIds.SVC_SANDBOX) return chainTime(client);
  return BigInt(Math.floor(client.runtime.now() / 1_000));
}
