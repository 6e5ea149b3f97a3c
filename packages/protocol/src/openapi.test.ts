import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { allEndpoints, endpoints } from './endpoints/index.ts';
import { catalogue } from './errors.ts';
import { errorsOf, openApiDocument } from './openapi.ts';

interface Operation {
  operationId: string;
  summary: string;
  security: Record<string, string[]>[];
  requestBody?: { required: boolean; content: Record<string, unknown> };
  responses: Record<string, { description: string; content: Record<string, unknown> }>;
}
const document = openApiDocument('https://svc.example/v1') as unknown as {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);

/** Written out, so that no path can disappear with its definition. */
const INTERFACE = `
  GET /svc-wallets, GET /svc-wallets/{id}, GET /svc-wallets/{id}/chain-state, GET /svc-wallets/by-user, POST /svc-wallets/prepare-creation, POST /svc-wallets,
  GET /organization/branding, PATCH /organization/branding, POST /organization/settings/check-token,
  PATCH /svc-wallets/update-encryption-details, GET /svc-wallets/token-balance, GET /svc-wallets/credential-recovery,
  GET /svc-wallets/encryption-history, DELETE /svc-wallets/encryption-history, POST /svc-wallets/restore-encryption,
  POST /svc-wallets/prepare-upgrade, POST /svc-wallets/upgrade, POST /transactions/record-send,
  GET /transactions/transaction-list, POST /transactions/prepare-typed-data,
  POST /transactions/execute-sponsored-transaction, GET /transactions/{hashOrId}, GET /transactions/{hash}/status,
  GET /transactions, GET /transactions/{hashOrId}/details, GET /organization/overview, GET /organization/requests,
  POST /treasuries, GET /treasuries, GET /treasuries/{id}, GET /treasuries/{id}/policy, PATCH /treasuries/{id}/policy,
  POST /treasuries/{id}/transactions, GET /treasuries/{id}/transactions, GET /treasuries/{id}/transactions/{proposalId},
  POST /treasuries/{id}/transactions/{proposalId}/sign, POST /treasuries/{id}/transactions/{proposalId}/execute,
  POST /treasuries/{id}/transactions/{proposalId}/cancel,
  POST /transactions/sync-on-chain, GET /skus, GET /skus/{id}, POST /skus/{id}/check-reference, POST /sku-purchases,
  GET /sku-purchases/{id}, GET /exchanges/usd-amount, POST /gifts, POST /gifts/bulk, GET /gifts, GET /gifts/{id},
  PATCH /gifts/{id}, DELETE /gifts/{id}, GET /gifts/usage, GET /gifts/history/redeems, GET /gifts/history/redeems/{id},
  GET /gifts/history/redeems/{id}/evidence, POST /gifts/history/redeems/{id}/evidence/links,
  DELETE /gifts/history/redeems/{id}/evidence/links, GET /evidence/{token},
  GET /gifts/campaigns, GET /organization/holds, GET /organization/provider-status,
  GET /gifts/claim-challenge, GET /gifts/claim/{code}, POST /gifts/claim/{code}/wallet, POST /gifts/claim/{code}/wallet/options, POST /gifts/claim/{code}/wallet/prepare,
  GET /recipient, DELETE /recipient, POST /recipient/passkeys, POST /recipient/passkeys/challenge,
  POST /recipient/recovery-code, POST /recipient/sign-in, POST /recipient/sign-in/challenge,
  POST /gifts/claim/{code}/redeem, GET /gifts/claim/{code}/status/{redeemId},
  GET /organization, GET /organization/ledger, POST /organization/deposits, GET /config,
  GET /sku-purchases, POST /sku-purchases/{id}/cancel, POST /sku-purchases/{id}/refund, GET /organization/settings,
  GET /organization/sponsorship, PATCH /organization/sponsorship,
  PATCH /organization/settings, GET /organization/keys, POST /organization/keys, DELETE /organization/keys/{id},
  GET /organization/skus, POST /organization/skus, PATCH /organization/skus/{id}, DELETE /organization/skus/{id},
  GET /organization/audit-log, POST /organization/webhooks, GET /organization/webhooks,
  GET /organization/webhooks/{id}, PATCH /organization/webhooks/{id}, DELETE /organization/webhooks/{id},
  POST /organization/webhooks/{id}/rotate-secret, POST /organization/webhooks/{id}/test,
  POST /organization/webhooks/{id}/replay, GET /organization/webhooks/{id}/deliveries,
  GET /organization/webhooks/{id}/deliveries/{deliveryId}, GET /organization/events, GET /organization/events/stream,
  GET /session, PATCH /session, DELETE /session, POST /session/organization, GET /session/sessions,
  DELETE /session/sessions, DELETE /session/sessions/{id}, POST /session/mail-links, POST /session/mail-links/redeem,
  POST /session/development, POST /session/passkeys/options, POST /session/passkeys/verify,
  GET /session/passkeys/own, POST /session/passkeys/own/options, POST /session/passkeys/own,
  DELETE /session/passkeys/own/{id}, GET /organization/members, POST /organization/members,
  PATCH /organization/members/{id}, DELETE /organization/members/{id},
  GET /operator/health, GET /operator/doctor, GET /operator/organizations, POST /operator/organizations, GET /operator/organizations/{id},
  POST /operator/organizations/{id}/{environment}/keys, DELETE /operator/organizations/{id}/keys/{keyId},
  GET /operator/organizations/{id}/{environment}/sponsorship,
  PATCH /operator/organizations/{id}/{environment}/sponsorship, GET /operator/accounts, GET /operator/reconcile,
  POST /operator/reconcile, POST /operator/reconcile/match, POST /operator/reconcile/accept, GET /operator/relays,
  GET /operator/stuck, POST /operator/redeems/{id}/resume, POST /operator/solana-transfers/{id}/resume,
  POST /solana-transfers/quote, POST /solana-transfers, GET /solana-transfers, GET /solana-transfers/{id}, POST /operator/purchases/{id}/complete,
  POST /operator/purchases/{id}/fail, POST /operator/purchases/{id}/cancel, GET /operator/jobs,
  POST /operator/jobs/{id}/retry, GET /operator/audit-log`;

