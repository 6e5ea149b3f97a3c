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
import { chainTime } from '../node/reads.ts';

/** What the owner means to sign. */
export interface AskedExecution {
  readonly account: bigint;
  readonly chainId: bigint;
  readonly calls: readonly Call[];
  readonly nowSeconds: bigint;
}

/** A signature that leaves our hands should not stay good for longer. */
const MAX_WINDOW_SECONDS = 3_600n;
/** Clocks of phones are off by minutes. */
const CLOCK_TOLERANCE_SECONDS = 300n;

/**
 * The outside execution in typed data from the service, provided that it is what was asked for. Nothing in it names the account:
 * the signature is made for ours, and is good for no other.
 */
export function checkTypedData(typedData: unknown, asked: AskedExecution): OutsideExecution {
  const read = parseOutsideExecutionTypedData(typedData);
  if (!read.ok) refuse(read.reason);
  const { execution, chainId } = read.value;
  if (chainId !== asked.chainId) {
    refuse(`it is for the chain ${readShortString(chainId)}, not ${readShortString(asked.chainId)}`);
  }
  checkCalls(execution.calls, asked.calls);
  checkCaller(execution.caller, asked.account);
  checkWindow(execution, asked.nowSeconds);
  return execution;
}

function checkCalls(given: readonly Call[], asked: readonly Call[]): void {
  if (given.length !== asked.length) refuse(`it has ${given.length} calls, not ${asked.length}`);
  for (const [index, wanted] of asked.entries()) {
    const found = given[index];
    if (found?.to !== wanted.to) refuse(`call ${index} goes to another contract`);
    if (found.selector !== wanted.selector) refuse(`call ${index} calls another function`);
    if (!isEqual(found.calldata, wanted.calldata)) refuse(`call ${index} has other calldata`);
  }
}

function isEqual(one: readonly bigint[], other: readonly bigint[]): boolean {
  return one.length === other.length && one.every((felt, index) => felt === other[index]);
}

/** A caller only narrows who may send it. Nobody sends as zero, and an account that calls itself would pass for its owner. */
function checkCaller(caller: bigint, account: bigint): void {
  if (caller === ANY_CALLER) return;
  if (caller === 0n) refuse('its caller is the zero address');
  if (caller === account) refuse('its caller is the account itself');
}

function checkWindow({ executeAfter, executeBefore }: OutsideExecution, nowSeconds: bigint): void {
  if (executeBefore <= executeAfter) refuse('its window ends before it begins');
  if (executeBefore - executeAfter > MAX_WINDOW_SECONDS) refuse('its window is wider than an hour');
  if (executeBefore <= nowSeconds) refuse(`its window is over. ${CLOCK_ADVICE}`);
  // With the width, this bounds the end as well: an hour and the tolerance from now.
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

/** Lets typed data through that is exactly these calls of this account, on the client's chain, now. */
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
 * The chain that the service names, provided that it fits the app's key: what a development key signs is never good on mainnet,
 * and a production key signs for live networks alone.
 */
export async function chainIdOf(client: Client): Promise<bigint> {
  const { chainId: text } = await getConfig(client);
  const chainId = parseFelt(String(text));
  if (!chainId.ok) refuseNetwork(`The service names no chain: ${text}`);
  const isProduction = client.publicKey.startsWith('pk_prod_');
  const fits = isProduction ? isLive(chainId.value) : chainId.value !== chainIds.SN_MAIN;
  if (!fits)
    refuseNetwork(`The service names the chain ${readShortString(chainId.value)}, which does not fit your public key`);
  return chainId.value;
}

const isLive = (chainId: bigint) => chainId === chainIds.SN_MAIN || chainId === chainIds.SN_SEPOLIA;

function refuseNetwork(reason: string): never {
  throw new SvcTypedDataError('typed_data_mismatch', `${reason}. Nothing was signed.`);
}

/** The time against which windows are checked: this device's, or the sandbox's own, which can be moved. */
export async function signingTime(client: Client, chainId: bigint): Promise<bigint> {
  if (chainId === chainIds.SVC_SANDBOX) return chainTime(client);
  return BigInt(Math.floor(client.runtime.now() / 1_000));
}
