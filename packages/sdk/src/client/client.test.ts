import { afterEach, describe, expect, it, vi } from 'vitest';
import { PUBLIC_KEY, SECRET_KEY } from '../../testing/fake-client.ts';
import { createClient, refuseSecretInBrowser, type SvcOptions } from './client.ts';
import { SvcInputError } from './errors.ts';

const right: SvcOptions = { baseUrl: 'https://svc.example/v1', publicKey: PUBLIC_KEY };

describe('a client', () => {
  afterEach(() => vi.unstubAllGlobals());

  it.each([
    'https://svc.example/v1',
    'https://svc.example/v1/',
    'https://pay.example/svc/v1',
    'http://127.0.0.1:8080/v1',
    'http://localhost:8080/v1',
    'http://[::1]:8080/v1',
  ])('accepts %s', (baseUrl) => {
    expect(createClient({ ...right, baseUrl }).baseUrl).toBe(baseUrl.replace(/\/$/, ''));
  });

  it.each<[string, Partial<Record<keyof SvcOptions, unknown>>]>([
    ['no address', { baseUrl: 'svc' }],
    ['an address of something else', { baseUrl: 'ftp://svc.example/v1' }],
    ['an address without the version', { baseUrl: 'https://svc.example' }],
    ['an address whose version is only in the query', { baseUrl: 'https://svc.example/?a=/v1' }],
    ['an address with credentials', { baseUrl: 'https://me:hunter2@svc.example/v1' }],
    ['an unencrypted address', { baseUrl: 'http://svc.example/v1' }],
    ['an address that only looks like this machine', { baseUrl: 'http://127.0.0.1.example/v1' }],
    ['a secret key for the public one', { publicKey: SECRET_KEY }],
    ['a public key for the secret one', { secretKey: PUBLIC_KEY }],
    ['a key with a line break', { secretKey: `${SECRET_KEY}\n` }],
    ['no key', { publicKey: undefined }],
    ['a node that is none', { nodeUrl: ['https://node.example', 'node'] }],
    ['half a retry', { maxRetries: 0.5 }],
    ['retries without end', { maxRetries: Number.POSITIVE_INFINITY }],
    ['no time', { timeoutMs: 0 }],
  ])('refuses %s, and does not repeat it', (_, options) => {
    const make = () => createClient({ ...right, ...options } as SvcOptions);
    expect(make).toThrow(SvcInputError);
    expect(make).not.toThrow(/hunter2|sssss|ppppp/);
  });

  it('accepts one node or several', () => {
    expect(createClient(right).nodeUrls).toEqual([]);
    expect(createClient({ ...right, nodeUrl: 'https://a.example/rpc' }).nodeUrls).toEqual(['https://a.example/rpc']);
    const nodeUrl = ['https://a.example/rpc', 'http://127.0.0.1:9545/rpc'];
    expect(createClient({ ...right, nodeUrl }).nodeUrls).toEqual(nodeUrl);
  });

  it('refuses a secret key in a browser before any other check', () => {
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)' });
    const code = 'secret_key_in_browser';
    expect(() => createClient({ ...right, secretKey: SECRET_KEY })).toThrow(expect.objectContaining({ code }));
    expect(createClient(right).secretKey).toBeUndefined();
  });
});

describe('a browser', () => {
  it.each([
    ['a page', { userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)' }],
    ['an app', { product: 'ReactNative' }],
  ])('is detected: %s', (_, navigator) => {
    expect(() => refuseSecretInBrowser({ navigator })).toThrow(SvcInputError);
  });

  it('is detected by its document, regardless of its user agent', () => {
    expect(() => refuseSecretInBrowser({ navigator: { userAgent: 'My app/1' }, document: {} })).toThrow(SvcInputError);
    expect(() => refuseSecretInBrowser({ document: {} })).toThrow(SvcInputError);
  });

  it.each(['Node.js/26', 'Deno/2.1', 'Bun/1.2', 'Cloudflare-Workers'])('is not %s', (userAgent) => {
    expect(() => refuseSecretInBrowser({ navigator: { userAgent } })).not.toThrow();
    expect(() => refuseSecretInBrowser({})).not.toThrow();
  });
});
