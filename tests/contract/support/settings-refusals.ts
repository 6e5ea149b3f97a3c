import { ownSkuBody } from '../../support/app.ts';
import { type Provoke, type RefusalsOf, withBody, withParams } from './provoke.ts';

const MAX_KEYS = 20;
const MAX_OWN_SKUS = 500;
const AT_ONCE = 10;

/** Public keys, because the examples make secret ones. */
const withManyKeys: Provoke = async ({ send }) => {
  const body = { kind: 'public' };
  for (let count = 0; count < MAX_KEYS; count++) await send({ body });
  return { body };
};

const withManySkus: Provoke = async ({ send, callers: { others: headers } }) => {
  for (let count = 0; count < MAX_OWN_SKUS; count += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => send({ headers, body: ownSkuBody() })));
  }
  return { headers, body: ownSkuBody() };
};

/** The public key that the request itself is made with. */
const ownKey: Provoke = async ({ world: { app } }) => {
  const { body } = await app.get('/organization/keys?limit=100');
  const keys = (body as { data: { id: string; key: string }[] }).data;
  return { params: { id: keys.find(({ key }) => key === app.headers['x-api-key'])?.id ?? 'none' } };
};

export const settingsRefusals: RefusalsOf = {
  createApiKey: { key_limit_reached: withManyKeys },
  revokeApiKey: { key_not_found: withParams({ id: 'key_nothing' }), key_in_use: ownKey },
  createOwnSku: {
    invalid_sku: withBody({ referenceRegexValidation: '(' }),
    sku_id_taken: withBody({ id: 'pase-recarga' }),
    sku_limit_reached: withManySkus,
  },
  updateOwnSku: {
    invalid_sku: withBody({ amountRegexValidation: '^[0-9' }),
    sku_not_found: withParams({ id: 'nothing' }),
  },
  deleteOwnSku: { sku_not_found: withParams({ id: 'nothing' }) },
};
