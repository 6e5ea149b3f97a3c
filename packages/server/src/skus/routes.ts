import type { Db } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import { readPage, toPage } from '../http/pages.ts';
import { checkReference, getSku, listSkus } from './service.ts';

export function skuHandlers(db: Db): Pick<Handlers, 'listSkus' | 'getSku' | 'checkSkuReference'> {
  return {
    listSkus: async ({ query }) => {
      const page = readPage(query);
      const category = query.category === 'TELEFONIA' ? 'TELEFONICA' : query.category;
      const { skus, total } = await listSkus(db, { ...page, category, provider: query.provider });
      return toPage(skus, total, page);
    },
    getSku: ({ params }) => getSku(db, params.id),
    checkSkuReference: ({ params, body }) => checkReference(db, params.id, body.reference),
  };
}
