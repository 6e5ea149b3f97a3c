import { describe, expect, it } from 'vitest';
import { FakeAuthenticator, type FakeOptions } from '../../testing/fake-authenticator.ts';
import { failure } from '../../testing/fake-client.ts';
import { SvcPasskeyError } from '../client/errors.ts';
import { createPasskey, unlockWithPasskey } from './passkeys.ts';

const names = { rpName: 'My app', userName: 'ana@example.com' };

function making(options: FakeOptions = {}) {
  const credentials = new FakeAuthenticator(options);
  return { credentials, made: createPasskey({ ...names, credentials }) };
}

const named = (name: string) => new DOMException('In the words of some browser', name);

describe('creating a passkey', () => {
  it('returns the key that unlocking returns later', async () => {
    const { credentials, made } = making();
    const { credentialId, encryptKey, prfSupported, deviceType } = await made;
    expect(encryptKey).toMatch(/^prf1\.[\w-]{43}$/);
    expect({ prfSupported, deviceType }).toEqual({ prfSupported: true, deviceType: 'platform' });
    expect(await unlockWithPasskey({ credentialId, credentials })).toBe(encryptKey);
    expect(await unlockWithPasskey({ credentials })).toBe(encryptKey);
  });

  it('asks the user again if the authenticator evaluates the PRF only in an assertion', async () => {
    const { credentials, made } = making({ prf: 'later', attachment: null });
    const { credentialId, encryptKey, deviceType } = await made;
    expect(credentials.requests).toHaveLength(1);
    expect(deviceType).toBeUndefined();
    expect(await unlockWithPasskey({ credentialId, credentials })).toBe(encryptKey);
  });

  it('requires user verification, a discoverable passkey and the PRF at the fixed input', async () => {
    const { credentials, made } = making({ prf: 'later' });
    await made;
    const [creation] = credentials.created;
    const [request] = credentials.requests;
    expect(creation).toMatchObject({
      rp: { name: 'My app' },
      user: { name: 'ana@example.com' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    });
    expect(request?.userVerification).toBe('required');
    // Literal: with another input every passkey would give another key.
    const input = new TextEncoder().encode('svc wallet encryption key 1');
    expect(creation?.extensions.prf.eval.first).toEqual(input);
    expect(request?.extensions.prf.eval.first).toEqual(input);
  });

  it('never replaces an earlier passkey of the same user', async () => {
    const credentials = new FakeAuthenticator();
    await createPasskey({ ...names, credentials });
    await createPasskey({ ...names, credentials });
    const [first, second] = credentials.created;
    expect(first?.user.id).toHaveLength(32);
    expect(first?.user.id).not.toEqual(second?.user.id);
    expect(first?.challenge).not.toEqual(second?.challenge);
  });

  it('names the domain only where one is given', async () => {
    const credentials = new FakeAuthenticator({ prf: 'later' });
    await createPasskey({ ...names, credentials });
    await createPasskey({ ...names, credentials, rpId: 'example.com', userId: new Uint8Array([1]) });
    expect(credentials.created.map(({ rp }) => rp)).toEqual([
      { name: 'My app' },
      { name: 'My app', id: 'example.com' },
    ]);
    expect(credentials.requests.map(({ rpId }) => rpId)).toEqual([undefined, 'example.com']);
    expect(credentials.created[1]?.user.id).toEqual(new Uint8Array([1]));
  });

  it.each<[string, FakeOptions]>([
    ['passkey_prf_unsupported', { prf: 'none' }],
    ['passkey_prf_unsupported', { secretBytes: 0 }],
    ['passkey_prf_unsupported', { secretBytes: 31 }],
    ['passkey_prf_unsupported', { prf: 'later', secretBytes: 64 }],
    ['passkey_cancelled', { refusal: named('NotAllowedError') }],
    ['passkey_cancelled', { refusal: named('AbortError') }],
    ['passkey_unavailable', { refusal: named('SecurityError') }],
    ['passkey_unavailable', { refusal: named('NotSupportedError') }],
    ['passkey_unavailable', { refusal: new TypeError('rp.id') }],
  ])('is %s, with no key, for %o', async (code, options) => {
    const error = await failure(making(options).made);
    expect(error).toBeInstanceOf(SvcPasskeyError);
    expect(error).toMatchObject({ code });
    if (options.refusal) expect(error).toMatchObject({ cause: options.refusal });
  });

  it('is passkey_unavailable where there is no WebAuthn, or where it answers nothing', async () => {
    expect(await failure(createPasskey(names))).toMatchObject({ code: 'passkey_unavailable' });
    const credentials = { create: async () => null, get: async () => null };
    expect(await failure(createPasskey({ ...names, credentials }))).toMatchObject({ code: 'passkey_unavailable' });
  });
});

describe('unlocking', () => {
  it('is passkey_prf_unsupported without the function, and passkey_cancelled without the passkey', async () => {
    const { credentialId } = await making().made;
    const without = {
      create: async () => null,
      get: async () => ({ rawId: new ArrayBuffer(9), getClientExtensionResults: () => ({}) }),
    };
    const refused = await failure(unlockWithPasskey({ credentialId, credentials: without }));
    expect(refused).toMatchObject({ code: 'passkey_prf_unsupported' });
    const elsewhere = await failure(unlockWithPasskey({ credentialId, credentials: new FakeAuthenticator() }));
    expect(elsewhere).toMatchObject({ code: 'passkey_cancelled' });
  });

  it('refuses an invalid credentialId before the user is prompted', async () => {
    const credentials = new FakeAuthenticator();
    for (const credentialId of ['', 'not base64url!', 'AB']) {
      expect(await failure(unlockWithPasskey({ credentialId, credentials }))).toMatchObject({ code: 'invalid_input' });
    }
    expect(credentials.requests).toEqual([]);
  });
});
