import { describe, expect, it } from 'vitest';
import { HOOK, OWNER_HEX } from '../../testing/bridge-fixtures.ts';
import { readForwardHook } from './cctp-message.ts';

const changed = (at: number, value: number) => {
  const hook = Buffer.from(HOOK);
  hook[at] = value;
  return hook;
};

describe('a forwarding hook', () => {
  it('names the owner', () => {
    const hook = readForwardHook(HOOK);
    expect(hook.kind === 'owner' && Buffer.from(hook.owner).toString('hex')).toBe(OWNER_HEX);
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['too few bytes', HOOK.subarray(0, 23)],
    ['another name', changed(0, 0x64)],
    ['a name that goes on', changed(12, 0x31)],
  ])('is not there in %s', (_name, hook) => {
    expect(readForwardHook(hook)).toEqual({ kind: 'none' });
  });

  it.each([
    ['a newer version', changed(27, 1)],
    ['another length', changed(31, 0x20)],
    ['no wish for an account', changed(32, 0)],
    ['a key that is cut short', HOOK.subarray(0, -1)],
    ['bytes at its end', Buffer.concat([HOOK, Buffer.of(0)])],
    ['nothing but its name', HOOK.subarray(0, 24)],
  ])('cannot be followed with %s', (_name, hook) => {
    expect(readForwardHook(hook)).toEqual({ kind: 'malformed' });
  });
});
