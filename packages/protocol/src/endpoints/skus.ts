import { endpoint } from '../endpoint.ts';
import { UsdAmount, UsdAmountQuery } from '../schemas/exchange.ts';
import * as schema from '../schemas/sku.ts';

export const listSkus = endpoint({
  operationId: 'listSkus',
  method: 'GET',
  path: '/skus',
  tag: 'SKUs',
  summary: 'List the services that can be bought',
  access: 'both',
  query: schema.SkuListQuery,
  answers: { 200: schema.SkuPage },
  errors: ['invalid_request'],
});

export const getSku = endpoint({
  operationId: 'getSku',
  method: 'GET',
  path: '/skus/{id}',
  tag: 'SKUs',
  summary: 'Read one service',
  access: 'both',
  params: schema.IdParams,
  answers: { 200: schema.Sku },
  errors: ['sku_not_found'],
});

export const checkSkuReference = endpoint({
  operationId: 'checkSkuReference',
  method: 'POST',
  path: '/skus/{id}/check-reference',
  tag: 'SKUs',
  summary: 'Check a reference before paying',
  access: 'both',
  params: schema.IdParams,
  body: schema.CheckReference,
  answers: { 200: schema.ReferenceChecked },
  errors: ['invalid_request', 'reference_check_unavailable', 'sku_not_found'],
});

export const getUsdAmount = endpoint({
  operationId: 'getUsdAmount',
  method: 'GET',
  path: '/exchanges/usd-amount',
  tag: 'Exchanges',
  summary: 'Convert an amount to USD at the current rate',
  description: 'The answer is a bare JSON number. Development keys use a fixed rate.',
  access: 'both',
  query: UsdAmountQuery,
  answers: { 200: UsdAmount },
  errors: ['invalid_request', 'rate_unavailable'],
});
