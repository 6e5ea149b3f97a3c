import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isForbiddenAddress, isLoopbackAddress } from './address-guard.ts';

// First and last address of each range, and the neighbours where those are public.
const FORBIDDEN_IPV4 = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
  ...[
    '127.0.0.0',
    '127.0.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
  ],
  ...['172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.192', '192.0.0.255', '192.0.2.0', '192.0.2.255'],
  ...['192.88.99.0', '192.88.99.255', '192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255'],
  ...['198.51.100.0', '198.51.100.255', '203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255'],
  ...['240.0.0.0', '255.255.255.254', '255.255.255.255'],
];
const PUBLIC_IPV4 = [
  ...['1.0.0.0', '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '168.63.129.15', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0'],
  ...['192.0.3.0', '192.88.98.255', '192.88.100.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0'],
  ...['198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
];
const FORBIDDEN_IPV6 = [
  ...['::', '::1', '0:0:0:0:0:0:0:1', '::2', 'fc00::', 'fd00:ec2::254', 'fdff:ffff::1', 'fe80::', 'fe80::1', 'febf::1'],
  ...['fec0::1', 'feff::1', 'ff00::', 'ff02::1', 'ffff::1', '100::', '100::ffff', '1fff:ffff::1', '4000::', '5f00::1'],
  ...[
    '2001::',
    '2001:0:1::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:1ff:ffff::1',
    '2001:db8::1',
    '2001:DB8::1',
  ],
  ...['2001:db8:ffff:ffff::1', '2002::', '2002:808:808::1', '2002:7f00:1::', '2002:ffff::1', '3fff::1', '3fff:fff::1'],
  ...['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '::127.0.0.1', '::10.0.0.1', '::7f00:1'],
];
const PUBLIC_IPV6 = [
  ...['2000::', '2001:200::', '2001:4860:4860::8888', '2001:db7:ffff::1', '2001:db9::1', '2003::1', '2606:4700::1111'],
  ...['2A00:1450:4001::200E', '3ffe::1', '3fff:1000::1'],
];

describe('isForbiddenAddress', () => {
  it.each(FORBIDDEN_IPV4)('refuses %s', (ip) => {
    expect(isForbiddenAddress(ip)).toBe(true);
  });

  it.each(PUBLIC_IPV4)('lets the public %s through', (ip) => {
    expect(isForbiddenAddress(ip)).toBe(false);
  });

  it.each(FORBIDDEN_IPV6)('refuses %s', (ip) => {
    expect(isForbiddenAddress(ip)).toBe(true);
  });

  it.each(PUBLIC_IPV6)('lets the public %s through', (ip) => {
    expect(isForbiddenAddress(ip)).toBe(false);
  });

  it('refuses every IPv4 address in IPv4-mapped, IPv4-compatible, NAT64 and 6to4 form', () => {
    for (const ip of FORBIDDEN_IPV4) {
      const hex = hexGroups(ip);
      for (const form of [`::ffff:${ip}`, `::ffff:${hex}`, `0:0:0:0:0:FFFF:${hex}`, `::${hex}`, `64:ff9b::${hex}`]) {
        expect(isForbiddenAddress(form), form).toBe(true);
      }
      expect(isForbiddenAddress(`2002:${hex}::1`), ip).toBe(true);
    }
  });

  it.each(['fe80::1%eth0', '2606:4700::1111%eth0', '::1%lo', '2606:4700::1111%1'])(
    'refuses the zone id of %s',
    (ip) => {
      expect(isForbiddenAddress(ip)).toBe(true);
    },
  );

  it.each([
    ...[
      '',
      'localhost',
      'example.com',
      '8.8.8',
      '8.8.8.8.',
      ' 8.8.8.8',
      '8.8.8.8:80',
      '08.8.8.8',
      '0x08.8.8.8',
      '134744072',
    ],
    ...['127.1', '8.8.8.8/32', '[2606:4700::1111]', '2606:4700::1111::', '256.1.1.1', '8.8.8.8\0', '８.8.8.8'],
  ])('refuses %j, which is not an IP literal', (text) => {
    expect(isForbiddenAddress(text)).toBe(true);
  });

  it('lets only IPv6 addresses of 2000::/3 through', () => {
    const globalUnicast = new BlockList();
    globalUnicast.addSubnet('2000::', 3, 'ipv6');
    fc.assert(
      fc.property(fc.ipV6(), (ip) => isForbiddenAddress(ip) || globalUnicast.check(ip, 'ipv6')),
      { numRuns: 2000 },
    );
  });
});

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.0.0.0', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'])('knows %s', (ip) => {
    expect(isLoopbackAddress(ip)).toBe(true);
  });

  it.each([
    ...[
      '0.0.0.0',
      '126.255.255.255',
      '128.0.0.0',
      '10.0.0.1',
      '8.8.8.8',
      '::',
      '::2',
      '::ffff:127.0.0.1',
      '::127.0.0.1',
    ],
    ...['fe80::1', '::1%lo', 'localhost', ''],
  ])('does not take %j for one', (ip) => {
    expect(isLoopbackAddress(ip)).toBe(false);
  });
});

function hexGroups(ip: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
