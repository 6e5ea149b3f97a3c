import { describe, expect, it } from 'vitest';
import { createClient } from './client/client.ts';
import { createWallet } from './wallets.ts';

const user = { encryptKey: '481516', externalUserId: 'ana' };

function unusedClient() {
  const requests: string[] = [];
  const fetch = (url: string) => {
    requests.push(url);
    return Promise.reject(new Error('asked'));
  };
  return {
    requests,
    client: createClient({ baseUrl: 'http://localhost/v1', publicKey: 'pk_dev_x', bearerToken: 't', fetch }),
  };
}

describe('createWallet', () => {
  it('creates no passkey and sends nothing for a READY wallet, which has none', async () => {
    const { requests, client } = unusedClient();
    const order = { ...user, chain: 'STARKNET', walletType: 'READY', usePasskey: true } as const;
    await expect(createWallet(client, order)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(requests).toEqual([]);
  });

  it('refuses another chain before any request', async () => {
    const { requests, client } = unusedClient();
    await expect(createWallet(client, { ...user, chain: 'BASE' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(requests).toEqual([]);
  });
});
