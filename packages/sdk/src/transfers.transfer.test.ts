import { describe, expect, it } from 'vitest';
import { configClient, USDC } from '../testing/fake-client.ts';
import type { Config } from './client/config.ts';
import { SvcInputError } from './client/errors.ts';
import { type TransferParams, transfer, transferCall } from './transfers.ts';

const order = { amount: '1.5', token: 'USDC', recipient: '0xB0B' } as const;
type Changes = Partial<Omit<TransferParams, 'wallet' | 'encryptKey'>>;
const callOf = (changes: Changes, config: Partial<Config> = {}) =>
  transferCall(configClient(config), { ...order, ...changes });

async function refusal(changes: Changes): Promise<string> {
  const client = configClient();
  const wallet = { publicKey: '0x1', encryptedPrivateKey: 'svc1.' };
  const error: unknown = await transfer(client, { encryptKey: '1234', wallet, ...order, ...changes }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SvcInputError);
  // Nothing was prepared.
  expect(client.requests.filter((path) => path !== '/v1/config')).toEqual([]);
  return (error as Error).message;
}

describe('a transfer', () => {
  it("calls the token's contract with the amount in its smallest units", async () => {
    const contractAddress = `0x${BigInt(USDC).toString(16)}`;
    const call = { contractAddress, entrypoint: 'transfer', calldata: [0xb0bn, 1_500_000n, 0n] };
    expect(await callOf({})).toEqual(call);
    expect(await callOf({ amount: 1.5, decimals: 6, tokenAddress: USDC })).toEqual(call);
    expect(await callOf({ token: 'OTHER', tokenAddress: USDC, decimals: 6 })).toEqual(call);
  });

  it.each<[string, unknown]>([
    ['no tokens', undefined],
    ['tokens of another shape', { USDC }],
    ['a token without an address', [{ chain: 'STARKNET', token: 'USDC', decimals: 6 }]],
    ['a token without decimals', [{ chain: 'STARKNET', token: 'USDC', address: USDC }]],
    ['nothing for a token', [null]],
  ])('is an invalid_answer where the service names %s', async (_, tokens) => {
    await expect(callOf({}, { tokens } as never)).rejects.toMatchObject({
      name: 'SvcConnectionError',
      code: 'invalid_answer',
    });
  });

  it('is exact at both bounds of a token amount', async () => {
    const largest = (2n ** 256n - 1n).toString();
    const high = { token: 'OTHER', tokenAddress: '0x5', decimals: 0, amount: largest } as const;
    expect((await callOf(high)).calldata).toEqual([0xb0bn, 2n ** 128n - 1n, 2n ** 128n - 1n]);
    expect((await callOf({ amount: '0.000001' })).calldata).toEqual([0xb0bn, 1n, 0n]);
    expect((await callOf({ amount: 0.1 })).calldata).toEqual([0xb0bn, 100_000n, 0n]);
  });

  it.each<[string, string | number]>([
    ['zero', '0.0'],
    ['less than nothing', '-1'],
    ['more digits than the token has', '0.0000001'],
    ['an exponent', '1e6'],
    ['a number printed with an exponent', 1e-7],
    ['a number that is not exact', 2 ** 53],
    ['no number', Number.NaN],
    ['nothing', ''],
    ['a comma', '1,5'],
    ['more than 256 bits', (2n ** 256n).toString()],
  ])('of %s is refused before anything is sent', async (_, amount) => {
    expect(await refusal({ amount })).toMatch(/^amount /);
  });

  it('is refused with wrong decimals or a wrong address of the token, naming both', async () => {
    expect(await refusal({ decimals: 18 })).toBe('decimals is 18, but USDC has 6.');
    expect(await refusal({ token: 'OTHER', tokenAddress: USDC, decimals: 18 })).toBe('decimals is 18, but USDC has 6.');
    expect(await refusal({ tokenAddress: '0x5' })).toBe('tokenAddress is not the address of USDC.');
  });

  it('of an unknown token needs its address and decimals', async () => {
    expect(await refusal({ token: 'OTHER' })).toContain('needs tokenAddress and decimals');
    expect(await refusal({ token: 'OTHER', tokenAddress: '0x5' })).toContain('needs tokenAddress and decimals');
    expect(await refusal({ token: 'OTHER', decimals: 6 })).toContain('needs tokenAddress and decimals');
    expect(await refusal({ token: 'WLD' })).toContain('WLD is no token of this network');
    for (const decimals of [-1, 0.5, 256, Number.NaN]) {
      expect(await refusal({ token: 'OTHER', tokenAddress: '0x5', decimals })).toContain('decimals must be');
    }
  });

  it('without a recipient, or to the token itself, is refused', async () => {
    expect(await refusal({ recipient: '0x0' })).toContain('recipient must not be the zero address');
    expect(await refusal({ recipient: 'ana' })).toContain('recipient ');
    expect(await refusal({ recipient: USDC.toUpperCase().replace('0X', '0x') })).toContain("the token's contract");
  });
});
