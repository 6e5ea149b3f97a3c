import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCredentials, toBaseUrl } from './credentials.ts';

const saved = { baseUrl: 'http://127.0.0.1:9/v1', publicKey: 'pk_dev_file', secretKey: 'sk_dev_file' };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'svc-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function save(text = JSON.stringify(saved), place = '.svc'): void {
  mkdirSync(path.join(folder, place), { recursive: true });
  writeFileSync(path.join(folder, place, 'credentials.json'), text);
}

describe('credentials', () => {
  it('come from the nearest data folder, from the current folder upwards', () => {
    save();
    const below = path.join(folder, 'a/b');
    mkdirSync(below, { recursive: true });
    expect(findCredentials({}, {}, below)).toEqual({
      ...saved,
      source: path.join(folder, '.svc/credentials.json'),
    });
  });

  it('come from flags before the environment, and from both before a file', () => {
    save();
    const env = { SVC_BASE_URL: 'https://svc.example/v1', SVC_PUBLIC_KEY: 'pk_dev_env', SVC_SECRET_KEY: 'sk_dev_env' };
    expect(findCredentials({ secretKey: 'sk_dev_flag' }, env, folder)).toMatchObject({
      baseUrl: 'https://svc.example/v1',
      publicKey: 'pk_dev_env',
      secretKey: 'sk_dev_flag',
    });
  });

  it('never send a key of the file to an address from elsewhere, nor the other way round', () => {
    save();
    const elsewhere = findCredentials({ baseUrl: 'https://other.example/v1' }, {}, folder);
    expect(elsewhere).toMatchObject({ publicKey: undefined, secretKey: undefined });
    expect(() => findCredentials({}, { SVC_SECRET_KEY: 'sk_prod_env' }, folder)).toThrow(/SVC_BASE_URL/);
  });

  it('say what to do where there are none, and where the file is damaged', () => {
    expect(() => findCredentials({}, {}, folder)).toThrow(/svc dev, or set SVC_BASE_URL/);
    expect(() => findCredentials({ dataDir: 'nowhere' }, {}, folder)).toThrow(/nowhere.*does not exist/);
    save('{');
    expect(() => findCredentials({}, {}, folder)).toThrow(/has no credentials/);
  });

  it('take an address without /v1', () => {
    expect(toBaseUrl('http://127.0.0.1:8080/')).toBe('http://127.0.0.1:8080/v1');
    expect(toBaseUrl('https://svc.example/v1/')).toBe('https://svc.example/v1');
    expect(() => toBaseUrl('svc.example')).toThrow(/not an address/);
  });
});
