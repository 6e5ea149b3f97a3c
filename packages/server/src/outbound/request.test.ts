import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answering, startTestServer } from '../../testing/servers.ts';
import { OutboundError, publicOnly } from './address-guard.ts';
import { type OutboundRequestOptions, type OutboundResponse, outboundRequest } from './request.ts';

const MAX_BODY_BYTES = 1000;
const guard = publicOnly({ allowLoopback: true, lookup: async () => ['127.0.0.1'] });

function send(url: string | URL, options: Partial<OutboundRequestOptions> = {}): Promise<OutboundResponse> {
  return outboundRequest(url, { guard, timeoutMs: 5000, maxBodyBytes: MAX_BODY_BYTES, ...options });
}

async function failure(url: string, options: Partial<OutboundRequestOptions> = {}): Promise<unknown> {
  const outcome = await send(url, options).catch((error: unknown) => error);
  return outcome instanceof OutboundError ? outcome.kind : outcome;
}

async function serve(speak: string | ((socket: Socket) => void)) {
  const server = await startTestServer(typeof speak === 'string' ? answering(speak) : speak);
  return { ...server, url: `http://hooks.example:${server.port}/` };
}

/** A server that answers once the whole request, which ends in `ending`, is there, and keeps it. */
async function recorder(ending: string) {
  let heard = '';
  const server = await serve((socket) => {
    socket.on('data', (bytes) => {
      heard += bytes.toString();
      if (heard.endsWith(ending)) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  return { ...server, request: () => heard };
}

describe('what is sent', () => {
  it('is the path and query with the host, on a connection that closes, without the fragment', async () => {
    const server = await recorder('\r\n\r\n');
    await send(`${server.url}a/b?c=d#secret`, { headers: { accept: 'application/json' } });
    expect(server.request()).toBe(
      'GET /a/b?c=d HTTP/1.1\r\n' +
        `accept: application/json\r\nhost: hooks.example:${server.port}\r\nconnection: close\r\n\r\n`,
    );
  });

  it('is a body with its length in bytes', async () => {
    const server = await recorder('"ñ"}');
    await send(new URL(server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":"ñ"}',
    });
    expect(server.request()).toContain('POST / HTTP/1.1\r\n');
    expect(server.request()).toContain('content-length: 10\r\n');
  });

  it('is a connection of its own for every request', async () => {
    const keepAlive = 'HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n';
    const server = await serve((socket) => socket.on('data', () => socket.write(keepAlive)));
    await send(server.url);
    await send(server.url);
    expect(server.sockets.length).toBe(2);
  });

  it.each([
    ...[
      'not a url',
      '',
      '/path',
      'ftp://hooks.example/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'unix:/run/x.sock',
    ],
    ...['https://user@hooks.example/', 'https://user:secret@hooks.example/', 'https://:secret@hooks.example/'],
    ...['http://', 'http://256.1.1.1/', 'http://[::1%25lo]/', 'http://hooks.example:99999/', 'http://a b/'],
    `http://hooks.example/${'a'.repeat(2048)}`,
  ])('is nothing for the URL %s', async (url) => {
    const error = await send(url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'OutboundError', kind: 'invalid_url' });
    expect(String(error)).not.toContain('secret');
  });

  it.each([
    ...['Host', 'connection', 'Content-Length', 'transfer-encoding', 'upgrade', 'expect', 'bad name', ''].map(
      (name) => [name, 'x'],
    ),
    ['x-note', 'secret\r\nhost: other.example'],
    ['x-note', 'secret\0'],
  ])('is nothing with the header %j: %j', async (name = '', value = '') => {
    const server = await serve('');
    const error = await send(server.url, { headers: { [name]: value } }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: 'protocol' });
    expect(String(error)).not.toContain('secret');
    expect(server.sockets.length).toBe(0);
  });

  it.each([
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: Number.POSITIVE_INFINITY },
    { timeoutMs: 2 ** 31 },
    { maxBodyBytes: Number.NaN },
    { maxBodyBytes: -1 },
    { maxBodyBytes: Number.POSITIVE_INFINITY },
  ])('is nothing without real bounds: %o', async (bounds) => {
    await expect(send('http://hooks.example/', bounds)).rejects.toThrow(RangeError);
  });
});

describe('what comes back', () => {
  it('is the status, the headers in lower case and the body', async () => {
    const server = await serve('HTTP/1.1 418 Teapot\r\nX-A: 1\r\nx-a: 2\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\nbody');
    const response = await send(server.url);
    expect(response.status).toBe(418);
    expect(response.headers).toEqual({ 'x-a': '1, 2', 'set-cookie': 'a, b' });
    expect(response.body.toString()).toBe('body');
  });

  it.each([301, 302, 303, 307, 308])('is a %i itself: redirects are not followed', async (status) => {
    const inside = await serve('HTTP/1.1 200 OK\r\n\r\n');
    const location = `http://127.0.0.1:${inside.port}/`;
    const server = await serve(`HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
    const response = await send(server.url, { method: 'POST', body: '{}' });
    expect(response).toMatchObject({ status, headers: { location } });
    // A connection that had been made before would have been accepted before this one.
    await send(inside.url);
    expect(inside.sockets.length).toBe(1);
  });

  it('is whole when it comes in many small chunks', async () => {
    const chunks = 'a'.repeat(MAX_BODY_BYTES).replaceAll('a', '1\r\na\r\n');
    const server = await serve(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    expect((await send(server.url)).body.toString()).toBe('a'.repeat(MAX_BODY_BYTES));
  });

  it('ends where its declared length ends', async () => {
    const server = await serve('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok and more');
    expect((await send(server.url)).body.toString()).toBe('ok');
  });

  it('is the final answer after informational ones', async () => {
    const server = await serve(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok',
    );
    expect(await send(server.url)).toMatchObject({ status: 200 });
  });

  it.each([
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['a connection closed without an answer', ''],
    ['a connection closed within the headers', 'HTTP/1.1 200 OK\r\nx-a: '],
    ['a body shorter than declared', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nshort'],
    ['a chunked body without its end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n'],
    ['a chunk size that is no number', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n'],
    ['a length beside chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc'],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok'],
    ['headers without end', `HTTP/1.1 200 OK\r\nx-a: ${'y'.repeat(100_000)}\r\n\r\n`],
    ['a switch of protocols', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nbytes'],
  ])('is a protocol error for %s', async (_what, answer) => {
    expect(await failure((await serve(answer)).url)).toBe('protocol');
    const hasty = await serve((socket) => socket.end(answer));
    expect(await failure(hasty.url)).toBe('protocol');
  });

  it('is a connect error when no server listens or the name does not resolve', async () => {
    const server = await startTestServer(() => {});
    const port = server.port;
    const unresolved = publicOnly({
      lookup: () => Promise.reject(Object.assign(new Error('secret'), { code: 'ENOTFOUND' })),
    });
    const noAddress = publicOnly({ lookup: async () => [] });
    expect(await failure('http://127.0.0.1:1/')).toBe('connect');
    await expect(send(`http://gone.example:${port}/`, { guard: unresolved })).rejects.toThrow(
      `No connection to gone.example:${port} (ENOTFOUND)`,
    );
    expect(await failure(`http://gone.example:${port}/`, { guard: noAddress })).toBe('connect');
  });
});

describe('the bound on the body', () => {
  it('lets a body of exactly that size through, declared or not', async () => {
    const body = 'a'.repeat(MAX_BODY_BYTES);
    for (const head of [`content-length: ${MAX_BODY_BYTES}\r\n`, '']) {
      const server = await serve(`HTTP/1.1 200 OK\r\n${head}\r\n${body}`);
      expect((await send(server.url)).body.length).toBe(MAX_BODY_BYTES);
    }
    const empty = await serve('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    expect((await send(empty.url, { maxBodyBytes: 0 })).body.length).toBe(0);
  });

  it.each([
    ['declared', `content-length: ${MAX_BODY_BYTES + 1}\r\n\r\n`],
    ['undeclared', `\r\n${'a'.repeat(MAX_BODY_BYTES + 1)}`],
    [
      'in one chunk',
      `transfer-encoding: chunked\r\n\r\n${(MAX_BODY_BYTES + 1).toString(16)}\r\n${'a'.repeat(1001)}\r\n`,
    ],
    ['in small chunks', `transfer-encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(MAX_BODY_BYTES + 1)}`],
  ])('refuses one byte more, %s, without waiting for the end', async (_how, rest) => {
    const server = await serve((socket) => socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${rest}`)));
    expect(await failure(server.url)).toBe('too_large');
  });

  it('cuts off a server that sends a gigabyte', async () => {
    const block = Buffer.alloc(64 * 1024);
    const blocks = 1024 ** 3 / block.length;
    let written = 0;
    const server = await serve((socket) => {
      const pour = () => {
        while (written < blocks && !socket.destroyed) {
          written += 1;
          if (!socket.write(block)) break;
        }
      };
      socket.on('drain', pour);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      pour();
    });
    expect(await failure(server.url)).toBe('too_large');
    await server.closed();
    // What the kernel's buffers hold on both sides is a few megabytes.
    expect(written * block.length).toBeLessThan(64 * 1024 ** 2);
  });
});

describe('the time limit', () => {
  const timeoutMs = 100;

  it.each(['http', 'https'])('ends the wait for an %s server that accepts and is silent', async (scheme) => {
    const server = await startTestServer(() => {});
    expect(await failure(`${scheme}://127.0.0.1:${server.port}/`, { timeoutMs })).toBe('timeout');
    await server.closed();
  });

  it.each([
    ['its headers', 'HTTP/1.1 200 OK\r\nx-a: '],
    ['its body', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['a body with its length', 'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n'],
  ])('ends the wait for a server that drips %s', async (_what, start) => {
    const server = await serve((socket) => {
      socket.write(start);
      const drip = setInterval(() => socket.write('a'), 5);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await failure(server.url, { timeoutMs, maxBodyBytes: 1_000_000 })).toBe('timeout');
    await server.closed();
  });

  it('ends the wait for a server that sends informational answers for ever', async () => {
    const server = await serve((socket) => {
      const drip = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await failure(server.url, { timeoutMs })).toBe('timeout');
  });

  it('counts the time for the name, and connects nowhere once it is over', async () => {
    const server = await serve('HTTP/1.1 200 OK\r\n\r\n');
    const { promise, resolve } = Promise.withResolvers<string[]>();
    const slow = publicOnly({ allowLoopback: true, lookup: () => promise });
    expect(await failure(server.url, { timeoutMs, guard: slow })).toBe('timeout');
    resolve(['127.0.0.1']);
    await send(server.url);
    expect(server.sockets.length).toBe(1);
  });
});

describe("the caller's signal", () => {
  it('ends the request with its own reason and closes the connection', async () => {
    const abort = new AbortController();
    const reason = new Error('shutting down');
    const server = await serve((socket) => socket.once('data', () => abort.abort(reason)));
    expect(await failure(server.url, { signal: abort.signal })).toBe(reason);
    await server.closed();
  });

  it('keeps a request from starting when it has already fired', async () => {
    const server = await serve('HTTP/1.1 200 OK\r\n\r\n');
    const reason = new Error('shutting down');
    expect(await failure(server.url, { signal: AbortSignal.abort(reason) })).toBe(reason);
    await send(server.url);
    expect(server.sockets.length).toBe(1);
  });
});
