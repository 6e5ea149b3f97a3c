import { once } from 'node:events';
import { connect } from 'node:net';

/** Announces a body, sends the beginning of it and goes away, as everybody can who reaches the address. */
export async function abortRequest(url: string): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n`;
  socket.write(head);
  // By now it is reading.
  await once(socket, 'data');
  socket.write('{');
  socket.resetAndDestroy();
  await once(socket, 'close');
}

/** How many bytes of an endless body are taken until the other side has enough. */
export async function floodRequest(url: string, chunkBytes: number, maxChunks: number): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const ended = once(socket, 'close').catch(() => undefined);
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  socket.on('error', over).on('close', over).on('data', over);
  socket.write(`POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: ${chunkBytes * maxChunks}\r\n\r\n`);
  let sent = 0;
  const chunk = Buffer.alloc(chunkBytes, 'x');
  for (; sent < maxChunks && !isOver; sent++) {
    await new Promise<void>((resolve) => socket.write(chunk, () => resolve()));
  }
  socket.destroy();
  await ended;
  return sent * chunkBytes;
}
