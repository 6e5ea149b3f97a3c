import type { BodyOf, endpoints } from '@svc/protocol';
import { type Call, selector } from '@svc/starknet';
import { feltsOf, MAX_FELTS } from '../wallets/call-bounds.ts';
import { readAddress, readFelt, refuse } from '../wallets/fields.ts';

/** A call, with its function's name where the caller gave that and not the selector. */
export interface NamedCall extends Call {
  readonly name: string | undefined;
}

type CallText = BodyOf<typeof endpoints.prepareTypedData>['calls'][number];

const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The calls of a request; the first part that cannot be read is an `invalid_request` that names it. */
export function readCalls(calls: readonly CallText[]): NamedCall[] {
  const felts = feltsOf(calls);
  if (felts > MAX_FELTS) {
    refuse('body.calls', `has ${felts} felts with contracts and selectors, and ${MAX_FELTS} fit one transaction`);
  }
  return calls.map(({ contractAddress, entrypoint, calldata }, index) => {
    const field = `body.calls[${index}]`;
    return {
      to: BigInt(readAddress(contractAddress, `${field}.contractAddress`)),
      ...readEntrypoint(entrypoint, `${field}.entrypoint`),
      calldata: calldata.map((text, position) => readFelt(text, `${field}.calldata[${position}]`)),
    };
  });
}

function readEntrypoint(text: string, field: string): Pick<NamedCall, 'selector' | 'name'> {
  if (text.startsWith('0x')) return { selector: readFelt(text, field), name: undefined };
  if (!FUNCTION_NAME.test(text)) refuse(field, "must be a function's name or a selector (0x…)");
  return { selector: selector(text), name: text };
}
