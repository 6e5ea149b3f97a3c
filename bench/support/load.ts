import { connect, type Socket } from 'node:net';

export interface Load {
  readonly requests: number;
  readonly seconds: number;
  readonly failures: number;
  /** Milliseconds, sorted. */
  readonly latencies: Float64Array;
}

/** Reads answers only as far as their content-length and status, so that the load costs little beside the server. */
export async function load(
  url: string,
  headers: Record<string, string>,
  connections: number,
  ms: number,
): Promise<Load> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const latencies: number[] = [];
  const startedAt = performance.now();
  const until = startedAt + ms;
  const failures = await Promise.all(
    Array.from({ length: connections }, () => drive(connect(Number(port), hostname), request, until, latencies)),
  );
  return {
    requests: latencies.length,
    seconds: (performance.now() - startedAt) / 1000,
    failures: failures.reduce((sum, count) => sum + count, 0),
    latencies: Float64Array.from(latencies).sort(),
  };
}

function drive(socket: Socket, request: Buffer, until: number, latencies: number[]): Promise<number> {
  return new Promise((resolve, reject) => {
    let failures = 0;
    let pending = '';
    let sentAt = performance.now();
    const next = () => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setNoDelay(true);
    socket.on('connect', next);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      const end = answerEnd(pending);
      if (end < 0) return;
      if (!pending.startsWith('HTTP/1.1 200')) failures++;
      pending = pending.slice(end);
      latencies.push(performance.now() - sentAt);
      if (performance.now() < until) return next();
      socket.destroy();
      resolve(failures);
    });
  });
}

function answerEnd(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return -1;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return text.length >= end ? end : -1;
}
