import { shortString } from './felt.ts';
import { pedersenMany } from './hashes.ts';

const PREFIX = shortString('STARKNET_CONTRACT_ADDRESS');
/** The protocol keeps the 256 highest storage keys for itself, and addresses share their range. */
const ADDRESS_MODULUS = 2n ** 251n - 256n;

export interface Deployment {
  readonly salt: bigint;
  readonly classHash: bigint;
  readonly constructorCalldata: readonly bigint[];
  readonly deployer: bigint;
}

/** Where a contract comes to stand: known before it is deployed. */
export function contractAddress({ salt, classHash, constructorCalldata, deployer }: Deployment): bigint {
  return pedersenMany([PREFIX, deployer, salt, classHash, pedersenMany(constructorCalldata)]) % ADDRESS_MODULUS;
}
