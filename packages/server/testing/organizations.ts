import type { BodyOf, Environment, endpoints } from '@svc/protocol';
import type { Db } from '@svc/store';
import { listChanges } from '../src/audit-log.ts';
import type { Caller } from '../src/http/call.ts';
import { createOrganization, issueKey } from '../src/organizations/api-keys.ts';
import { createOwnSku, deleteOwnSku, updateOwnSku } from '../src/skus/own-skus.ts';
import { listOfferedSkus, listSkus, replaceCatalogue, type SkuFilter } from '../src/skus/skus.ts';

/** A new organisation, called with both kinds of keys. */
export async function newCaller(db: Db, environment: Environment = 'development'): Promise<Caller> {
  return callerOf(db, await createOrganization(db, 'Tienda Azul'), environment);
}

export async function callerOf(db: Db, organizationId: string, environment: Environment): Promise<Caller> {
  const publicKey = await issueKey(db, { organizationId, environment, kind: 'public' });
  const secretKey = await issueKey(db, { organizationId, environment, kind: 'secret' });
  return {
    organizationId,
    environment,
    keyId: publicKey.id,
    secretKeyId: secretKey.id,
    apiPublicKey: publicKey.value,
    proof: 'secret key',
    externalUserId: undefined,
  };
}

export type Creation = BodyOf<typeof endpoints.createOwnSku>;
export type Changes = BodyOf<typeof endpoints.updateOwnSku>;

export const missing = { code: 'sku_not_found', status: 404 };

export const skuBody = (change: Partial<Creation> = {}): Creation => ({
  id: 'propio',
  providerId: 'propio',
  name: 'Recarga propia',
  category: 'RECARGAS',
  referenceRegexValidation: '^\\d{10}$',
  referenceLabel: 'Celular',
  amountRegexValidation: '^\\d+(\\.\\d{1,2})?$',
  amountLabel: 'Monto',
  currency: 'MXN',
  canCheckSkuReference: true,
  ...change,
});

export class SkuFixture {
  readonly db: Db;
  #loaded = 0;

  constructor(db: Db) {
    this.db = db;
  }

  /** Replaces the deployment's catalogue. */
  load(...ids: string[]): Promise<boolean> {
    this.#loaded += 1;
    const skus = ids.map((id) => skuBody({ id, providerId: 'deployment', category: 'LUZ' }));
    return this.db.tx((tx) => replaceCatalogue(tx, skus, `load ${this.#loaded}`));
  }

  create(caller: Caller, change: Partial<Creation> = {}) {
    return this.db.tx((tx) => createOwnSku(tx, caller, skuBody(change)));
  }

  update(caller: Caller, id: string, changes: Changes) {
    return this.db.tx((tx) => updateOwnSku(tx, caller, id, changes));
  }

  remove(caller: Caller, id: string): Promise<void> {
    return this.db.tx((tx) => deleteOwnSku(tx, caller, id));
  }

  /** As users see them. */
  async listed(caller: Caller, filter: Partial<SkuFilter> = {}): Promise<{ ids: string[]; total: number }> {
    const { skus, total } = await listSkus(this.db, caller, { limit: 100, offset: 0, ...filter });
    return { ids: skus.map(({ id }) => id), total };
  }

  /** As the organisation sees them, such as `a hidden`. */
  async offered(caller: Caller): Promise<string[]> {
    const { skus } = await listOfferedSkus(this.db, caller, { limit: 100, offset: 0 });
    return skus.map(({ id, isOwn, isOffered }) => `${id}${isOwn ? ' own' : ''}${isOffered ? '' : ' hidden'}`);
  }

  async audit(caller: Caller) {
    return (await listChanges(this.db, caller, { limit: 100, offset: 0 })).entries;
  }
}
