import { type Db, sql } from '@svc/store';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

export const ALGORITHM = 'ES256';

export interface SigningKey {
  readonly privateKey: Awaited<ReturnType<typeof importJWK>>;
  readonly publicJwk: JWK;
  readonly kid: string;
}

/** The one signing key of the deployment. The first process makes it; the others find it. */
export async function signingKey(db: Db): Promise<SigningKey> {
  const fresh = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(fresh.privateKey);
  await db.run(sql`
    insert into sandbox.identity_key (private_jwk) values (${JSON.stringify(jwk)}::jsonb) on conflict do nothing`);
  const row = await db.one<{ private_jwk: JWK }>(sql`select private_jwk from sandbox.identity_key`);
  if (!row) throw new Error('The signing key of the development identity provider was not stored.');
  const { d: _private, ...publicJwk } = row.private_jwk;
  const kid = await calculateJwkThumbprint(publicJwk);
  return {
    privateKey: await importJWK(row.private_jwk, ALGORITHM),
    publicJwk: { ...publicJwk, kid, alg: ALGORITHM, use: 'sig' },
    kid,
  };
}
