import type { Access } from '@svc/protocol';
import type { BearerToken, Client } from './client.ts';
import { SvcInputError } from './errors.ts';
import { refuseSecretInBrowser } from './refuse-secret-in-browser.ts';

/**
 * The headers that an endpoint wants. A token that is passed in wins, then the client's own, then the secret key. Gifts are managed by the
 * secret key or the public key, never by a user's token. Asked anew for each try, so that a token that is a function is always fresh.
 */
export async function authentication(
  client: Client,
  access: Access,
  bearerToken?: BearerToken,
): Promise<Record<string, string>> {
  if (access === 'none') return {};
  const key = { 'x-api-key': client.publicKey };
  if (access === 'public') return key;
  if (access === 'either') return client.secretKey ? { ...key, ...bearer(client.secretKey) } : key;
  if (access === 'secret') return { ...key, ...bearer(await read(bearerToken ?? requireSecretKey(client))) };
  const token = bearerToken ?? client.bearerToken ?? client.secretKey;
  if (token !== undefined) return { ...key, ...bearer(await read(token)) };
  throw new SvcInputError(
    'missing_bearer_token',
    'Pass bearerToken (the token of the signed-in user) or, on a server, create the client with secretKey.',
  );
}

/** The operations for which the interface wants a token of its own: the secret key does not stand in. */
export function requireBearerToken(client: Client, bearerToken?: BearerToken): BearerToken {
  const token = bearerToken ?? client.bearerToken;
  if (token !== undefined) return token;
  throw new SvcInputError('missing_bearer_token', 'This operation needs a bearer token: pass it as the last argument.');
}

function requireSecretKey({ secretKey }: Client): string {
  if (secretKey !== undefined) return secretKey;
  throw new SvcInputError(
    'secret_key_required',
    'This operation runs on a server only: create the client with secretKey.',
  );
}

/** Checked here, because `fetch` would print a token that it cannot send in its own error. */
async function read(given: BearerToken): Promise<string> {
  const token: unknown = typeof given === 'function' ? await given() : given;
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new SvcInputError('invalid_input', 'The bearer token must be text without blanks.');
  }
  if (token.startsWith('sk_')) refuseSecretInBrowser();
  return token;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
