import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { newId } from '../ids.ts';
import { insertAuditEntry } from './store.ts';

/** Who changes something; a caller of the interface is one. */
export interface Actor {
  readonly organizationId: string;
  readonly environment: Environment;
  /** The key that it is done with, or `operator`. */
  readonly keyId: string;
  /** The secret key, where there is one: it says more than a public key, which is in everybody's hands. */
  readonly secretKeyId?: string | undefined;
}

/** Whoever runs the deployment, at work for an environment. */
export function operatorOf(organizationId: string, environment: Environment): Actor {
  return { organizationId, environment, keyId: 'operator' };
}

export interface Change {
  /** Such as `webhook.created`. */
  readonly action: string;
  /** What was changed, by its id. */
  readonly target?: string | undefined;
  /** What holds now. Never a secret. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** Writes down who changed what, in the transaction that changes it. */
export async function recordChange(
  tx: Db,
  { organizationId, environment, keyId, secretKeyId }: Actor,
  { action, target, changes }: Change,
): Promise<void> {
  await insertAuditEntry(tx, {
    id: newId('aud'),
    organizationId,
    environment,
    actor: secretKeyId ?? keyId,
    action,
    target: target ?? null,
    changes,
  });
}
