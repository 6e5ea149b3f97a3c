import { connect } from 'node:net';

export interface Poster {
  post(body: string, path?: string): Promise<string>;
  close(): void;
}

/** One keep-alive connection. Like `load`, reads answers only as far as it must, to cost little beside the server. */
export async function openPoster(url: string, headers: Record<string, string> = {}): Promise<Poster> {
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let pending = '';
  let waiting: ((answer: string) => void) | undefined;
  socket.on('data', (chunk) => {
    pending += chunk.toString('utf8');
    const answer = bodyOf(pending);
    if (answer === undefined) return;
    pending = '';
    waiting?.(answer);
  });
  const lines = Object.entries({ host, 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = ` HTTP/1.1\r\n${lines.join('')}`;
  return {
    post: (body, path = pathname) =>
      new Promise((resolve, reject) => {
        waiting = resolve;
        socket.once('error', reject);
        socket.write(`POST ${path}${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, () =>
          socket.removeListener('error', reject),
        );
      }),
    close: () => socket.destroy(),
  };
}

/** Undefined until all of it is there. Answers of the node are ASCII, so that characters are bytes. */
function bodyOf(text: string): string | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length >= head + 4 + length ? text.slice(head + 4, head + 4 + length) : undefined;
}
