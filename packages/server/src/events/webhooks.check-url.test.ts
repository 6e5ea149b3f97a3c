import { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { checkWebhookUrl } from './webhooks.ts';

/** The message of the refusal; undefined when it is taken. */
function refusal(url: string, allowLoopback = false): string | undefined {
  try {
    checkWebhookUrl(url, { allowLoopback });
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'invalid_webhook_url', status: 400 });
    return (error as Error).message;
  }
}

describe('the address of a webhook', () => {
  it.each([
    'https://hooks.example.com/svc?token=a',
    'https://hooks.example.com:8443/',
    'https://8.8.8.8/hook',
    'https://[2606:4700::1111]/hook',
    // A name that leads nowhere good is found out when something is to be sent.
    'https://internal.example.com',
  ])('may be %s', (url) => {
    expect(refusal(url)).toBeUndefined();
  });

  it.each([
    ['http://hooks.example.com/', 'https://'],
    ['ftp://hooks.example.com/', 'https://'],
    ['hooks.example.com', 'https://'],
    ['https://', 'https://'],
    ['https://user:secret@hooks.example.com/', 'user or password'],
    [' https://hooks.example.com/', 'blanks'],
    ['https://hooks.example.com/a b', 'blanks'],
    ['https://hooks.example.com/\u0000', 'blanks'],
  ])('is refused as %j, which says why', (url, reason) => {
    expect(refusal(url)).toContain(reason);
  });

  const literals = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '①②⑦.0.0.1', '127.0.0.1.', '[::1]'],
    ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '169.254.169.254', '172.16.0.1', '192.168.1.1', '198.18.0.1'],
    ...['224.0.0.1', '255.255.255.255', '192.0.2.1', '168.63.129.16'],
    ...[
      '[::]',
      '[::ffff:10.0.0.1]',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[fd00::1]',
      '[fe80::1]',
      '[2002:7f00:1::]',
    ],
    ...['localhost', 'LOCALHOST.', 'app.localhost'],
  ];
  it.each(literals)('is refused at once when it is https://%s', (host) => {
    expect(refusal(`https://${host}/hook`)).toContain('must lead to a public address');
  });

  it.each(['http://127.0.0.1:3000/', 'http://localhost:3000/', 'https://localhost/', 'http://[::1]:3000/'])(
    'may be %s where the operator allows loopback',
    (url) => {
      expect(refusal(url, true)).toBeUndefined();
    },
  );

  it.each(['http://hooks.example.com/', 'http://10.0.0.1/', 'https://169.254.169.254/', 'http://0.0.0.0/'])(
    'is refused as %s even there',
    (url) => {
      expect(refusal(url, true)).toBeDefined();
    },
  );
});
