import { shortString } from './felt.ts';
import { pedersenMany } from './hashes.ts';
import { memoize } from './memoize.ts';

const PREFIX = shortString('STARKNET_CONTRACT_ADDRESS');
/** The protocol reserves the 256 highest storage keys, whose range addresses share. */
const ADDRESS_MODULUS = 2n ** 251n - 256n;

export interface Deployment {
  readonly salt: bigint;
  readonly classHash: bigint;
  readonly constructorCalldata: readonly bigint[];
  readonly deployer: bigint;
}

const MAX_CACHED = 1_024;

export const contractAddress: (deployment: Deployment) => bigint = memoize(
  MAX_CACHED,
  ({ salt, classHash, constructorCalldata, deployer }: Deployment) =>
    pedersenMany([PREFIX, deployer, salt, classHash, pedersenMany(constructorCalldata)]) % ADDRESS_MODULUS,
  ({ salt, classHash, constructorCalldata, deployer }) => [deployer, salt, classHash, ...constructorCalldata].join(),
);
