import type { Database } from '@svc/store';
import { type Handlers, readPage, toPage } from '../http/call.ts';
import { createOwnSku, deleteOwnSku, updateOwnSku } from './own-skus.ts';
import { checkReference, getSku, listOfferedSkus, listSkus } from './skus.ts';

export function skuHandlers(db: Database): Pick<Handlers, 'listSkus' | 'getSku' | 'checkSkuReference'> {
  return {
    listSkus: async ({ caller, query }) => {
      const page = readPage(query);
      const category = query.category === 'TELEFONIA' ? 'TELEFONICA' : query.category;
      const { skus, total } = await listSkus(db, caller, { ...page, category, provider: query.provider });
      return toPage(skus, total, page);
    },
    getSku: ({ caller, params }) => getSku(db.reads, caller, params.id),
    checkSkuReference: ({ caller, params, body }) => checkReference(db.reads, caller, params.id, body.reference),
  };
}

/** What an organisation sells, decided with its secret key. */
export function ownSkuHandlers(
  db: Database,
): Pick<Handlers, 'listOfferedSkus' | 'createOwnSku' | 'updateOwnSku' | 'deleteOwnSku'> {
  return {
    listOfferedSkus: async ({ caller, query }) => {
      const page = readPage(query);
      const { skus, total } = await listOfferedSkus(db, caller, page);
      return toPage(skus, total, page);
    },
    createOwnSku: ({ caller, body, transact }) => transact((tx) => createOwnSku(tx, caller, body)),
    updateOwnSku: ({ caller, params, body, transact }) => transact((tx) => updateOwnSku(tx, caller, params.id, body)),
    deleteOwnSku: ({ caller, params, transact }) =>
      transact(async (tx) => {
        await deleteOwnSku(tx, caller, params.id);
        return { success: true };
      }),
  };
}
