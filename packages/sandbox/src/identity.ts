import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';

const DEFAULT_SECONDS = 3_600;
const MAX_SECONDS = 86_400;
const MAX_SUBJECT_LENGTH = 256;

/** An identity provider for development: a key set, and tokens for any subject. */
export function registerIdentity(app: FastifyInstance, db: Db): void {
  let key: Promise<SigningKey> | undefined;
  const cachedKey = () => {
    key ??= signingKey(db).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  };

  app.get('/identity/jwks.json', async () => ({ keys: [(await cachedKey()).publicJwk] }));

  app.post('/identity/token', async (request) => {
    const { sub, expiresInSeconds } = readTokenRequest(request.body);
    const { privateKey, kid } = await cachedKey();
    const token = await new SignJWT({ sub })
      .setProtectedHeader({ alg: ALGORITHM, kid })
      .setIssuer('svc-sandbox')
      .setIssuedAt()
      .setExpirationTime(`${expiresInSeconds}s`)
      .sign(privateKey);
    return { token };
  });
}

function readTokenRequest(body: unknown): { sub: string; expiresInSeconds: number } {
  const { sub, expiresInSeconds = DEFAULT_SECONDS } = (body ?? {}) as Record<string, unknown>;
  if (typeof sub !== 'string' || sub.length === 0 || sub.length > MAX_SUBJECT_LENGTH) {
    throw new ApiError(
      'invalid_request',
      `body.sub must be a user identifier of 1 to ${MAX_SUBJECT_LENGTH} characters.`,
    );
  }
  if (typeof expiresInSeconds !== 'number' || !Number.isInteger(expiresInSeconds)) {
    throw new ApiError('invalid_request', 'body.expiresInSeconds must be a whole number.');
  }
  if (expiresInSeconds < 1 || expiresInSeconds > MAX_SECONDS) {
    throw new ApiError('invalid_request', `body.expiresInSeconds must be from 1 to ${MAX_SECONDS}.`);
  }
  return { sub, expiresInSeconds };
}

export const ALGORITHM = 'ES256';

export interface SigningKey {
  readonly privateKey: Awaited<ReturnType<typeof importJWK>>;
  readonly publicJwk: JWK;
  readonly kid: string;
}

/** One signing key per deployment: the first process creates it. */
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
