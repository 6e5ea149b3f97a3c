import { connect, findEmbedded, sql } from '@svc/store';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { serverDatabase, serviceUrl } from '../packages/server/testing/database.ts';
import { App, Owner } from './support/app.ts';
import { caller } from './support/client.ts';
import {
  type RunningServer,
  type ServerOptions,
  type ServerProcess,
  startHosted,
  startServer,
} from './support/server.ts';

const running: RunningServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function start(options: ServerOptions = {}): Promise<ServerProcess> {
  const server = await startServer(options);
  running.push(server);
  return server;
}

async function startIn(env: Record<string, string>): Promise<RunningServer> {
  const server = await startHosted(inject('sharedServiceUrl'), env);
  running.push(server);
  return server;
}

/** Roles of the service's connections, and whether they own anything. */
async function rolesOf(ownerUrl: string): Promise<string[]> {
  const owner = connect(ownerUrl, { max: 1, applicationName: 'test' });
  try {
    const rows = await owner.rows<{ role: string }>(sql`
      select distinct usename as role from pg_stat_activity
       where datname = current_database() and application_name like 'svc%' and application_name not like 'svc test%'`);
    return rows.map(({ role }) => role);
  } finally {
    await owner.close();
  }
}

describe('the service in its database', () => {
  it('embedded, works as a role of few rights, also on a database that was made before there was one', async () => {
    const first = await start();
    const ownerUrl = (await findEmbedded(first.dataDir)) ?? '';
    expect(await rolesOf(ownerUrl)).toEqual(['svc_service']);
    const owner = connect(ownerUrl, { max: 1 });
    await first.end('SIGKILL');
    // As an earlier version left it: its owner is the only role.
    await owner.run(sql`drop owned by svc_service`);
    await owner.run(sql`drop role svc_service`);
    await owner.close();
    const second = await start({ dataDir: first.dataDir });
    expect(await rolesOf((await findEmbedded(second.dataDir)) ?? '')).toEqual(['svc_service']);
    expect(second.credentials.secretKey).toBe(first.credentials.secretKey);
    await new App(second).createWallet(new Owner(), 'ana');
    const { body } = await caller(second)('/organization');
    expect(body).toMatchObject({ balance: { totalUsd: 10_000 } });
    expect(second.output()).not.toContain('owns the tables');
  });

  it('with two URLs migrates as the owner and works as the other role; with one it warns', async () => {
    const database = await serverDatabase();
    try {
      const url = await serviceUrl(database.url);
      const both = await startIn({ DATABASE_URL: url, DATABASE_OWNER_URL: database.url });
      expect(await rolesOf(database.url)).toEqual(['svc_service']);
      expect(both.output()).not.toContain('owns the tables');
      const alone = await startIn({ DATABASE_URL: url });
      expect(await rolesOf(database.url)).toEqual(['svc_service']);
      expect(alone.output()).not.toContain('owns the tables');
      const asOwner = await startIn({ DATABASE_URL: database.url });
      expect(asOwner.output()).toContain('owns the tables');
      const twice = { DATABASE_URL: database.url, DATABASE_OWNER_URL: database.url };
      await expect(startIn(twice)).rejects.toThrow(/need two roles/);
      for (const server of running.splice(0)) await server.stop();
    } finally {
      await database.drop();
    }
  });
});
