import { CalldataReader, encodeArray } from './calldata.ts';
import { type Call, encodeCalls, readCalls } from './calls.ts';
import { shortString } from './felt.ts';
import { pedersenMany, poseidonMany, starknetKeccak } from './hashes.ts';
import { memoize } from './memoize.ts';

/** Signed calls for another account to send (SNIP-9). Valid while `after < now < before`. */
export interface OutsideExecution {
  readonly caller: bigint;
  readonly nonce: bigint;
  readonly executeAfter: bigint;
  readonly executeBefore: bigint;
  readonly calls: readonly Call[];
}

export const ANY_CALLER = shortString('ANY_CALLER');
export const OUTSIDE_EXECUTION_DOMAIN = 'Account.execute_from_outside';

const MESSAGE = shortString('StarkNet Message');
const DOMAIN_NAME = shortString(OUTSIDE_EXECUTION_DOMAIN);

interface Scheme {
  readonly hash: (items: readonly bigint[]) => bigint;
  readonly domain: (chainId: bigint) => bigint;
  readonly executionType: bigint;
  readonly callType: bigint;
  readonly writesLengths: boolean;
}

const MAX_CHAINS = 16;

const V1_CALL = 'OutsideCall(to:felt,selector:felt,calldata_len:felt,calldata:felt*)';
const V1_EXECUTION =
  'OutsideExecution(caller:felt,nonce:felt,execute_after:felt,execute_before:felt,calls_len:felt,calls:OutsideCall*)';
const V1_DOMAIN = starknetKeccak('StarkNetDomain(name:felt,version:felt,chainId:felt)');

const V2_CALL = '"Call"("To":"ContractAddress","Selector":"selector","Calldata":"felt*")';
const V2_EXECUTION =
  '"OutsideExecution"("Caller":"ContractAddress","Nonce":"felt","Execute After":"u128","Execute Before":"u128","Calls":"Call*")';
const V2_DOMAIN = starknetKeccak(
  '"StarknetDomain"("name":"shortstring","version":"shortstring","chainId":"shortstring","revision":"shortstring")',
);

/** SNIP-12 revisions 0 and 1. A type hash includes the types that it uses. */
const schemes: Record<1 | 2, Scheme> = {
  1: {
    hash: pedersenMany,
    domain: memoize(MAX_CHAINS, (chainId) => pedersenMany([V1_DOMAIN, DOMAIN_NAME, 1n, chainId])),
    executionType: starknetKeccak(V1_EXECUTION + V1_CALL),
    callType: starknetKeccak(V1_CALL),
    writesLengths: true,
  },
  2: {
    hash: poseidonMany,
    domain: memoize(MAX_CHAINS, (chainId) => poseidonMany([V2_DOMAIN, DOMAIN_NAME, 2n, chainId, 1n])),
    executionType: starknetKeccak(V2_EXECUTION + V2_CALL),
    callType: starknetKeccak(V2_CALL),
    writesLengths: false,
  },
};

export function outsideExecutionHash(
  version: 1 | 2,
  execution: OutsideExecution,
  account: bigint,
  chainId: bigint,
): bigint {
  return cachedHash({ version, execution, account, chainId });
}

interface Message {
  readonly version: 1 | 2;
  readonly execution: OutsideExecution;
  readonly account: bigint;
  readonly chainId: bigint;
}

/** A signed execution is checked, estimated and executed within seconds. */
const MAX_CACHED = 256;

const cachedHash = memoize(MAX_CACHED, hashOf, ({ version, execution, account, chainId }) =>
  [version, account, chainId, ...encodeOutsideExecution(execution, [])].join(),
);

function hashOf({ version, execution, account, chainId }: Message): bigint {
  const { hash, domain, executionType, callType, writesLengths } = schemes[version];
  const length = (items: readonly unknown[]) => (writesLengths ? [BigInt(items.length)] : []);
  const { caller, nonce, executeAfter, executeBefore, calls } = execution;
  const callHashes = calls.map(({ to, selector, calldata }) =>
    hash([callType, to, selector, ...length(calldata), hash(calldata)]),
  );
  const message = [executionType, caller, nonce, executeAfter, executeBefore, ...length(calls), hash(callHashes)];
  return hash([MESSAGE, domain(chainId), account, hash(message)]);
}

export function encodeOutsideExecution(execution: OutsideExecution, signature: readonly bigint[]): bigint[] {
  const { caller, nonce, executeAfter, executeBefore, calls } = execution;
  return [caller, nonce, executeAfter, executeBefore].concat(encodeCalls(calls), encodeArray(signature));
}

export function decodeOutsideExecution(
  calldata: readonly bigint[],
): { execution: OutsideExecution; signature: bigint[] } | undefined {
  const reader = new CalldataReader(calldata);
  const execution = {
    caller: reader.address(),
    nonce: reader.felt(),
    executeAfter: reader.uint(64n),
    executeBefore: reader.uint(64n),
    calls: readCalls(reader),
  };
  return reader.finish({ execution, signature: reader.array(() => reader.felt()) });
}
