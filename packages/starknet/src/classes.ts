import type { WalletType } from '@svc/protocol';
import { contractAddress, type Deployment } from './addresses.ts';

export const classes = {
  /** The contract of `contracts/`; a test computes it from the compiled class. */
  svc: 0x047d97b5f0cb068ff25cbcb2aaf206f0166edc2ed7c149183a54321602885a88n,
  svcPolicies: 0x0484bbd2404b3c7264bea271f7267d6d4004821ac7787a9eed7f472e79ef40d1n,
  svcSessions: 0x053f4f8791ed5bed0fddaa553d180c664e32cfaf8316bb232ae77bb08f459f2an,
  ready: 0x036078334509b514626504edc9fb252328d1a240e4e948bef8d0c08dff45927fn,
  /** The contract of `contracts/treasury`; a test computes it from the compiled class. */
  treasury: 0x05e45eea0d1ff2503fa5f0179a809718cf6948368a6800682284edc94b1afb61n,
} as const;

/** `classes.svc` before its branches were repaired. No network can have it; wallets of development databases do. */
export const UNREPAIRED_SVC_CLASS = 0x00a58b383a8c951ab2d0cdc0a698b0bdd50f1039ed2af2392f90a574e20f1186n;

export interface WalletClass {
  readonly classHash: bigint;
  readonly walletType: WalletType;
  readonly sessions: boolean;
  readonly policies: boolean;
  /** False: a failing call is skipped and the rest goes on. */
  readonly atomicMulticall: boolean;
  readonly current: boolean;
}

// biome-ignore format: a table
export const walletClasses: readonly WalletClass[] = [
  { classHash: classes.svc,         walletType: 'SVC',   sessions: true,  policies: true,  atomicMulticall: true,  current: true },
  { classHash: classes.svcPolicies, walletType: 'SVC',   sessions: true,  policies: true,  atomicMulticall: false, current: false },
  { classHash: classes.svcSessions, walletType: 'SVC',   sessions: true,  policies: false, atomicMulticall: false, current: false },
  { classHash: classes.ready,       walletType: 'READY', sessions: false, policies: false, atomicMulticall: true,  current: true },
];

export function walletClass(classHash: bigint): WalletClass | undefined {
  return walletClasses.find((known) => known.classHash === classHash);
}

export function currentClassHash(walletType: WalletType): bigint {
  return walletType === 'READY' ? classes.ready : classes.svc;
}

/** READY takes Cairo enums: variant 0 (a Stark key), then no guardian (variant 1 of an option). */
export function constructorCalldata(walletType: WalletType, publicKey: bigint): bigint[] {
  return walletType === 'READY' ? [0n, publicKey, 1n] : [publicKey];
}

export function accountDeployment(classHash: bigint, publicKey: bigint): Deployment {
  const walletType = walletClass(classHash)?.walletType ?? 'SVC';
  const calldata = constructorCalldata(walletType, publicKey);
  return { salt: publicKey, classHash, constructorCalldata: calldata, deployer: 0n };
}

export function accountAddress(classHash: bigint, publicKey: bigint): bigint {
  return contractAddress(accountDeployment(classHash, publicKey));
}
