import { contractAddress, type Deployment } from './addresses.ts';
import { CalldataReader, encodeArray, encodeU256 } from './calldata.ts';
import { classes } from './classes.ts';
import { publicKeyFrom } from './curve/public-key.ts';
import { isFelt } from './felt.ts';
import { selector } from './selectors.ts';

/** As in contracts/treasury/src/signers.cairo. */
export const MAX_TREASURY_SIGNERS = 20;
/** Answered by classes that keep signers, threshold and limits where the treasury's class does. */
export const TREASURY_INTERFACE = selector('svc_treasury_storage_1');

/** What `threshold` signers, fewer than for anything else, may transfer of a token within a window. */
export interface TreasuryLimit {
  readonly token: bigint;
  readonly threshold: number;
  readonly maxPerWindow: bigint;
  readonly windowSeconds: bigint;
}

export interface TreasurySigners {
  /** Public keys. The contract takes them in increasing order; encoding sorts. */
  readonly signers: readonly bigint[];
  readonly threshold: number;
}

export interface TreasuryTerms extends TreasurySigners {
  readonly limits: readonly TreasuryLimit[];
}

export interface TreasurySignature {
  readonly publicKey: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

/** Whether the felt is the x coordinate of a point: another can never sign. */
export function isPublicKey(key: bigint): boolean {
  return key > 0n && isFelt(key) && publicKeyFrom(key) !== undefined;
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function encodeSetSigners({ signers, threshold }: TreasurySigners): bigint[] {
  return [...encodeArray([...signers].sort(ascending)), BigInt(threshold)];
}

export function decodeSetSigners(calldata: readonly bigint[]): TreasurySigners | undefined {
  const reader = new CalldataReader(calldata);
  return reader.finish({ signers: reader.array(() => reader.felt()), threshold: Number(reader.uint(32n)) });
}

export function encodeSetLimit({ token, threshold, maxPerWindow, windowSeconds }: TreasuryLimit): bigint[] {
  return [token, BigInt(threshold), ...encodeU256(maxPerWindow), windowSeconds];
}

export function decodeSetLimit(calldata: readonly bigint[]): TreasuryLimit | undefined {
  const reader = new CalldataReader(calldata);
  return reader.finish({
    token: reader.address(),
    threshold: Number(reader.uint(32n)),
    maxPerWindow: reader.u256(),
    windowSeconds: reader.uint(64n),
  });
}

export function encodeTreasuryConstructor({ limits, ...signers }: TreasuryTerms): bigint[] {
  return [...encodeSetSigners(signers), BigInt(limits.length), ...limits.flatMap(encodeSetLimit)];
}

/** The deployer is zero, so the address follows from the terms and the salt alone. */
export function treasuryDeployment(
  salt: bigint,
  terms: TreasuryTerms,
  classHash: bigint = classes.treasury,
): Deployment {
  return { salt, classHash, constructorCalldata: encodeTreasuryConstructor(terms), deployer: 0n };
}

export function treasuryAddress(salt: bigint, terms: TreasuryTerms, classHash?: bigint): bigint {
  return contractAddress(treasuryDeployment(salt, terms, classHash));
}

/** `public_key, r, s` of each, in increasing order of keys, as the contract asks. */
export function encodeTreasurySignature(signatures: readonly TreasurySignature[]): bigint[] {
  const sorted = [...signatures].sort((a, b) => ascending(a.publicKey, b.publicKey));
  return sorted.flatMap(({ publicKey, r, s }) => [publicKey, r, s]);
}
