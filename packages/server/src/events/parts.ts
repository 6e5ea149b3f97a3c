import type { Database } from '@svc/store';

/** What the management of webhooks needs. */
export interface WebhookParts {
  readonly db: Database;
  /** Whether webhooks may lead to this machine. */
  readonly allowLoopback: boolean;
}
