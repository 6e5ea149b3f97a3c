import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TestServer {
  readonly port: number;
  /** The connections that it has accepted so far. */
  readonly sockets: readonly Socket[];
  /** Until a connection has been made, and the other side has let go of every one. */
  closed(): Promise<void>;
}

/** A raw server on 127.0.0.1 that `speak`s on every connection and ends with the test. */
export function startTestServer(speak: (socket: Socket) => void): Promise<TestServer> {
  return listen(createServer((socket) => speak(socket)));
}

export async function listen(server: Server): Promise<TestServer> {
  const sockets: Socket[] = [];
  server.prependListener('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const closed = async () => {
    if (sockets.length === 0) await once(server, 'connection');
    await Promise.all(sockets.map(closing));
  };
  return { port: (server.address() as AddressInfo).port, sockets, closed };
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    socket.on('close', () => resolve()).resume();
  });
}

/** Says `answer` as soon as a request comes in, and hangs up. */
export function answering(answer: string): (socket: Socket) => void {
  return (socket) => socket.once('data', () => socket.end(answer));
}
