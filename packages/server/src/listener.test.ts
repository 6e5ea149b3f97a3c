import { once } from 'node:events';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bind } from './listener.ts';

async function open() {
  const listener = await bind({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => listener.close());
  const serve = async (handler: () => Promise<unknown>) => {
    const app = Fastify({ serverFactory: () => listener.server });
    app.get('/', handler);
    await app.ready();
    listener.serve(app);
  };
  return { listener, serve };
}

describe('a bound port', () => {
  it('answers 503 with Retry-After until the application is ready, and then what the application says', async () => {
    const { listener, serve } = await open();
    const early = await fetch(listener.localUrl);
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await early.json()).toMatchObject({ error: 'internal_error' });
    await serve(async () => 'ready');
    expect(await (await fetch(listener.localUrl)).text()).toBe('ready');
  });

  it('keeps an idle connection for longer than the 60 seconds of a proxy', async () => {
    const { listener, serve } = await open();
    await serve(async () => 'ready');
    const { headers } = await fetch(listener.localUrl);
    expect(headers.get('keep-alive')).toBe('timeout=75');
  });

  it('lets a request in flight finish when it closes, and takes no other', async () => {
    const { listener, serve } = await open();
    const [arrived, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    await serve(() => {
      arrived.resolve();
      return answer.promise;
    });
    const response = fetch(listener.localUrl);
    await arrived.promise;
    const closed = listener.close();
    answer.resolve('late');
    expect(await (await response).text()).toBe('late');
    await closed;
    await expect(fetch(listener.localUrl)).rejects.toThrow();
  });

  it('closes connections that only wait for a next request', async () => {
    const { listener } = await open();
    const socket = connect(Number(new URL(listener.localUrl).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: svc\r\n\r\n');
    await once(socket, 'data');
    const ended = once(socket, 'close');
    await listener.close();
    await ended;
  });
});
