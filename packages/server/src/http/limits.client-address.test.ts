import { describe, expect, it } from 'vitest';
import { clientOf, widerNetworks } from './limits.ts';

describe('the client of a request', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:203.0.113.7', '2001:db8:1:2::/64'],
    ['2001:db8:1::203.0.113.7', '2001:db8:1:0::/64'],
  ])('with the address %s is %s', (address, client) => {
    expect(clientOf(address)).toBe(client);
  });

  it.each(['', 'nonsense', '1.2.3', '999.1.1.1', '_hidden', 'x'.repeat(5_000)])(
    'that says nonsense of itself is one with all others that do: %s',
    (address) => {
      expect(clientOf(address)).toBe('unknown');
    },
  );
});

it.each([
  ['203.0.113.7', ['203.0.113.0/24', '203.0.0.0/16']],
  ['2001:db8:1:2::/64', ['2001:db8:1::/48', '2001:db8::/32']],
  ['unknown', []],
])('the networks around %s are %j', (client, networks) => {
  expect(widerNetworks(client)).toEqual(networks);
});
