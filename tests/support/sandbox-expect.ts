import { expect } from 'vitest';
import type { Receipt } from './sandbox-client.ts';

interface RpcFailure {
  readonly baseError: { readonly code: number; readonly data?: unknown };
  isType(type: string): boolean;
}

/** The error of a call that must fail, as the library gives it, and of the expected type. */
export async function failure(attempt: Promise<unknown>, type: string): Promise<RpcFailure['baseError']> {
  const error = await attempt.then(
    (answer) =>
      expect.fail(
        `should fail, but answered ${JSON.stringify(answer, (_, v) => (typeof v === 'bigint' ? String(v) : v))}`,
      ),
    (reason: unknown) => reason as RpcFailure,
  );
  expect(error, String(error)).toHaveProperty('baseError');
  expect(error.isType(type), String(error)).toBe(true);
  return error.baseError;
}

export function expectSucceeded(receipt: Receipt): void {
  expect(receipt.revert_reason ?? receipt.execution_status).toBe('SUCCEEDED');
}

/** As nodes write a panic: the felt, and the words that it spells. */
export function expectReverted({ execution_status, revert_reason }: Receipt, reason: string): void {
  expect(execution_status).toBe('REVERTED');
  expect(revert_reason).toContain(`('${reason}')`);
}
