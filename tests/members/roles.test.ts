import { allEndpoints, type Endpoint, type Environment, type ErrorCode, type Role } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../support/app.ts';
import { type Reply, send } from '../support/client.ts';
import {
  builtEndpoints,
  type ExampleData,
  exampleOf,
  keyedEndpoints,
  prepareExampleData,
  sendExample,
  successOf,
} from '../support/examples.ts';
import { type SignedIn, signIn } from '../support/members.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let v1: string;
const members = {} as Record<Role, SignedIn>;
beforeAll(async () => {
  service = await TestService.shared();
  v1 = service.server.credentials.baseUrl;
  for (const role of ['VIEWER', 'DEVELOPER', 'OWNER'] as const) members[role] = await signIn(service, role);
});
afterAll(() => service.stop());

const unsafe = allEndpoints.filter(({ method, access }) => method !== 'GET' && access !== 'none');
const inOrganization = allEndpoints.filter(
  ({ access, role }) =>
    access !== 'none' && access !== 'sign-in' && access !== 'recipient' && (access !== 'session' || role !== undefined),
);
/** Admission comes before anything of the request is read, so it needs no body and no ids that exist. A stream ends at once. */
const call = ({ method, path }: Endpoint, headers: Record<string, string>): Promise<Reply> =>
  send(`${v1 + path.replace(/\{\w+\}/g, 'unknown')}${path.endsWith('/stream') ? '?seconds=0' : ''}`, {
    method,
    headers,
  });
const codeOf = ({ body }: Reply) => (body as { error?: ErrorCode } | undefined)?.error;

async function refusedBy(
  role: Role,
  endpoints: readonly Endpoint[],
  environment: Environment = 'development',
): Promise<string[]> {
  const headers = { ...members[role].headers, 'x-svc-environment': environment };
  const refused: string[] = [];
  for (const endpoint of endpoints) {
    const reply = await call(endpoint, headers);
    const code = codeOf(reply);
    if (code === 'role_not_sufficient' || code === 'operator_required') refused.push(endpoint.operationId);
    else if (reply.status === 401 || reply.status >= 500) refused.push(`${endpoint.operationId}: ${reply.text}`);
  }
  return refused.sort();
}

const namesOf = (endpoints: readonly Endpoint[]) => endpoints.map(({ operationId }) => operationId).sort();
const ofOperators = namesOf(allEndpoints.filter(({ access }) => access === 'operator'));
const ofOwners = ['inviteMember', 'updateMember', 'removeMember'];
const keyMaterial = ['getWalletByUser', 'listEncryptionHistory', 'recoverCredential'];

describe('a viewer', () => {
  it('changes nothing, in either environment', async () => {
    const changing = inOrganization.filter(({ method }) => method !== 'GET');
    for (const environment of ['development', 'production'] as const) {
      expect(await refusedBy('VIEWER', changing, environment)).toEqual(namesOf(changing));
    }
  });

  it('reads everything but key material and what is for operators', async () => {
    const reads = inOrganization.filter(({ method }) => method === 'GET');
    const operatorReads = namesOf(reads.filter(({ access }) => access === 'operator'));
    expect(await refusedBy('VIEWER', reads)).toEqual([...keyMaterial, ...operatorReads].sort());
  });
});

describe('a developer', () => {
  it('may do everything in development but manage members and brand', async () => {
    const refused = await refusedBy('DEVELOPER', inOrganization);
    const ownersOnly = inOrganization.filter(({ role }) => role === 'OWNER');
    expect(refused).toEqual([...namesOf(ownersOnly), ...ofOperators].sort());
    expect(refused).toEqual(expect.arrayContaining(ofOwners));
  });

  it('makes and revokes no keys of production', async () => {
    const refused = await refusedBy('DEVELOPER', inOrganization, 'production');
    expect(refused).toEqual(expect.arrayContaining(['createApiKey', 'revokeApiKey']));
  });
});

describe('an owner', () => {
  it('may do everything that is not for operators', async () => {
    expect(await refusedBy('OWNER', inOrganization)).toEqual(ofOperators);
    expect(await refusedBy('OWNER', inOrganization, 'production')).toEqual(ofOperators);
  });
});

describe('every endpoint that changes something', () => {
  const origins: [string, Record<string, string>][] = [
    ['another site', { origin: 'https://evil.example' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['no page', {}],
    ['another site by its fetch metadata', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the site', { 'sec-fetch-site': 'same-site' }],
  ];
  it.each(origins)('refuses a session from %s', async (_, origin) => {
    const { cookie, 'x-svc-environment': environment } = members.OWNER.headers;
    const passed: string[] = [];
    for (const endpoint of unsafe) {
      const reply = await call(endpoint, { cookie, 'x-svc-environment': environment, ...origin });
      if (codeOf(reply) !== 'origin_not_allowed') passed.push(`${endpoint.operationId}: ${reply.text}`);
    }
    expect(passed).toEqual([]);
  });

  it('is never opened to other origins with credentials', async () => {
    for (const { method, path } of [...unsafe, ...keyedEndpoints]) {
      const reply = await send(v1 + path.replace(/\{\w+\}/g, 'x'), {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': method },
      });
      expect(reply.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });
});

describe('with the data of an organisation', () => {
  let data: ExampleData;
  let organization: Organization;
  beforeAll(async () => {
    organization = await service.organization();
    await service.changeSettings(organization.id, { jwks_url: 'sandbox' });
    data = await prepareExampleData(service, { app: organization });
  }, 120_000);
  /** Services of the deployment, and what the chain says. */
  const ofEveryone = ['getSku', 'checkSkuReference', 'getTransactionStatus'];
  const guarded = builtEndpoints.filter(({ access }) => access !== 'none');

  it('the session of its owner opens every endpoint that keys open', async () => {
    const { headers } = await signIn(service, 'OWNER', { organizationId: organization.id });
    const refused: string[] = [];
    for (const endpoint of guarded) {
      const reply = await sendExample(v1, endpoint, headers, exampleOf(endpoint, data));
      if (reply.status !== successOf(endpoint)) refused.push(`${endpoint.operationId}: ${reply.text}`);
    }
    expect(refused).toEqual([]);
  }, 120_000);

  it("the session of another organisation's owner finds none of its ids", async () => {
    const { headers } = await signIn(service, 'OWNER');
    const found: string[] = [];
    for (const endpoint of guarded.filter(({ params, operationId }) => params && !ofEveryone.includes(operationId))) {
      const reply = await sendExample(v1, endpoint, headers, exampleOf(endpoint, data));
      if (reply.status !== 404) found.push(`${endpoint.operationId}: ${reply.status} ${reply.text}`);
    }
    expect(found).toEqual([]);
  });
});
