import { ApiError, type endpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import type { Answer, Call } from '../../http/call.ts';
import { newId } from '../../ids.ts';
import { deliverTo, insertEvent } from '../publish-event.ts';
import { findWebhook } from '../webhooks/webhook.ts';
import { type DeliveryRecord, deliveryColumns, toDelivery } from './delivery.ts';

type TestWebhook = typeof endpoints.testWebhook;

/** An event that nothing has caused, for one webhook alone, whichever types it wants. */
export function testWebhook({ caller, params, transact }: Call<TestWebhook>): Promise<Answer<TestWebhook>> {
  const { organizationId, environment } = caller;
  return transact(async (tx) => {
    const { id, disabledReason } = await findWebhook(tx, caller, params.id);
    if (disabledReason !== null) throw new ApiError('webhook_disabled');
    const event = newId('evt');
    const data = { webhookId: id, message: 'This is a test. Nothing has happened.' };
    await insertEvent(tx, event, { organizationId, environment, type: 'webhook.test', subject: event, data });
    await deliverTo(tx, event, [id]);
    const stored = await tx.one<DeliveryRecord>(sql`
      select ${deliveryColumns} from webhook_deliveries as delivery join events as event on event.id = delivery.event_id
       where delivery.event_id = ${event}`);
    if (!stored) throw new Error('A delivery that was stored is not there.');
    return toDelivery(stored);
  });
}
