import { describe, expect, it } from 'vitest';
import { configClient } from '../testing/fake-client.ts';
import { SvcInputError, SvcTypedDataError } from './client/errors.ts';
import { requireClass, walletClassOf } from './wallets.ts';

describe('the class of a wallet', () => {
  it('is the current one of its type, or the requested one', async () => {
    expect(await walletClassOf(configClient(), 'SVC')).toBe(0xc1a55n);
    expect(await walletClassOf(configClient(), 'SVC', '0x0ABC')).toBe(0xabcn);
  });

  it('is refused if there is none or it is invalid', async () => {
    await expect(walletClassOf(configClient(), 'READY')).rejects.toThrow(SvcInputError);
    for (const classHash of ['', '0x0', 'latest', `0x${(2n ** 251n).toString(16)}`]) {
      await expect(walletClassOf(configClient(), 'SVC', classHash)).rejects.toThrow(SvcInputError);
    }
  });

  it.each([[undefined], [{}], [[null]], [[{ walletType: 'SVC', current: true }]]])(
    'is an invalid_answer where the service names %o',
    async (walletClasses) => {
      const result = walletClassOf(configClient({ walletClasses } as never), 'SVC');
      await expect(result).rejects.toMatchObject({ name: 'SvcConnectionError', code: 'invalid_answer' });
    },
  );

  it('is compared with the prepared one by value', () => {
    expect(() => requireClass('0x0ABC', 0xabcn)).not.toThrow();
    for (const prepared of ['0xabd', 'none', ''])
      expect(() => requireClass(prepared, 0xabcn)).toThrow(SvcTypedDataError);
  });
});
