import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { findEnvironment, findOrganization } from './store.ts';

export interface NotificationAddress {
  readonly address: string;
  readonly organizationName: string;
}

/** Where an environment wants its mail; undefined where it wants none. */
export async function notificationAddress(
  db: Db,
  organizationId: string,
  environment: Environment,
): Promise<NotificationAddress | undefined> {
  const settings = await findEnvironment(db, organizationId, environment);
  if (!settings?.notification_email) return undefined;
  const organization = await findOrganization(db, organizationId);
  return organization && { address: settings.notification_email, organizationName: organization.name };
}
