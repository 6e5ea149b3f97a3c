import type { Environment } from '@svc/protocol';

/** Who a request comes from, as far as its credentials prove. */
export interface Caller {
  readonly organizationId: string;
  readonly environment: Environment;
  /** The key that the rate limit counts: the public one where it was sent, else the secret one. */
  readonly keyId: string;
  /** The secret key, where one was sent. */
  readonly secretKeyId?: string | undefined;
  /** As sent in x-api-key. */
  readonly apiPublicKey: string | undefined;
  readonly proof: 'public key' | 'secret key' | 'user token';
  /** Set for a user's token: everything the caller may touch belongs to this user. */
  readonly externalUserId: string | undefined;
}
