import type { ApiError } from '@svc/protocol';
import { selector } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { readCalls } from './execute.ts';

const CONTRACT = '0x33068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';
const call = (changes: Partial<{ contractAddress: string; entrypoint: string; calldata: string[] }> = {}) => ({
  contractAddress: CONTRACT,
  entrypoint: 'transfer',
  calldata: ['0x1', '2'],
  ...changes,
});

function fault(calls: ReturnType<typeof call>[]): string {
  try {
    readCalls(calls);
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request', status: 400 });
    return (error as ApiError).message;
  }
  throw new Error('The calls were read.');
}

describe('calls of a request', () => {
  it('have addresses in any spelling, functions by name and arguments in either base', () => {
    const upper = `0x0${CONTRACT.slice(2).toUpperCase()}`;
    expect(readCalls([call({ contractAddress: upper, calldata: ['0x0A', '10', '0'] })])).toEqual([
      { to: BigInt(CONTRACT), selector: selector('transfer'), name: 'transfer', calldata: [10n, 10n, 0n] },
    ]);
  });

  it('may name the function by its selector', () => {
    expect(readCalls([call({ entrypoint: '0x0123' })])).toMatchObject([{ selector: 0x123n, name: undefined }]);
  });

  it.each([
    ['a contract', { contractAddress: '0xzz' }, 'body.calls[1].contractAddress must be 0x and'],
    ['a contract at zero', { contractAddress: '0x0' }, 'body.calls[1].contractAddress must not be the zero address.'],
    ['a function', { entrypoint: 'drop table' }, "body.calls[1].entrypoint must be a function's name or a selector"],
    ['a decimal function', { entrypoint: '1234' }, "body.calls[1].entrypoint must be a function's name or a selector"],
    ['a selector', { entrypoint: '0xnot' }, 'body.calls[1].entrypoint must be a hexadecimal or decimal integer.'],
    ['an argument', { calldata: ['1', '-1'] }, 'body.calls[1].calldata[1] must be a hexadecimal or decimal integer.'],
    ['a huge argument', { calldata: [`0x${'f'.repeat(64)}`] }, 'body.calls[1].calldata[0] is too large for a felt.'],
  ])('are refused with the place of %s that cannot be read', (_, changes, message) => {
    expect(fault([call(), call(changes)])).toContain(message);
  });

  it('fit one transaction together, or are refused before they are read', () => {
    const long = (items: number) => call({ calldata: Array.from({ length: items }, () => '1') });
    expect(readCalls([long(2_000), long(2_494)])).toHaveLength(2);
    expect(fault([long(2_000), long(2_495)])).toContain('body.calls has 4501 felts');
    expect(fault([call({ calldata: Array.from({ length: 4_498 }, () => 'bad') })])).toContain(
      'body.calls has 4501 felts',
    );
  });
});
