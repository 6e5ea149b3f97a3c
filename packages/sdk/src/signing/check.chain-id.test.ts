import { chainIds, shortString, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { configClient } from '../../testing/fake-client.ts';
import { SvcTypedDataError } from '../client/errors.ts';
import { readTrust } from '../client/trust.ts';
import { chainIdOf, signingTime } from './check.ts';

const { SN_MAIN, SN_SEPOLIA, SVC_SANDBOX } = chainIds;
const ANOTHER = shortString('SN_ANOTHER');

describe('the signing chain', () => {
  it.each([
    ['pk_prod_key', [SN_MAIN, SN_SEPOLIA]],
    ['pk_dev_key', [SVC_SANDBOX, SN_SEPOLIA, ANOTHER]],
  ])('matches a key with the prefix %s', async (publicKey, allowed) => {
    for (const chainId of [SN_MAIN, SN_SEPOLIA, SVC_SANDBOX, ANOTHER]) {
      const answer = chainIdOf(configClient({ chainId: toHex(chainId) }, publicKey));
      if (allowed.includes(chainId)) expect(await answer).toBe(chainId);
      else await expect(answer).rejects.toThrow(SvcTypedDataError);
    }
  });

  it.each(['pk_prod_key', 'pk_dev_key'])(
    'is the one that the app names, and no other, with a key %s',
    async (publicKey) => {
      for (const chainId of [SN_MAIN, SN_SEPOLIA, SVC_SANDBOX, ANOTHER]) {
        const client = configClient({ chainId: toHex(chainId) }, publicKey);
        const answer = chainIdOf({ ...client, trust: readTrust({ chainId: 'SN_ANOTHER' }) });
        if (chainId === ANOTHER) expect(await answer).toBe(chainId);
        else await expect(answer).rejects.toThrow('trust.chainId');
      }
    },
  );

  it('is never mainnet for a development key, also where the app names it', async () => {
    const client = configClient({ chainId: toHex(SN_MAIN) }, 'pk_dev_key');
    const answer = chainIdOf({ ...client, trust: readTrust({ chainId: 'SN_MAIN' }) });
    await expect(answer).rejects.toThrow('does not fit your public key');
  });

  it('is refused when the service names none', async () => {
    await expect(chainIdOf(configClient({ chainId: 'mainnet' }))).rejects.toThrow(SvcTypedDataError);
  });

  it("uses the sandbox's clock, and this device's on every other chain", async () => {
    expect(await signingTime(configClient({}, 'pk_dev_key', 5_999), SN_SEPOLIA)).toBe(5n);
    await expect(signingTime(configClient({}, 'pk_dev_key', 5_999), SVC_SANDBOX)).rejects.toMatchObject({
      name: expect.stringMatching(/^Svc/) as string,
    });
  });
});
