import { describe, expect, it } from 'vitest';
import { answering, startTestServer } from '../../testing/servers.ts';
import { type AddressGuard, OutboundError, publicOnly, trusted } from './address-guard.ts';
import { type OutboundResponse, outboundRequest } from './request.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

function get(url: string, guard: AddressGuard): Promise<OutboundResponse> {
  return outboundRequest(url, { guard, timeoutMs: 5000, maxBodyBytes: 1000 });
}

function failure(url: string, guard: AddressGuard): Promise<unknown> {
  return get(url, guard).then(
    (response) => `answered ${response.status}`,
    (error) => (error instanceof OutboundError ? error.kind : error),
  );
}

describe('publicOnly', () => {
  it.each([
    ...[
      '127.0.0.1',
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0x7F.0.0.0x1',
      '0177.0.0.1',
      '017700000001',
    ],
    ...['127.0.0.1.', '%31%32%37.0.0.1', '１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '0', '0.0.0.0', '127.8.9.10'],
    ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::7f00:1]'],
    ...[
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '10.0.0.1',
      '169.254.169.254',
      '2852039166',
      '192.168.0.1',
      '172.16.0.1',
    ],
    ...['100.100.100.200', '[fd00:ec2::254]', '[fe80::1]', '255.255.255.255', '224.0.0.1'],
  ])('never connects to http://%s', async (host) => {
    const server = await startTestServer(answering(OK));
    expect(await failure(`http://${host}:${server.port}/`, publicOnly())).toBe('forbidden_address');
    expect(await failure(`https://${host}:${server.port}/`, publicOnly())).toBe('forbidden_address');
    // A connection that had been made before would have been accepted before this one.
    await get(`http://127.0.0.1:${server.port}/`, trusted());
    expect(server.sockets.length).toBe(1);
  });

  it('refuses localhost as the system resolves it', async () => {
    const server = await startTestServer(answering(OK));
    expect(await failure(`http://localhost:${server.port}/`, publicOnly())).toBe('forbidden_address');
    await get(`http://127.0.0.1:${server.port}/`, trusted());
    expect(server.sockets.length).toBe(1);
  });

  it.each([
    [['127.0.0.1']],
    [['::1']],
    [['10.1.2.3']],
    [['8.8.8.8', '127.0.0.1']],
    [['2606:4700::1111', '8.8.8.8', '::ffff:10.0.0.1']],
    [['fe80::1%eth0']],
    [['not an address']],
  ])('refuses a name that resolves to %j', async (addresses) => {
    const guard = publicOnly({ lookup: async () => addresses });
    expect(await failure('http://hooks.example/', guard)).toBe('forbidden_address');
  });

  it('checks every address of a name that has hundreds', async () => {
    const addresses = [...Array.from({ length: 500 }, () => '8.8.8.8'), '127.0.0.1'];
    expect(await failure('http://hooks.example/', publicOnly({ lookup: async () => addresses }))).toBe(
      'forbidden_address',
    );
  });

  it('uses an IP literal as it is, without the resolver', async () => {
    const server = await startTestServer(answering(OK));
    const guard = publicOnly({ lookup: async () => ['8.8.8.8'] });
    expect(await failure(`http://127.0.0.1:${server.port}/`, guard)).toBe('forbidden_address');
    await get(`http://127.0.0.1:${server.port}/`, trusted());
    expect(server.sockets.length).toBe(1);
  });

  it('skips a dead address, but does not try hundreds', async () => {
    const server = await startTestServer(answering(OK));
    const deadThenLive = (dead: number) => [...Array.from({ length: dead }, () => '127.0.0.2'), '127.0.0.1'];
    const guard = (dead: number) => publicOnly({ allowLoopback: true, lookup: async () => deadThenLive(dead) });
    expect((await get(`http://hooks.example:${server.port}/`, guard(1))).status).toBe(200);
    expect(await failure(`http://hooks.example:${server.port}/`, guard(100))).toBe('connect');
    expect(server.sockets.length).toBe(1);
  });

  it('resolves a name once and connects to the address that it checked', async () => {
    const server = await startTestServer(answering(OK));
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const asked: string[] = [];
    const lookup = async (hostname: string) => {
      asked.push(hostname);
      return answers[asked.length - 1] ?? [];
    };
    const guard = publicOnly({ allowLoopback: true, lookup });
    expect((await get(`http://rebind.example:${server.port}/`, guard)).status).toBe(200);
    expect(asked).toEqual(['rebind.example']);
    expect(await failure(`http://rebind.example:${server.port}/`, guard)).toBe('forbidden_address');
    expect(server.sockets.length).toBe(1);
  });

  it.each(['http', 'https'])(
    'sends no byte over %s when the connected address turns out to be forbidden',
    async (scheme) => {
      let received = 0;
      const server = await startTestServer((socket) => {
        socket.on('data', (bytes) => {
          received += bytes.length;
        });
      });
      const verdicts = [true, false];
      const guard: AddressGuard = { lookup: trusted().lookup, allows: () => verdicts.shift() ?? false };
      expect(await failure(`${scheme}://127.0.0.1:${server.port}/`, guard)).toBe('forbidden_address');
      await server.closed();
      expect([server.sockets.length, received]).toEqual([1, 0]);
    },
  );

  it('has neither the resolved address nor the path in its error', async () => {
    const guard = publicOnly({ lookup: async () => ['10.1.2.3'] });
    const url = 'https://hooks.example/T0/secret?token=abc';
    await expect(get(url, guard)).rejects.toThrow(/^hooks\.example does not lead to a public address$/);
  });

  it('lets loopback and nothing else through with allowLoopback', async () => {
    const server = await startTestServer(answering(OK));
    const guard = publicOnly({ allowLoopback: true });
    expect((await get(`http://127.0.0.1:${server.port}/`, guard)).body.toString()).toBe('ok');
    expect((await get(`http://localhost:${server.port}/`, guard)).body.toString()).toBe('ok');
    for (const host of ['0.0.0.0', '[::]', '[::ffff:127.0.0.1]', '10.0.0.1', '169.254.169.254']) {
      expect(await failure(`http://${host}:${server.port}/`, guard), host).toBe('forbidden_address');
    }
  });

  it('lets exactly the origins of allowOrigins through', async () => {
    const server = await startTestServer(answering(OK));
    const other = await startTestServer(answering(OK));
    const lookup = async () => ['127.0.0.1'];
    const guard = publicOnly({ allowOrigins: [`http://KEYS.internal:${server.port}/`], lookup });
    expect((await get(`http://keys.internal:${server.port}/jwks`, guard)).status).toBe(200);
    expect(await failure(`http://keys.internal:${other.port}/jwks`, guard)).toBe('forbidden_address');
    expect(await failure(`https://keys.internal:${server.port}/jwks`, guard)).toBe('forbidden_address');
    expect(await failure(`http://keys.internal.evil.example:${server.port}/jwks`, guard)).toBe('forbidden_address');
    expect(await failure(`http://127.0.0.1:${server.port}/jwks`, guard)).toBe('forbidden_address');
    expect([server.sockets.length, other.sockets.length]).toEqual([1, 0]);
  });

  it.each(['keys.internal', 'ftp://keys.internal', 'http://keys.internal/path', 'http://a:b@keys.internal', '*', ''])(
    'does not start with %j as an allowed origin',
    (origin) => {
      expect(() => publicOnly({ allowOrigins: [origin] })).toThrow(TypeError);
    },
  );
});

describe('trusted', () => {
  it('reaches a server on the same machine', async () => {
    const server = await startTestServer(answering(OK));
    expect((await get(`http://127.0.0.1:${server.port}/`, trusted())).status).toBe(200);
  });
});
