import { describe, expect, it } from 'vitest';
import { faultOfTenantUrl } from './address-guard.ts';

const strict = (url: string) => faultOfTenantUrl(url, { allowLoopback: false });
const onOneMachine = (url: string) => faultOfTenantUrl(url, { allowLoopback: true });

const PUBLIC = [
  'https://id.example/jwks',
  'https://8.8.8.8',
  'https://[2606:4700::1111]:8443/x?y=z',
  'HTTPS://EXAMPLE',
];
const LOOPBACK = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '[::1]', 'localhost', 'LOCALHOST.', 'a.localhost'];
const FORBIDDEN = [
  ...['10.0.0.1', '192.168.0.1', '172.16.9.9', '169.254.169.254', '2852039166', '100.64.0.1', '0.0.0.0', '0'],
  ...['[::]', '[fe80::1]', '[fd00:ec2::254]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
];

describe('an address that a tenant gives', () => {
  it.each(PUBLIC)('may be %s', (url) => {
    expect(strict(url)).toBeUndefined();
    expect(onOneMachine(url)).toBeUndefined();
  });

  it.each([
    '',
    'id.example/jwks',
    'ftp://id.example',
    'file:///etc/passwd',
    'javascript:1',
    'http://id.example',
    '//x',
  ])('is refused without https: %j', (url) => {
    expect(strict(url)).toMatch(/https/);
    expect(onOneMachine(url)).toMatch(/https/);
  });

  it.each([
    ' https://id.example',
    'https://id.example/a b',
    'https://id.example/\n',
    'https://id.exa\tmple',
    '\0https://a',
  ])('has no blanks, which a reader would drop or change: %j', (url) => {
    expect(strict(url)).toMatch(/blanks/);
    expect(onOneMachine(url)).toMatch(/blanks/);
  });

  it('is no longer than a request may be sent to', () => {
    const sized = (length: number) => 'https://id.example/'.padEnd(length, 'x');
    expect(strict(sized(2_048))).toBeUndefined();
    expect(strict(sized(2_049))).toMatch(/at most 2048 characters/);
  });

  it('carries neither user nor password, on one machine too', () => {
    for (const url of ['https://user:pass@id.example', 'https://user@id.example', 'http://a:b@127.0.0.1']) {
      expect(onOneMachine(url), url).toMatch(/user or password/);
    }
  });

  it.each(LOOPBACK)('leads to this machine only where the operator allows it: %s', (host) => {
    for (const scheme of ['http', 'https']) {
      expect(strict(`${scheme}://${host}:4000/`)).toMatch(/this machine/);
      expect(onOneMachine(`${scheme}://${host}:4000/`)).toBeUndefined();
    }
  });

  it.each(FORBIDDEN)('never leads to %s', (host) => {
    expect(strict(`https://${host}/`)).toMatch(/public address/);
    expect(onOneMachine(`https://${host}/`)).toMatch(/public address/);
    expect(onOneMachine(`http://${host}/`)).toBeDefined();
  });
});
