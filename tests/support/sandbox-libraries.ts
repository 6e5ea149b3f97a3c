import * as ten from 'starknet';
import * as nine from 'starknet-9';

export type Library = typeof ten;
export type Account = InstanceType<Library['Account']>;
export type RpcProvider = InstanceType<Library['RpcProvider']>;

// What the suites use of both is the same; only their declared types differ.
export const libraries: readonly (readonly [string, Library])[] = [
  ['starknet.js 9.4', nine as unknown as Library],
  ['starknet.js 10.8', ten],
];

// A young chain has too few transactions to estimate a tip from, and the libraries say so at every call.
for (const [, library] of libraries) library.logger.setLogLevel('ERROR');
