import { type Codec, type Fields, Malformed, Reader, type ValuesOf } from './codec.ts';
import type { Frame } from './frame.ts';
import { panic } from './panic.ts';

/** A function of a contract: its types say what the ABI shows and what its body is handed. */
export interface ContractFunction {
  readonly name: string;
  readonly mutability: 'view' | 'external';
  readonly params: Fields;
  readonly output: Codec<unknown> | undefined;
  run(frame: Frame, calldata: readonly bigint[]): Promise<bigint[]>;
}

type Body<P extends Fields, R> = (frame: Frame, args: ValuesOf<P>) => Promise<R> | R;

export function view<P extends Fields, R>(
  name: string,
  params: P,
  output: Codec<R>,
  body: Body<P, R>,
): ContractFunction {
  return { ...external(name, params, output, body), mutability: 'view' };
}

export function external<P extends Fields, R>(
  name: string,
  params: P,
  output: Codec<R>,
  body: Body<P, R>,
): ContractFunction {
  return {
    name,
    mutability: 'external',
    params,
    output,
    run: async (frame, calldata) => output.write(await body(frame, readArguments(params, calldata))),
  };
}

/** An external function without a result. */
export function action<P extends Fields>(name: string, params: P, body: Body<P, void>): ContractFunction {
  return {
    name,
    mutability: 'external',
    params,
    output: undefined,
    async run(frame, calldata) {
      await body(frame, readArguments(params, calldata));
      return [];
    },
  };
}

/** The same function under another spelling. */
export function alias(name: string, original: ContractFunction): ContractFunction {
  return { ...original, name };
}

/** Refuses what does not fit the types with the words that compiled contracts use. */
function readArguments<P extends Fields>(params: P, calldata: readonly bigint[]): ValuesOf<P> {
  const reader = new Reader(calldata);
  const values: Record<string, unknown> = {};
  for (const [index, [name, codec]] of Object.entries(params).entries()) {
    try {
      values[name] = codec.read(reader);
    } catch (error) {
      if (error instanceof Malformed) panic(`Failed to deserialize param #${index + 1}`);
      throw error;
    }
  }
  if (reader.left > 0) panic('Input too long for arguments');
  return values as ValuesOf<P>;
}
