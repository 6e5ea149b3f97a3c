import { describe, expect, it } from 'vitest';
import { createClient } from './client/client.ts';
import { createWallet } from './wallets.ts';

const user = { encryptKey: '481516', externalUserId: 'ana' };

/** A client that must not be used. */
function silentClient() {
  const asked: string[] = [];
  const fetch = (url: string) => {
    asked.push(url);
    return Promise.reject(new Error('asked'));
  };
  return {
    asked,
    client: createClient({ baseUrl: 'http://localhost/v1', publicKey: 'pk_dev_x', bearerToken: 't', fetch }),
  };
}

describe('createWallet', () => {
  it('makes no passkey and asks nobody for a READY wallet, which has none', async () => {
    const { asked, client } = silentClient();
    const wanted = { ...user, chain: 'STARKNET', walletType: 'READY', usePasskey: true } as const;
    await expect(createWallet(client, wanted)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(asked).toEqual([]);
  });

  it('refuses another chain before it asks anybody', async () => {
    const { asked, client } = silentClient();
    await expect(createWallet(client, { ...user, chain: 'BASE' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(asked).toEqual([]);
  });
});
