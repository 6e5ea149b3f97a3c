import type { EventType, TxStatus } from '@svc/protocol';
import type { Db } from '@svc/store';
import { publishEvent } from '../events/events.ts';
import { queueNotification } from '../mail/mail.ts';
import type { PurchaseContent } from '../mail/templates/purchase.ts';
import type { TemplateName } from '../mail/templates/templates.ts';
import { notificationAddress } from '../organizations/organization-store.ts';
import { toTransaction } from '../transactions/record.ts';
import { findPurchase, type Purchase } from './purchase.ts';

interface StatusNotification {
  readonly event: EventType;
  readonly mail?: TemplateName & `purchase-${string}`;
}

const notifications: Readonly<Partial<Record<TxStatus, StatusNotification>>> = {
  PROCESSING: { event: 'sku-purchase.processing' },
  SUCCESS: { event: 'sku-purchase.completed', mail: 'purchase-completed' },
  FAILED: { event: 'sku-purchase.failed', mail: 'purchase-failed' },
  CANCELLED: { event: 'sku-purchase.cancelled', mail: 'purchase-cancelled' },
};

/** Enqueues the webhook event and the mail of a purchase's status in the caller's transaction. */
export async function notifyOrganization(tx: Db, id: string): Promise<void> {
  const purchase = await findPurchase(tx, id);
  const notification = purchase && notifications[purchase.record.status];
  if (!notification) return;
  const { organizationId, environment } = purchase.record;
  const { event: type, mail: template } = notification;
  const data = toTransaction(purchase.record);
  await publishEvent(tx, { organizationId, environment, type, subject: id, data });
  if (!template) return;
  const recipient = await notificationAddress(tx, organizationId, environment);
  if (!recipient) return;
  const content = contentOf(purchase, recipient.organizationName);
  await queueNotification(tx, { organizationId, environment, recipient: recipient.address, template, content });
}

function contentOf({ record, order, skuName, refund }: Purchase, orgName: string): PurchaseContent {
  const { skuFileNumber, revertReason } = record;
  return {
    purchaseId: record.id,
    service: skuName,
    reference: order.reference,
    amount: order.amount,
    currency: order.currency,
    orgName,
    ...(skuFileNumber !== undefined && { fileNumber: skuFileNumber }),
    ...(revertReason !== undefined && { reason: revertReason }),
    refundDue: refund.status !== undefined,
  };
}
