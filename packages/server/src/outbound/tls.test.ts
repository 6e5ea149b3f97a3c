import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:https';
import tls from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { publicOnly } from './address-guard.ts';
import { OutboundError } from './outbound-error.ts';
import { outboundRequest } from './request.ts';
import { answering, listen, startTestServer } from './test-server.ts';

const guard = publicOnly({ allowLoopback: true, lookup: async () => ['127.0.0.1'] });
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const certificate = selfSigned(privateKey, publicKey, 'hooks.example', [127, 0, 0, 1]);
const authorities = tls.getCACertificates?.('default') ?? [];
// Node 22.19 can change whom it trusts while running; before that, only the refusals can be shown.
const canTrust = typeof tls.setDefaultCACertificates === 'function';

async function startTlsServer() {
  const names: unknown[] = [];
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const server = createServer({ key, cert: certificate }, (_request, response) => response.end('ok'));
  server.on('secureConnection', (socket) => names.push(socket.servername));
  server.on('tlsClientError', () => {});
  return { ...(await listen(server)), names };
}

async function get(url: string): Promise<unknown> {
  const outcome = await outboundRequest(url, { guard, timeoutMs: 5000, maxBodyBytes: 1000 }).catch(
    (error: unknown) => error,
  );
  return outcome instanceof OutboundError ? `${outcome.kind}: ${outcome.message}` : outcome;
}

describe('https', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    if (canTrust) tls.setDefaultCACertificates(authorities);
  });

  it('refuses a self-signed certificate, even where the environment switches checks off', async () => {
    const { port } = await startTlsServer();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    expect(await get(`https://hooks.example:${port}/`)).toMatch(/^connect: .*\(DEPTH_ZERO_SELF_SIGNED_CERT\)$/);
  });

  it.skipIf(!canTrust)('accepts a trusted certificate for the very host and sends its name', async () => {
    tls.setDefaultCACertificates([...authorities, certificate]);
    const server = await startTlsServer();
    expect(await get(`https://hooks.example:${server.port}/`)).toMatchObject({ status: 200, body: Buffer.from('ok') });
    expect(await get(`https://hooks.example.:${server.port}/`)).toMatchObject({ status: 200 });
    expect(await get(`https://127.0.0.1:${server.port}/`)).toMatchObject({ status: 200 });
    expect(server.names).toEqual(['hooks.example', 'hooks.example', false]);
  });

  it.skipIf(!canTrust)('refuses a trusted certificate of another host', async () => {
    tls.setDefaultCACertificates([...authorities, certificate]);
    const { port } = await startTlsServer();
    expect(await get(`https://other.example:${port}/`)).toMatch(/^connect: .*\(ERR_TLS_CERT_ALTNAME_INVALID\)$/);
  });

  it('is not spoken with a server that speaks plain HTTP', async () => {
    const { port } = await startTestServer(answering('HTTP/1.1 200 OK\r\n\r\n'));
    expect(await get(`https://hooks.example:${port}/`)).toMatch(/^connect: /);
  });
});

/** An X.509 certificate in DER, put together by hand so that the test needs no other program. */
function selfSigned(key: KeyObject, publicPart: KeyObject, dnsName: string, ip: readonly number[]): string {
  const algorithm = der(0x30, oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)); // ecdsa-with-SHA256
  const name = der(0x30, der(0x31, der(0x30, oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(dnsName)))));
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const names = der(0x30, der(0x82, Buffer.from(dnsName)), der(0x87, Buffer.from(ip)));
  const subjectAltName = der(0x30, oid(0x55, 0x1d, 0x11), der(0x04, names));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    publicPart.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, subjectAltName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, key));
  const base64 = der(0x30, body, algorithm, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

function oid(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
