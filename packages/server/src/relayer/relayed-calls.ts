import { type Call, encodeArray, encodeOutsideExecution, selector, toHex, UDC_ADDRESS } from '@svc/starknet';
import type { Sponsorship } from './sponsor.ts';

const NOT_UNIQUE = 0n;

/** What our account executes for a wallet: its deployment, where it is still to come, then what its owner signed. */
export function relayedCalls({ account, deployment, execution, signature }: Sponsorship): Call[] {
  const execute = {
    to: account,
    selector: selector('execute_from_outside_v2'),
    calldata: encodeOutsideExecution(execution, signature),
  };
  if (!deployment) return [execute];
  const { classHash, salt, constructorCalldata } = deployment;
  const calldata = [classHash, salt, NOT_UNIQUE, ...encodeArray(constructorCalldata)];
  return [{ to: UDC_ADDRESS, selector: selector('deploy_contract'), calldata }, execute];
}

/** Moves nothing from an account to itself: any account can do it, and it only uses up a nonce. */
export function fillerCalls(account: bigint, strk: bigint): Call[] {
  return [{ to: strk, selector: selector('transfer'), calldata: [account, 0n, 0n] }];
}

export interface StoredCalls {
  readonly calls: readonly { readonly to: string; readonly selector: string; readonly calldata: readonly string[] }[];
}

export function writeCalls(calls: readonly Call[]): StoredCalls {
  return {
    calls: calls.map(({ to, selector, calldata }) => ({
      to: toHex(to),
      selector: toHex(selector),
      calldata: calldata.map(toHex),
    })),
  };
}

export function readCalls({ calls }: StoredCalls): Call[] {
  return calls.map(({ to, selector, calldata }) => ({
    to: BigInt(to),
    selector: BigInt(selector),
    calldata: calldata.map(BigInt),
  }));
}
