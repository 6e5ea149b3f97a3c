import { describe, expect, it } from 'vitest';
import { PASSKEY, TINY } from '../../testing/keys.ts';
import { defaultRuntime as runtime } from '../client/client.ts';
import { readEncryptKey } from './cipher.ts';
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
