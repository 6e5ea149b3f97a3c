import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { KeystoreError, openKeystore, sealKeystore } from './keystore.ts';

const passphrase = 'correct horse battery';
const secrets = { RELAYER_ACCOUNTS: '0x1:0x2,0x3:0x4', MANAGER_ACCOUNT: '0x5:0x6', DEPOSIT_KEY: '0x7' };
const sealed = sealKeystore(secrets, passphrase);
const file = path.join(mkdtempSync(path.join(tmpdir(), 'svc-keystore-')), 'keystore.json');
writeFileSync(file, sealed);
const env = { ACCOUNTS_KEYSTORE: file, ACCOUNTS_PASSPHRASE: passphrase };

describe('a keystore', () => {
  it('opens with its passphrase alone, and shows nothing of its keys', () => {
    expect(openKeystore(sealed, passphrase)).toEqual(secrets);
    expect(() => openKeystore(sealed, 'correct horse batterz')).toThrow(KeystoreError);
    expect(sealed).not.toContain(secrets.RELAYER_ACCOUNTS);
  });

  it.each(['kdf', 'iv', 'tag', 'content', 'version', 'cipher'])('is refused where its %s was changed', (name) => {
    const changed = JSON.parse(sealed) as Record<string, unknown>;
    const other = (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
    changed[name] = name === 'kdf' ? { ...(changed.kdf as object), cost: 2 } : other(String(changed[name]));
    expect(() => openKeystore(JSON.stringify(changed), passphrase)).toThrow(KeystoreError);
  });

  it('needs a passphrase of twelve characters', () => {
    expect(() => sealKeystore(secrets, 'short')).toThrow(/12 characters/);
  });

  it('gives the service its accounts', () => {
    const { relayers, manager, depositKey } = readConfig(env);
    expect(relayers.map(({ address }) => address)).toEqual([1n, 3n]);
    expect([manager?.address, depositKey]).toEqual([5n, { privateKey: 7n }]);
  });

  it('stops the start where it cannot be opened, or a key stands in the environment as well', () => {
    const start = (changes: object) => () => readConfig({ ...env, ...changes });
    expect(start({ ACCOUNTS_PASSPHRASE: 'another passphrase' })).toThrow(/ACCOUNTS_KEYSTORE cannot be opened/);
    expect(start({ ACCOUNTS_KEYSTORE: '/no/such/file' })).toThrow(/ACCOUNTS_KEYSTORE cannot be opened/);
    expect(start({ ACCOUNTS_PASSPHRASE: '' })).toThrow(/ACCOUNTS_PASSPHRASE must be set too/);
    expect(start({ MANAGER_ACCOUNT: '0x8:0x9' })).toThrow(/MANAGER_ACCOUNT must not be set besides ACCOUNTS_KEYSTORE/);
  });
});

describe('accounts whose key a signer holds', () => {
  const accounts = { RELAYER_ACCOUNTS: '0x1:signer:0x2', DEPOSIT_KEY: 'signer:0x3' };

  it('name a public key, and need the signer with certificates', () => {
    const signer = { SIGNER_URL: 'https://signer.internal/sign', SIGNER_CERTIFICATE: 'own', SIGNER_KEY: 'key' };
    const config = readConfig({ ...accounts, ...signer });
    expect([config.relayers, config.depositKey]).toEqual([[{ address: 1n, publicKey: 2n }], { publicKey: 3n }]);
    expect(config.signer).toEqual({ url: signer.SIGNER_URL, certificate: 'own', key: 'key', ca: undefined });
    expect(() => readConfig(accounts)).toThrow(/SIGNER_URL must be set/);
    expect(() => readConfig({ ...accounts, ...signer, SIGNER_KEY: '' })).toThrow(/SIGNER_KEY must be set too/);
    expect(() => readConfig({ ...accounts, ...signer, SIGNER_URL: 'http://signer' })).toThrow(/SIGNER_URL/);
  });
});

describe('accounts that are drained', () => {
  it('are none that pay', () => {
    const read = (draining: string) => readConfig({ RELAYER_ACCOUNTS: '0x1:0x2', DRAINING_ACCOUNTS: draining });
    expect(read('0x3:0x4').draining).toEqual([{ address: 3n, privateKey: 4n }]);
    expect(() => read('0x1:0x2')).toThrow(/DRAINING_ACCOUNTS must not name an account that pays/);
  });
});
