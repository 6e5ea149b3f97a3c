import type { Contract } from './contract.ts';
import { erc20 } from './erc20.ts';
import { messageTransmitter } from './message-transmitter.ts';
import { plainAccount } from './plain-account.ts';
import { readyAccount } from './ready-account.ts';
import {
  currentSvcAccount,
  svcAccountWithPolicies,
  svcAccountWithSessions,
  uncompiledSvcAccount,
} from './svc-account.ts';
import { tokenMessenger } from './token-messenger.ts';
import { universalDeployer } from './universal-deployer.ts';

/** Every contract that the sandbox can run. */
export const contracts: readonly Contract[] = [
  erc20,
  universalDeployer,
  plainAccount,
  currentSvcAccount,
  uncompiledSvcAccount,
  svcAccountWithPolicies,
  svcAccountWithSessions,
  readyAccount,
  tokenMessenger,
  messageTransmitter,
];

const byClassHash = new Map(contracts.map((contract) => [contract.classHash, contract]));

/** Undefined for classes that users declared: the sandbox keeps them but cannot run them. */
export function contractOf(classHash: bigint): Contract | undefined {
  return byClassHash.get(classHash);
}
