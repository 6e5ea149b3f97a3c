import { spellPanic } from '@svc/starknet';
import type { RpcAnswer } from '../../support/sandbox.ts';

const FELT = /0x[0-9a-f]+ \('([^']*)'\)/g;
/** READY prefixes the reason with the index of the failed call. */
const READY_MULTICALL = 'argent/multicall-failed';
const ENTRYPOINT_NOT_FOUND = 21;

/** The innermost reason in a node's revert text, or the whole text. */
export function reasonOf(text: string): string {
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  const words = [...last.matchAll(FELT)].map(([, spelt = '']) => spelt);
  const reason = words[0] === READY_MULTICALL ? words[2] : words[0];
  return reason ?? text;
}

interface Nested {
  readonly error: Nested | string;
}

export function reasonOfCall({ code, data }: NonNullable<RpcAnswer['error']>): string {
  if (code === ENTRYPOINT_NOT_FOUND) return 'ENTRYPOINT_NOT_FOUND';
  let error = (data as { revert_error: Nested | string }).revert_error;
  while (typeof error !== 'string') error = error.error;
  return reasonOf(spellPanic(error));
}
