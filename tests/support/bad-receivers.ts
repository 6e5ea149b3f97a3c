import type { ServerResponse } from 'node:http';
import { type Behaviour, status } from '../../packages/server/testing/receiver.ts';

const GIGABYTE = 2 ** 30;
const CHUNK = Buffer.alloc(65_536, 'x');

/** Writes for as long as somebody reads. */
function pour(response: ServerResponse): void {
  let left = GIGABYTE;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= CHUNK.length;
      if (!response.write(CHUNK)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}

export interface BadReceiver {
  readonly behave: Behaviour;
  /** What is kept of the attempt. */
  readonly status: number | null;
  readonly error: RegExp;
  /** How long it waits before the second one, at least; jitter adds a tenth to the schedule's five seconds. */
  readonly pauseSeconds: number;
}

/** Every way in which a receiver is no good, but 410. */
export const badReceivers: Readonly<Record<string, BadReceiver>> = {
  'answers 500': { behave: status(500), status: 500, error: /answered 500/, pauseSeconds: 5 },
  'answers 429 with Retry-After': {
    behave: status(429, { 'retry-after': '3600' }),
    status: 429,
    error: /answered 429/,
    pauseSeconds: 3_600,
  },
  redirects: {
    behave: status(302, { location: 'http://127.0.0.1:1/elsewhere' }),
    status: 302,
    error: /Redirects are not followed/,
    pauseSeconds: 5,
  },
  hangs: { behave: () => undefined, status: null, error: /did not answer within 20000 ms/, pauseSeconds: 5 },
  drips: {
    behave: (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      const drip = setInterval(() => response.write('.'), 200);
      response.once('close', () => clearInterval(drip));
    },
    status: null,
    error: /did not answer within 20000 ms/,
    pauseSeconds: 5,
  },
  closes: {
    behave: (response) => void response.destroy(),
    status: null,
    error: /did not give a whole HTTP answer/,
    pauseSeconds: 5,
  },
  'sends a gigabyte': {
    behave: (response) => pour(response.writeHead(200)),
    status: null,
    error: /more than 65536 bytes/,
    pauseSeconds: 5,
  },
  'announces a gigabyte': {
    behave: (response) => pour(response.writeHead(200, { 'content-length': String(GIGABYTE) })),
    status: null,
    error: /more than 65536 bytes/,
    pauseSeconds: 5,
  },
};
