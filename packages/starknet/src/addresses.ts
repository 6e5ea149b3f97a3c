import { shortString } from './felt.ts';
import { pedersenMany } from './hashes.ts';
import { remember } from './remember.ts';

const PREFIX = shortString('STARKNET_CONTRACT_ADDRESS');
/** The protocol keeps the 256 highest storage keys for itself, and addresses share their range. */
const ADDRESS_MODULUS = 2n ** 251n - 256n;

export interface Deployment {
  readonly salt: bigint;
  readonly classHash: bigint;
  readonly constructorCalldata: readonly bigint[];
  readonly deployer: bigint;
}

/** A deployment is prepared, checked, estimated and executed within seconds, and each asks for its address. */
const MAX_REMEMBERED = 1_024;

/** Where a contract comes to stand: known before it is deployed. */
export const contractAddress: (deployment: Deployment) => bigint = remember(
  MAX_REMEMBERED,
  ({ salt, classHash, constructorCalldata, deployer }: Deployment) =>
    pedersenMany([PREFIX, deployer, salt, classHash, pedersenMany(constructorCalldata)]) % ADDRESS_MODULUS,
  ({ salt, classHash, constructorCalldata, deployer }) => [deployer, salt, classHash, ...constructorCalldata].join(),
);