describe('the OpenAPI document', () => {
  it('is version 3.1 of the format and 14.0.0 of the interface', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('14.0.0');
  });

  it('has every endpoint of the interface and no other', () => {
    const wanted = INTERFACE.split(',').map((line) => line.trim());
    const found = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(found.sort()).toEqual(wanted.sort());
  });

  it('resolves every reference it makes', () => {
    const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
    const names = new Set([...references].map(([, name]) => name));
    expect(names.size).toBeGreaterThan(20);
    for (const name of names) expect(document.components.schemas).toHaveProperty([String(name)]);
  });

  it('gives every keyed operation 401 and 429, and every planned one 501', () => {
    for (const endpoint of allEndpoints) {
      const operation = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
      const statuses = Object.keys(operation?.responses ?? {});
      if (endpoint.access !== 'none' && endpoint.access !== 'sign-in')
        expect(statuses, endpoint.operationId).toEqual(expect.arrayContaining(['401', '429']));
      expect(statuses.includes('501'), endpoint.operationId).toBe(endpoint.planned === true);
    }
  });

  it('asks for no credentials on the claim endpoints, shared evidence and to sign in, alone', () => {
    const signIn = allEndpoints.filter(({ access }) => access === 'sign-in').map(({ operationId }) => operationId);
    const open = operations.filter(
      ({ operation }) => operation.security.length === 0 && !signIn.includes(operation.operationId),
    );
    expect(open.map(({ path }) => path).sort()).toEqual([
      '/evidence/{token}',
      '/gifts/claim-challenge',
      '/gifts/claim/{code}',
      '/gifts/claim/{code}/redeem',
      '/gifts/claim/{code}/status/{redeemId}',
    ]);
  });

  it('shows an example of every body and every answer', () => {
    const contents = operations.flatMap(({ operation }) => [
      ...(operation.requestBody ? [operation.requestBody] : []),
      ...Object.values(operation.responses),
    ]);
    expect(contents.length).toBeGreaterThan(100);
    for (const { content } of contents)
      expect(Object.values(content)).toEqual([expect.objectContaining({ example: expect.anything() })]);
  });

  it('wants a body where something in it is needed: a field, or a change', () => {
    const bodied = operations.filter(({ operation }) => operation.requestBody);
    const free = bodied.filter(({ operation }) => !operation.requestBody?.required);
    const names = free.map(({ operation }) => operation.operationId);
    expect(names).toContain('rotateWebhookSecret');
    expect(bodied.length).toBeGreaterThan(names.length);
    for (const { method } of free) expect(method).toBe('post');
    const needed = Object.values(endpoints).filter(({ operationId }) => names.includes(operationId));
    for (const { body } of needed as { body?: { required?: string[] } }[]) expect(body?.required ?? []).toEqual([]);
  });

  it('names operations as the endpoint table does', () => {
    for (const [name, endpoint] of Object.entries(endpoints)) expect(endpoint.operationId).toBe(name);
  });

  it('explains every error of the catalogue somewhere', () => {
    const used = new Set(
      allEndpoints.flatMap((endpoint) => errorsOf(endpoint)).map((use) => (typeof use === 'string' ? use : use.code)),
    );
    // Unknown routes belong to no endpoint, and no endpoint may be planned.
    // Sessions in front of endpoints for keys are described once.
    const ofSessions = ['role_not_sufficient', 'environment_required', 'public_key_required', 'operator_required'];
    const elsewhere = ['not_found', 'method_not_allowed', 'not_implemented', ...ofSessions];
    expect([...new Set([...used, ...elsewhere])].sort()).toEqual(Object.keys(catalogue).sort());
  });
});

describe('the examples of the schemas', () => {
  const ajv = new Ajv({ strict: true });
  addFormatsModule.default(ajv, ['date-time', 'email']);
  const withExamples = allEndpoints.flatMap((endpoint) =>
    [endpoint.body, ...Object.values(endpoint.answers)]
      .filter((schema): schema is TSchema & { examples: unknown[] } => schema !== undefined && 'examples' in schema)
      .map((schema) => [endpoint.operationId, schema] as const),
  );

  it.each(withExamples)('of %s fit their own schema', (_, schema) => {
    for (const example of schema.examples) expect(ajv.validate(schema, example), ajv.errorsText()).toBe(true);
  });
});
