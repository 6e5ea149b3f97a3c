import { describe, expect, it } from 'vitest';
import { openStorage } from './saved-redeem.ts';
import { deleteWallet, deviceWallets, forgetWallet, loadWallet, rememberWallet, saveWallet } from './saved-wallet.ts';

const inMemory = () => {
  const items = new Map<string, string>();
  return openStorage(() => ({
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  }));
};
const draft = { publicKey: '0x1', encryptedPrivateKey: 'sealed' } as never;
const saved = { code: 'navidad', draft, idempotencyKey: 'key', amount: '5', token: 'USDC', orgName: 'Tienda' };

describe('a wallet that is being made', () => {
  it('is found again by its code, in any case, until it is deleted', () => {
    const storage = inMemory();
    saveWallet(storage, saved);
    expect(loadWallet(storage, 'NAVIDAD')).toEqual(saved);
    deleteWallet(storage, 'navidad');
    expect(loadWallet(storage, 'navidad')).toBeUndefined();
  });

  it('of another version of the page is as good as none', () => {
    const storage = inMemory();
    for (const text of ['{', 'null', '{"code":"navidad"}', '[]']) {
      storage.setItem('svc-claim-wallet:NAVIDAD', text);
      expect(loadWallet(storage, 'navidad')).toBeUndefined();
    }
  });
});

describe('the wallets of a device', () => {
  it('are known once each, the last opened first, until they are forgotten', () => {
    const storage = inMemory();
    const wallet = (id: string) => ({ id, address: '0x1', orgName: 'Tienda' });
    for (const id of ['rcp_1', 'rcp_2', 'rcp_1']) rememberWallet(storage, wallet(id));
    expect(deviceWallets(storage)).toEqual([wallet('rcp_1'), wallet('rcp_2')]);
    forgetWallet(storage, 'rcp_1');
    expect(deviceWallets(storage)).toEqual([wallet('rcp_2')]);
    storage.setItem('svc-wallets', '{');
    expect(deviceWallets(storage)).toEqual([]);
  });
});
