import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export interface KeySet {
  readonly url: string;
  readonly publicJwk: JWK;
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

const ALGORITHM = 'ES256';
const KID = 'key-1';

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** An organisation's identity provider: a key set on this machine, and tokens signed with its key. */
export async function startKeySet(): Promise<KeySet> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), alg: ALGORITHM, kid: KID };
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [publicJwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    publicJwk,
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, kid: KID, ...header }).sign(privateKey),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token with any header and any signature, for what no honest library would sign. */
export function assembleToken(header: unknown, claims: unknown, signature = ''): string {
  return `${encode(header)}.${encode(claims)}.${signature}`;
}
