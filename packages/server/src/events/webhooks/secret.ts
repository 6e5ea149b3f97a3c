import { randomBytes } from 'node:crypto';

/** As long as what HMAC-SHA-256 makes of it. */
const SECRET_BYTES = 32;
export const SECRET_PREFIX = 'whsec_';

export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}
