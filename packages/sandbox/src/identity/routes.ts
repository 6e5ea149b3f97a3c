import { ApiError } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { SignJWT } from 'jose';
import { ALGORITHM, type SigningKey, signingKey } from './signing-key.ts';

const DEFAULT_SECONDS = 3_600;
/** A development token for longer than a day is a mistake. */
const MAX_SECONDS = 86_400;
const MAX_SUBJECT_LENGTH = 256;

/** An identity provider for development: a key set, and tokens for whoever asks. */
export function registerIdentity(app: FastifyInstance, db: Db): void {
  let key: Promise<SigningKey> | undefined;
  const theKey = () => {
    key ??= signingKey(db).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  };

  app.get('/identity/jwks.json', async () => ({ keys: [(await theKey()).publicJwk] }));

  app.post('/identity/token', async (request) => {
    const { sub, expiresInSeconds } = readTokenRequest(request.body);
    const { privateKey, kid } = await theKey();
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
