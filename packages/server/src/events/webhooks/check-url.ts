import { ApiError } from '@svc/protocol';
import { faultOfTenantUrl, type TenantUrlOptions } from '../../outbound/tenant-url.ts';

/** Refuses an address to which nothing would ever be sent. */
export function checkWebhookUrl(text: string, { allowLoopback }: TenantUrlOptions): void {
  const fault = faultOfTenantUrl(text, { allowLoopback });
  if (fault) throw new ApiError('invalid_webhook_url', `body.url ${fault}.`);
}
