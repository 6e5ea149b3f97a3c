import { type Static, Type } from 'typebox';
import { environments, roles } from '../enums.ts';
import { CursorPage, cursorQuery, Identifier, Nullable, OneOf, Timestamp } from './common.ts';
import { AuditEntry, StrkAmount, sponsorshipLimits } from './settings.ts';

const ORGANIZATION_ID = 'org_01kxw8yy1c9f4n0v8d2b6h3k5m';
const MOMENT = '2026-11-02T18:20:11.000Z';
const EnvironmentName = OneOf(environments);
const Usd = () => Type.Number({ description: 'In US dollars' });
const Count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) });

const environmentUse = Type.Object({
  availableUsd: Usd(),
  heldUsd: Usd(),
  wallets: Count(),
  lastActivityAt: Nullable(Timestamp()),
});
const organizationFields = {
  id: Type.String(),
  name: Type.String(),
  members: Count('Those who have accepted their invitation'),
  production: environmentUse,
  development: environmentUse,
  createdAt: Timestamp(),
};
const USE = { availableUsd: 1_250.5, heldUsd: 40, wallets: 31, lastActivityAt: MOMENT };
const UNUSED = { availableUsd: 0, heldUsd: 0, wallets: 0, lastActivityAt: null };
const ORGANIZATION = {
  id: ORGANIZATION_ID,
  name: 'Tienda Azul',
  members: 3,
  production: USE,
  development: UNUSED,
  createdAt: MOMENT,
};
export const OperatorOrganization = Type.Object(organizationFields, {
  title: 'OperatorOrganization',
  examples: [ORGANIZATION],
});
export type OperatorOrganization = Static<typeof OperatorOrganization>;
export const OperatorOrganizationPage = CursorPage(OperatorOrganization, 'OperatorOrganizationPage');
export const OperatorOrganizationQuery = Type.Object({
  ...cursorQuery,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: "Part of the name, the id, or a member's e-mail address",
    }),
  ),
});
export const CreateOrganization = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      description: 'What its members and mails call it',
    }),
    ownerEmail: Type.Optional(
      Type.String({ format: 'email', maxLength: 254, description: 'Is invited as its first owner' }),
    ),
  },
  { examples: [{ name: 'Tienda Azul', ownerEmail: 'ana@tienda.example' }] },
);

const operatorKey = Type.Object({
  id: Type.String(),
  environment: EnvironmentName,
  kind: OneOf(['public', 'secret']),
  key: Type.String({ description: 'A public key whole; of a secret key the beginning and the last four characters' }),
  createdAt: Timestamp(),
  revokedAt: Nullable(Timestamp()),
});
const operatorMember = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: OneOf(roles),
  joinedAt: Nullable(Timestamp()),
});
export const OperatorOrganizationDetail = Type.Object(
  {
    ...organizationFields,
    keys: Type.Array(operatorKey, { description: 'The newest 100, of both environments' }),
    people: Type.Array(operatorMember, { description: 'Members and those who are invited, 100 at most' }),
    invitationUrl: Nullable(
      Type.String({
        description: 'In the answer that invites, where the deployment sends no mail: the link to hand over',
      }),
    ),
  },
  {
    title: 'OperatorOrganizationDetail',
    examples: [
      {
        ...ORGANIZATION,
        keys: [
          {
            id: 'key_01kxw9h4j5k6m7n8p9q0r1s2t3',
            environment: 'production',
            kind: 'secret',
            key: 'sk_prod_…x4Qz',
            createdAt: MOMENT,
            revokedAt: null,
          },
        ],
        people: [
          {
            id: 'mem_01kxw9h4j5k6m7n8p9q0r1s2t3',
            email: 'ana@tienda.example',
            name: 'Ana',
            role: 'OWNER',
            joinedAt: MOMENT,
          },
        ],
        invitationUrl: null,
      },
    ],
  },
);
export type OperatorOrganizationDetail = Static<typeof OperatorOrganizationDetail>;
export const OrganizationParams = Type.Object({ id: Identifier('Identifier of the organisation') });
export const EnvironmentParams = Type.Object({
  id: Identifier('Identifier of the organisation'),
  environment: EnvironmentName,
});
export const OrganizationKeyParams = Type.Object({
  id: Identifier('Identifier of the organisation'),
  keyId: Identifier('Identifier of the key'),
});
export const IssuedKeys = Type.Object(
  {
    publicKey: Type.String(),
    secretKey: Nullable(Type.String({ description: 'Shown this once' })),
  },
  { title: 'IssuedKeys', examples: [{ publicKey: 'pk_prod_…', secretKey: 'sk_prod_…' }] },
);
export const UpdateOperatorSponsorship = Type.Partial(
  Type.Object({
    maxDailyStrk: Nullable(StrkAmount('Gas of this environment in a day: the organisation cannot go above it')),
    ...sponsorshipLimits,
  }),
  { minProperties: 1, examples: [{ maxDailyStrk: '2000' }] },
);

