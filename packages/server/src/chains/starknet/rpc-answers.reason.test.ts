import { shortString, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { readReason } from './rpc-answers.ts';

const felt = (words: string) => `${toHex(shortString(words))} ('${words}')`;
const place = (of: number) =>
  `(contract address: 0x${String(of).padStart(64, '0')}, class hash: 0x${'2'.repeat(64)}, selector: 0x${'3'.repeat(64)})`;

/** What devnet writes about a payment through this many wallets: the calls, outermost first, and the reason last. */
function stack(wallets: number, reason: string): string {
  const calls = Array.from({ length: wallets }, (_, of) => `${of}: Error in the called contract ${place(of)}:\n`);
  const contracts = Array.from({ length: wallets }, (_, of) => `Error in contract ${place(of)}:\n`);
  return `Transaction execution has failed:\n${calls.join('')}Execution failed. Failure reason:\n${contracts.join('')}${reason}.\n`;
}

describe('the reason of a refusal', () => {
  it.each([1, 4, 40])('is the line with the contract’s words at the end of a stack of %d calls', (wallets) => {
    const execution_error = stack(wallets, felt('ERC20: insufficient balance'));
    expect(readReason('Transaction execution error', { transaction_index: 0, execution_error })).toBe(
      `Transaction execution error: ${felt('ERC20: insufficient balance')}.`,
    );
  });

  it('is the innermost error of nested ones', () => {
    const error = (inner: unknown) => ({ contract_address: '0x1', class_hash: '0x2', selector: '0x3', error: inner });
    const nested = [...Array(20)].reduce<unknown>(error, stack(20, `(${felt('u256_sub Overflow')}, 0x1)`));
    expect(readReason('Contract error', { revert_error: nested })).toBe(
      `Contract error: (${felt('u256_sub Overflow')}, 0x1).`,
    );
    expect(readReason('Contract error', { revert_error: error(felt('no')) })).toBe(`Contract error: ${felt('no')}`);
  });

  it('is spelled where a node writes the felts alone', () => {
    const revert_error = JSON.stringify([toHex(shortString('Account: unauthorized'))]);
    expect(readReason('Contract error', { revert_error })).toBe(`Contract error: ${felt('Account: unauthorized')}`);
  });

  it('is the whole text where it names no felts, up to a length', () => {
    expect(readReason('Account validation failed', 'Signature\nis too long')).toBe(
      'Account validation failed: Signature\nis too long',
    );
    expect(readReason('Internal error', undefined)).toBe('Internal error');
    expect(readReason('Internal error', 'x'.repeat(5_000))).toHaveLength(2_000);
  });

  it('is the system’s own sentence where no contract spoke', () => {
    const text = `Requested contract address 0x${'4'.repeat(64)} is not deployed`;
    expect(readReason('Transaction execution error', { execution_error: stack(4, text) })).toBe(
      `Transaction execution error: ${text}.`,
    );
  });
});
