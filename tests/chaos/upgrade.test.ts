import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from '@svc/store';
import { expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { contractionsIn } from '../../packages/server/testing/migration-policy.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { eventually } from '../support/eventually.ts';
import { sized } from '../support/faults.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { TestService } from '../support/service.ts';
import { newTraffic, sendTraffic } from '../support/traffic.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Two processes start, on a busy machine. */
const LIMIT_MS = 600_000;
const CLIENTS = 4;
/** In each phase, so that every phase sees traffic of all kinds. */
const ROUNDS_EACH = sized(12, 4);

/** What a later version may do to tables that are in use. */
const EXPANSION = `
alter table gift_redeems add column next_note text;
alter table gifts add column next_count integer not null default 0;
alter table relays add column next_note text;
alter table jobs add column next_flag boolean not null default false;
alter table wallets add column next_note text;
alter table transactions add column next_note text;
alter table environments add column next_limit integer not null default 10;
alter table ledger_entries add column next_note text;
create table next_things (id text primary key, redeem_id text not null references gift_redeems);
create index gift_redeems_next on gift_redeems (organization_id, next_note) where next_note is not null;
`;

/** This version's code with one more migration, in a tree of its own. */
async function nextVersion(folder: string): Promise<string> {
  const server = path.join(folder, 'packages/server');
  await mkdir(server, { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  for (const part of await readdir(path.join(root, 'packages/server'))) {
    const [from, to] = [path.join(root, 'packages/server', part), path.join(server, part)];
    if (part === 'node_modules') await symlink(from, to);
    else await cp(from, to, { recursive: true });
  }
  const known = (await readdir(path.join(server, 'migrations'))).filter((file) => file.endsWith('.sql')).length;
  const file = `${String(known + 1).padStart(4, '0')}_next_version.sql`;
  await writeFile(path.join(server, 'migrations', file), EXPANSION);
  return path.join(server, 'src/main.ts');
}

async function withService(run: (service: TestService<ServerProcess>, folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-next-version-'));
  const service = await TestService.start();
  try {
    await run(service, folder);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

it('two versions serve one database during an upgrade, and no request fails', { timeout: LIMIT_MS }, () =>
  withService(async (service, folder) => {
    expect(contractionsIn(EXPANSION)).toEqual([]);
    const main = await nextVersion(folder);
    const old = service.server;
    const traffic = newTraffic([old]);
    const clients = Array.from({ length: CLIENTS }, (_, place) => sendTraffic(service.app, traffic, place));
    const phase = async () => {
      const until = traffic.rounds + ROUNDS_EACH;
      await eventually(
        async () => traffic.rounds,
        (rounds) => rounds >= until,
        LIMIT_MS,
      );
    };
    try {
      await phase();
      const next = await service.another({}, { main });
      const columns = await service.db.rows(sql`
        select from information_schema.columns where column_name = 'next_count' and table_name = 'gifts'`);
      expect(columns).toHaveLength(1);
      // The version before, on a database that the next one has migrated, alone and beside it.
      await phase();
      traffic.servers.push(next);
      await phase();
      // Out of the balancer first, so that nothing is on its way to it when it stops.
      traffic.servers.shift();
      await phase();
      expect(await old.end()).toBe(0);
      await phase();
      traffic.isOver = true;
      await Promise.all(clients);
      expect(traffic.problems).toEqual([]);
      expect(service.errors()).toEqual([]);
      const open = () =>
        service.db.rows(sql`
          select id, status from gift_redeems where id = any (${traffic.redeems}) and status <> 'SUCCESS'`);
      expect(await eventually(open, (rows) => rows.length === 0, LIMIT_MS)).toEqual([]);
      expect(await findBrokenInvariants(service.db)).toEqual([]);
      await settled(service.db, LIMIT_MS);
      await auditRelays(service.db, new Sandbox(next));
      const again = startServer({ env: { DATABASE_URL: service.database.url } });
      await expect(again, 'the version before does not start any more').rejects.toThrow('made by a newer svc');
    } finally {
      traffic.isOver = true;
      await Promise.all(clients);
    }
  }),
);