export const OperatorJobs = Type.Object(
  {
    tasks: Type.Array(
      Type.Object({
        task: Type.String(),
        waiting: Count('Due, and not begun'),
        scheduled: Count('For later'),
        running: Count(),
        failed: Count('Used up their attempts'),
        oldestWaitingSeconds: Type.Number(),
      }),
    ),
    failed: Type.Array(
      Type.Object({
        id: Type.String(),
        task: Type.String(),
        organizationId: Nullable(Type.String()),
        attempts: Count(),
        lastError: Nullable(Type.String()),
        createdAt: Timestamp(),
        failedAt: Timestamp(),
      }),
      { description: 'Those that used up their attempts, newest first; 100 at most' },
    ),
  },
  {
    title: 'OperatorJobs',
    examples: [
      {
        tasks: [{ task: 'send-mail', waiting: 2, scheduled: 0, running: 1, failed: 1, oldestWaitingSeconds: 1.4 }],
        failed: [
          {
            id: '20331',
            task: 'send-mail',
            organizationId: ORGANIZATION_ID,
            attempts: 25,
            lastError: 'connect ECONNREFUSED',
            createdAt: MOMENT,
            failedAt: MOMENT,
          },
        ],
      },
    ],
  },
);
export type OperatorJobs = Static<typeof OperatorJobs>;
export const JobParams = Type.Object({
  id: Type.String({ pattern: '^\\d{1,18}$', description: 'Identifier of the job' }),
});

export const OperatorHealth = Type.Object(
  {
    status: OneOf(['ok', 'unavailable'], { description: 'As /readyz says' }),
    version: Type.String(),
    role: OneOf(['all', 'api', 'worker']),
    startedAt: Timestamp(),
    uptimeSeconds: Type.Number(),
    checks: Type.Array(
      Type.Object({
        name: Type.String(),
        word: Type.String({ description: 'As /readyz says' }),
        level: OneOf(['ok', 'warning', 'failing'], { description: 'failing: the process is not ready' }),
      }),
    ),
    database: Type.Object({
      version: Type.String(),
      sizeBytes: Type.Number(),
      connections: Type.Object({ busy: Count(), idle: Count(), waiting: Count('Requests without one') }),
    }),
    disk: Type.Array(Type.Object({ folder: Type.String(), freeBytes: Type.Number(), totalBytes: Type.Number() }), {
      description: 'Where this process writes',
    }),
    attention: Type.Object(
      {
        unreconciled: Count('Transactions of accounts that the database does not know: payments are stopped'),
        lowAccounts: Count('Accounts that need STRK or USDC, as last seen'),
        stuckRedeems: Count(),
        stuckSolanaTransfers: Count(),
        stuckPurchases: Count(),
        failedJobs: Count(),
        openRelays: Count(),
        oldestRelaySeconds: Type.Number(),
      },
      { description: 'What the operator looks at first' },
    ),
  },
  {
    title: 'OperatorHealth',
    examples: [
      {
        status: 'ok',
        version: '0.1.0',
        role: 'all',
        startedAt: MOMENT,
        uptimeSeconds: 86_400,
        checks: [{ name: 'database', word: 'ok', level: 'ok' }],
        database: { version: '18.1', sizeBytes: 52_428_800, connections: { busy: 1, idle: 3, waiting: 0 } },
        disk: [{ folder: '.svc', freeBytes: 120_000_000_000, totalBytes: 250_000_000_000 }],
        attention: {
          unreconciled: 0,
          lowAccounts: 0,
          stuckRedeems: 0,
          stuckSolanaTransfers: 0,
          stuckPurchases: 0,
          failedJobs: 0,
          openRelays: 2,
          oldestRelaySeconds: 4,
        },
      },
    ],
  },
);
export type OperatorHealth = Static<typeof OperatorHealth>;

const CheckState = OneOf(['ok', 'warning', 'failing']);

export const DoctorReport = Type.Object(
  {
    status: OneOf(['ok', 'warning', 'failing'], { description: 'The worst state of the checks' }),
    checks: Type.Array(
      Type.Object({
        name: Type.String(),
        state: CheckState,
        found: Type.String({ description: 'In words, for people' }),
        fix: Nullable(Type.String({ description: 'What to do; null where all is well' })),
      }),
    ),
  },
  {
    title: 'DoctorReport',
    examples: [
      {
        status: 'warning',
        checks: [
          { name: 'clock', state: 'ok', found: "0.0 s from the database's", fix: null },
          {
            name: 'mail',
            state: 'warning',
            found: 'no mail server',
            fix: 'Set SMTP_URL and MAIL_FROM: until then no mail is sent.',
          },
        ],
      },
    ],
  },
);
export type DoctorReport = Static<typeof DoctorReport>;

export const OperatorAuditPage = CursorPage(
  Type.Object(
    { ...AuditEntry.properties, environment: EnvironmentName },
    {
      title: 'OperatorAuditEntry',
      examples: [
        {
          id: 'aud_01kxw9h4j5k6m7n8p9q0r1s2t3',
          action: 'job.retried',
          target: '20331',
          actor: 'operator:eva@svc.example',
          actorName: null,
          changes: { task: 'send-mail' },
          createdAt: MOMENT,
          environment: 'production',
        },
      ],
    },
  ),
  'OperatorAuditPage',
);
export const OperatorAuditQuery = Type.Object(cursorQuery);
