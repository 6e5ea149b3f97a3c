import type { Database } from '@svc/store';
import { type Handlers, readPage, toPage } from '../http/call.ts';
import type { Module } from '../http/module.ts';
import { createOwnSku, deleteOwnSku, updateOwnSku } from './own-skus.ts';
import { checkReference, getSku, listOfferedSkus, listSkus } from './skus.ts';

type CatalogueOperation = 'listSkus' | 'getSku' | 'checkSkuReference';
type OwnSkuOperation = 'listOfferedSkus' | 'createOwnSku' | 'updateOwnSku' | 'deleteOwnSku';

export function create({ db }: { readonly db: Database }): Module<CatalogueOperation | OwnSkuOperation> {
  return { handlers: { ...catalogueHandlers(db), ...ownSkuHandlers(db) } };
}

function catalogueHandlers(db: Database): Pick<Handlers, CatalogueOperation> {
  return {
    listSkus: async ({ caller, query }) => {
      const page = readPage(query);
      const category = query.category === 'TELEFONIA' ? 'TELEFONICA' : query.category;
      const { skus, total } = await listSkus(db.lists, caller, { ...page, category, provider: query.provider });
      return toPage(skus, total, page);
    },
    getSku: ({ caller, params }) => getSku(db.reads, caller, params.id),
    checkSkuReference: ({ caller, params, body }) => checkReference(db.reads, caller, params.id, body.reference),
  };
}

function ownSkuHandlers(db: Database): Pick<Handlers, OwnSkuOperation> {
  return {
    listOfferedSkus: async ({ caller, query }) => {
      const page = readPage(query);
      const { skus, total } = await listOfferedSkus(db.lists, caller, page);
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
