import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { Caller } from '../src/http/call.ts';
import { createOrganization, issueKey } from '../src/organizations/api-keys.ts';

/** An organisation with a key of each kind, as one who calls with both. */
export async function newCaller(db: Db, environment: Environment = 'development'): Promise<Caller> {
  return callerOf(db, await createOrganization(db, 'Tienda Azul'), environment);
}

/** Two more keys of the organisation. */
export async function callerOf(db: Db, organizationId: string, environment: Environment): Promise<Caller> {
  const publicKey = await issueKey(db, { organizationId, environment, kind: 'public' });
  const secretKey = await issueKey(db, { organizationId, environment, kind: 'secret' });
  return {
    organizationId,
    environment,
    keyId: publicKey.id,
    secretKeyId: secretKey.id,
    apiPublicKey: publicKey.value,
    proof: 'secret key',
    externalUserId: undefined,
  };
}
