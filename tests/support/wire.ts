import { connect, createServer, type Socket } from 'node:net';

export interface Wire {
  /** The database's address by way of the wire. */
  readonly url: string;
  /** How many times something was sent to the database so far. */
  sent(): number;
  /** Calls `cut` once, when so much more was sent: in place of the last thing, or right after it went on. */
  cutAfter(count: number, when: 'before' | 'after', cut: () => void): void;
  close(): void;
}

/** Stands between a process and its PostgreSQL and passes everything on, until it is told to cut. */
export async function openWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let sent = 0;
  let plan: { at: number; when: 'before' | 'after'; cut: () => void } | undefined;

  const pass = (chunk: Buffer, database: Socket) => {
    sent += 1;
    if (plan === undefined || sent < plan.at) return database.write(chunk);
    const { when, cut } = plan;
    plan = { at: Number.POSITIVE_INFINITY, when, cut };
    if (when === 'after') database.write(chunk);
    cut();
    return true;
  };
  const server = createServer((client) => {
    const database = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        database.end();
      });
    }
    client.on('data', (chunk: Buffer) => pass(chunk, database));
    database.on('data', (chunk) => client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: url.href,
    sent: () => sent,
    cutAfter: (count, when, cut) => {
      plan = { at: sent + count, when, cut };
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
