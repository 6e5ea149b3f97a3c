import { endpoint } from '../endpoint.ts';
import { Branding, UpdateBranding } from '../schemas/branding.ts';
import { Success } from '../schemas/common.ts';
import * as schema from '../schemas/settings.ts';

const tag = 'Settings';

export const getSettings = endpoint({
  operationId: 'getSettings',
  method: 'GET',
  path: '/organization/settings',
  tag,
  summary: 'Read the settings of this environment',
  access: 'secret',
  answers: { 200: schema.Settings },
});

export const updateSettings = endpoint({
  operationId: 'updateSettings',
  method: 'PATCH',
  path: '/organization/settings',
  tag,
  summary: 'Change settings of this environment; null clears one',
  access: 'secret',
  body: schema.UpdateSettings,
  answers: { 200: schema.Settings },
  errors: ['invalid_request'],
});

export const checkToken = endpoint({
  operationId: 'checkToken',
  method: 'POST',
  path: '/organization/settings/check-token',
  tag,
  summary: "Check a user's token step by step, with these settings",
  description: 'Says at which step a token is refused, and why. The token is not stored.',
  access: 'secret',
  body: schema.CheckToken,
  answers: { 200: schema.CheckedToken },
  errors: ['invalid_request'],
});

export const getBranding = endpoint({
  operationId: 'getBranding',
  method: 'GET',
  path: '/organization/branding',
  tag,
  summary: 'Read how this environment shows itself to recipients of gifts',
  access: 'secret',
  answers: { 200: Branding },
});

export const updateBranding = endpoint({
  operationId: 'updateBranding',
  method: 'PATCH',
  path: '/organization/branding',
  tag,
  summary: 'Change name, logo or colour on the claim page and in mails; null clears one',
  access: 'secret',
  role: 'OWNER',
  body: UpdateBranding,
  answers: { 200: Branding },
  errors: ['invalid_request'],
});

export const getSponsorship = endpoint({
  operationId: 'getSponsorship',
  method: 'GET',
  path: '/organization/sponsorship',
  tag,
  summary: 'Read the limits of sponsored gas and what is used of them today',
  access: 'secret',
  query: schema.SponsorshipQuery,
  answers: { 200: schema.Sponsorship },
  errors: ['invalid_request'],
});

export const updateSponsorship = endpoint({
  operationId: 'updateSponsorship',
  method: 'PATCH',
  path: '/organization/sponsorship',
  tag,
  summary: "Change limits of sponsored gas; null restores the deployment's default",
  access: 'secret',
  body: schema.UpdateSponsorship,
  answers: { 200: schema.Sponsorship },
  errors: ['invalid_request'],
});

export const listApiKeys = endpoint({
  operationId: 'listApiKeys',
  method: 'GET',
  path: '/organization/keys',
  tag,
  summary: 'List the keys of this environment, newest first',
  access: 'secret',
  query: schema.ApiKeyQuery,
  answers: { 200: schema.ApiKeyPage },
  errors: ['invalid_request'],
});

export const createApiKey = endpoint({
  operationId: 'createApiKey',
  method: 'POST',
  path: '/organization/keys',
  tag,
  summary: 'Make a key',
  description: 'To rotate a key: make a new one, use it everywhere, then revoke the old one.',
  access: 'secret',
  role: { production: 'OWNER', development: 'DEVELOPER' },
  body: schema.CreateApiKey,
  shownOnce: ['secretKey'],
  answers: { 201: schema.CreatedApiKey },
  errors: ['invalid_request', 'key_limit_reached'],
});

export const revokeApiKey = endpoint({
  operationId: 'revokeApiKey',
  method: 'DELETE',
  path: '/organization/keys/{id}',
  tag,
  summary: 'Revoke a key, at once and everywhere',
  access: 'secret',
  role: { production: 'OWNER', development: 'DEVELOPER' },
  params: schema.KeyParams,
  answers: { 200: Success },
  errors: ['key_not_found', 'key_in_use'],
});

export const listOfferedSkus = endpoint({
  operationId: 'listOfferedSkus',
  method: 'GET',
  path: '/organization/skus',
  tag,
  summary: "List the deployment's services and your own, offered or not",
  access: 'secret',
  query: schema.OfferedSkuQuery,
  answers: { 200: schema.OfferedSkuPage },
  errors: ['invalid_request'],
});

export const createOwnSku = endpoint({
  operationId: 'createOwnSku',
  method: 'POST',
  path: '/organization/skus',
  tag,
  summary: 'Add a service of your own to the catalogue that your users see',
  access: 'secret',
  body: schema.CreateOwnSku,
  answers: { 201: schema.OfferedSku },
  errors: ['invalid_request', 'invalid_sku', 'sku_id_taken', 'sku_limit_reached'],
});

export const updateOwnSku = endpoint({
  operationId: 'updateOwnSku',
  method: 'PATCH',
  path: '/organization/skus/{id}',
  tag,
  summary: 'Change a service of your own, or offer a service or not',
  access: 'secret',
  params: schema.OwnSkuParams,
  body: schema.UpdateOwnSku,
  answers: { 200: schema.OfferedSku },
  errors: ['invalid_request', 'invalid_sku', 'sku_not_found'],
});

export const deleteOwnSku = endpoint({
  operationId: 'deleteOwnSku',
  method: 'DELETE',
  path: '/organization/skus/{id}',
  tag,
  summary: 'Remove a service of your own; purchases of it stay',
  access: 'secret',
  params: schema.OwnSkuParams,
  answers: { 200: Success },
  errors: ['sku_not_found'],
});

export const listAuditLog = endpoint({
  operationId: 'listAuditLog',
  method: 'GET',
  path: '/organization/audit-log',
  tag,
  summary: 'List what was changed with your keys or by the operator, newest first',
  description:
    'Keys, settings, sponsorship, services, webhooks, gifts, deposits, and purchases that were cancelled or refunded. A webhook that is switched off by itself is not in it: its disabledReason tells.',
  access: 'secret',
  query: schema.AuditQuery,
  answers: { 200: schema.AuditPage },
  errors: ['invalid_request'],
});
