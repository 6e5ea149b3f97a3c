import type { App } from './app.ts';
import type { Reply } from './client.ts';

/** What an organisation has set up for itself. */
export interface SettingsWorld {
  readonly webhook: string;
  /** The test event that was sent to it, and its delivery. */
  readonly event: string;
  readonly delivery: string;
  readonly ownSku: string;
  /** What nobody misses. */
  readonly disposable: { readonly webhooks: string[]; readonly keys: string[]; readonly skus: string[] };
}

/** More than succeed one after the other, and few enough to stay within the bounds. */
const OF_EACH = 4;
let skus = 0;

/** The least that a service of one's own is made with. */
export const ownSkuBody = (): { id: string } & Record<string, unknown> => {
  skus += 1;
  return {
    id: `propio-${process.pid}-${skus}`,
    providerId: 'propio',
    name: 'Recarga propia',
    category: 'RECARGAS',
    referenceRegexValidation: '^[0-9]{10}$',
    referenceLabel: 'Número a 10 dígitos',
    amountRegexValidation: '^[0-9]+(\\.[0-9]{1,2})?$',
    amountLabel: 'Monto',
    currency: 'MXN',
    canCheckSkuReference: true,
  };
};

/** Nothing listens there, and nobody can ever have the name. */
export const WEBHOOK_URL = 'https://hooks.tienda.example/svc';

export async function prepareSettings(app: App): Promise<SettingsWorld> {
  const webhook = () => app.post('/organization/webhooks', { url: WEBHOOK_URL });
  const id = idOf(await webhook());
  const tested = (await app.post(`/organization/webhooks/${id}/test`, {})).body as { id: string; eventId: string };
  return {
    webhook: id,
    event: tested.eventId,
    delivery: tested.id,
    ownSku: idOf(await app.post('/organization/skus', ownSkuBody())),
    disposable: {
      webhooks: await several(webhook),
      keys: await several(() => app.post('/organization/keys', { kind: 'public' })),
      skus: await several(() => app.post('/organization/skus', ownSkuBody())),
    },
  };
}

function several(make: () => Promise<Reply>): Promise<string[]> {
  return Promise.all(Array.from({ length: OF_EACH }, async () => idOf(await make())));
}

function idOf({ status, body, text }: Reply): string {
  if (status !== 201) throw new Error(`${status} ${text}`);
  return (body as { id: string }).id;
}
