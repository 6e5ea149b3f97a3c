import type { Delivery, DeliveryState, EventType } from '@svc/protocol';
import { sql } from '@svc/store';

/** A delivery as it is shown. */
export interface DeliveryRecord {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Of `webhook_deliveries as delivery join events as event`. */
export const deliveryColumns = sql`delivery.id, delivery.event_id as "eventId", event.type as "eventType", delivery.state,
  delivery.attempts, delivery.next_attempt_at as "nextAttemptAt", delivery.created_at as "createdAt",
  delivery.ended_at as "endedAt"`;

export function toDelivery(record: DeliveryRecord): Delivery {
  return {
    ...record,
    nextAttemptAt: record.nextAttemptAt?.toISOString() ?? null,
    createdAt: record.createdAt.toISOString(),
    endedAt: record.endedAt?.toISOString() ?? null,
  };
}
