import { describe, expect, it } from 'vitest';
import { failure, fakeClient } from '../../testing/fake-client.ts';
import { addSessionKeyToContract, revokeSessionKey, setupSession } from './sessions.ts';
import { removeSpendingPolicy, setSpendingPolicy } from './spending-policies.ts';

const [sessionPublicKey, token] = ['0x5e5', '0xc01'];
const owner = { encryptKey: '4815', wallet: { publicKey: '0xabc', encryptedPrivateKey: 'svc1.' } };
const sessionConfig = { sessionPublicKey, validUntil: 1_800_000_000, maxCalls: 1, allowedEntrypoints: [] };
const limits = { token, maxPerCall: 1n, maxPerWindow: 1n, windowSeconds: 60 };
const { client, sent } = fakeClient([]);

describe('without a bearer token nothing is sent by', () => {
  it.each<[string, () => Promise<string>]>([
    ['addSessionKeyToContract', () => addSessionKeyToContract(client, { ...owner, sessionConfig })],
    ['revokeSessionKey', () => revokeSessionKey(client, { ...owner, sessionPublicKey })],
    ['setupSession', () => setupSession(client, { ...owner, sessionConfig, spendingPolicies: [limits] })],
    [
      'setSpendingPolicy',
      () => setSpendingPolicy(client, { ...owner, spendingPolicyConfig: { sessionPublicKey, ...limits } }),
    ],
    ['removeSpendingPolicy', () => removeSpendingPolicy(client, { ...owner, sessionPublicKey, token })],
  ])('%s', async (_, operation) => {
    expect(await failure(operation())).toMatchObject({ name: 'SvcInputError', code: 'missing_bearer_token' });
    expect(sent).toEqual([]);
  });
});
