import type { Database } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import { readPage, toPage } from '../http/pages.ts';
import { checkReference, getSku, listSkus } from './service.ts';

export function skuHandlers(db: Database): Pick<Handlers, 'listSkus' | 'getSku' | 'checkSkuReference'> {
  return {
    listSkus: async ({ query }) => {
      const page = readPage(query);
      const category = query.category === 'TELEFONIA' ? 'TELEFONICA' : query.category;
      const { skus, total } = await listSkus(db, { ...page, category, provider: query.provider });
      return toPage(skus, total, page);
    },
    getSku: ({ params }) => getSku(db.reads, params.id),
    checkSkuReference: ({ params, body }) => checkReference(db.reads, params.id, body.reference),
  };
}
