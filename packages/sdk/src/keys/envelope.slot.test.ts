import { describe, expect, it } from 'vitest';
import { PASSKEY, TINY } from '../../testing/keys.ts';
import { argon2id } from '../../testing/stretching.ts';
import { defaultRuntime as runtime } from '../client/client.ts';
import { readEncryptKey, stretch } from './cipher.ts';
import { formatSlot, parseSlot, unwrap, wrap } from './envelope.ts';

const dataKey = new Uint8Array(32).fill(7);

describe.each(['4815', PASSKEY])('a slot for %s', (text) => {
  const secret = readEncryptKey(text);
  const wrapped = wrap(dataKey, secret, 'here', { runtime, stretching: TINY });

  it('unwraps its data key for its secret and address only', async () => {
    const slot = await wrapped;
    expect(await unwrap(slot, secret, 'here')).toEqual(dataKey);
    expect(await unwrap(slot, secret, 'there')).toBeUndefined();
    expect(await unwrap(slot, readEncryptKey('4816'), 'here')).toBeUndefined();
    expect(await unwrap(slot, readEncryptKey(`prf1.${'A'.repeat(43)}`), 'here')).toBeUndefined();
  });

  it('is the same after formatting and parsing', async () => {
    const slot = await wrapped;
    expect(parseSlot(formatSlot(slot))).toEqual(slot);
  });
});

it('a secret stretched for the tests of the service is the one that the library stretches', async () => {
  const { memoryKib, passes, lanes } = TINY;
  for (const [secret, salt] of [
    ['4815', 1],
    ['4816', 1],
    ['4815', 2],
  ] as const) {
    const [password, nonce] = [new TextEncoder().encode(secret), new Uint8Array(16).fill(salt)];
    const sizes = { memorySize: memoryKib, iterations: passes, parallelism: lanes, hashLength: 32 };
    const stretched = argon2id({ password, salt: nonce, ...sizes, outputType: 'binary' });
    expect(await stretched).toEqual(await stretch(password, nonce, TINY));
  }
});
