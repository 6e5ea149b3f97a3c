import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:https';
import tls from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, listen, selfSigned, startTestServer } from '../../testing/servers.ts';
import { OutboundError, publicOnly } from './address-guard.ts';
import { outboundRequest } from './request.ts';

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
