import { CalldataReader } from './calldata.ts';

export interface Call {
  readonly to: bigint;
  readonly selector: bigint;
  readonly calldata: readonly bigint[];
}

export function encodeCalls(calls: readonly Call[]): bigint[] {
  const felts = [BigInt(calls.length)];
  for (const { to, selector, calldata } of calls) {
    felts.push(to, selector, BigInt(calldata.length));
    for (const felt of calldata) felts.push(felt);
  }
  return felts;
}

/** Undefined if an account would refuse the calldata. */
export function decodeCalls(calldata: readonly bigint[]): Call[] | undefined {
  const reader = new CalldataReader(calldata);
  return reader.finish(readCalls(reader));
}

export function readCalls(reader: CalldataReader): Call[] {
  return reader.array(() => ({
    to: reader.address(),
    selector: reader.felt(),
    calldata: reader.array(() => reader.felt()),
  }));
}
