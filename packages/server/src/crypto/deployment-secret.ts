import { hkdfSync, randomBytes } from 'node:crypto';
import { type Db, sql } from '@svc/store';

const NAME = 'root';
const SECRET_BYTES = 32;

/** A key for one purpose, equal in all processes on this database. The first start makes the secret that it is derived from. */
export async function deploymentKey(db: Db, purpose: string): Promise<Uint8Array> {
  await db.run(sql`
    insert into deployment_secrets (name, secret) values (${NAME}, ${randomBytes(SECRET_BYTES)})
    on conflict (name) do nothing`);
  const row = await db.one<{ secret: Buffer }>(sql`select secret from deployment_secrets where name = ${NAME}`);
  if (!row) throw new Error('The secret of the deployment was not stored.');
  return new Uint8Array(hkdfSync('sha256', row.secret, '', `svc ${purpose}`, SECRET_BYTES));
}
