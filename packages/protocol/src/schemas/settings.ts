import { type Static, Type } from 'typebox';
import { environments, keyKinds } from '../enums.ts';
import { AddressText, ExternalUserId, Identifier, Nullable, OneOf, Page, pageQuery, Timestamp } from './common.ts';
import { Sku, skuFields } from './sku.ts';

const settingFields = {
  notificationEmail: Nullable(
    Type.String({ format: 'email', maxLength: 254, description: 'Hears of purchases that have ended' }),
  ),
  jwksUrl: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: "Where the keys of your users' tokens are; the word sandbox means the development identity provider",
    }),
  ),
  jwtIssuer: Nullable(Type.String({ minLength: 1, maxLength: 2000, description: 'What iss must be' })),
  jwtAudience: Nullable(Type.String({ minLength: 1, maxLength: 2000, description: 'What aud must contain' })),
  jwtUserClaim: Type.String({ minLength: 1, maxLength: 200, description: 'The claim that is the externalUserId' }),
  giftsNeedSecretKey: Type.Boolean({
    description: 'Whether gifts are managed with the secret key only; on in production unless you switch it off',
  }),
  publicKeyGiftsDailyUsd: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'How much the gifts that are created with the public key alone may pay out, per UTC day; null: no limit',
    }),
  ),
  recipientWallets: Type.Boolean({
    description: 'Whether the claim page makes a wallet for recipients who have none. Wallets that exist go on',
  }),
  recipientAppUrl: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'Where recipients without a wallet are sent instead: your own app, by https',
    }),
  ),
};

export const Settings = Type.Object(
  { environment: OneOf(environments), ...settingFields, updatedAt: Timestamp() },
  {
    title: 'Settings',
    examples: [
      {
        environment: 'production',
        notificationEmail: 'ventas@tienda.example',
        jwksUrl: 'https://id.tienda.example/.well-known/jwks.json',
        jwtIssuer: 'https://id.tienda.example',
        jwtAudience: null,
        jwtUserClaim: 'sub',
        giftsNeedSecretKey: true,
        publicKeyGiftsDailyUsd: 100,
        recipientWallets: true,
        recipientAppUrl: null,
        updatedAt: '2026-11-02T18:20:11.000Z',
      },
    ],
  },
);
export type Settings = Static<typeof Settings>;
export const UpdateSettings = Type.Partial(Type.Object(settingFields), {
  minProperties: 1,
  examples: [{ notificationEmail: 'ventas@tienda.example' }],
});

const STEP_NAMES = [
  'format',
  'algorithm',
  'key set',
  'key',
  'signature',
  'expiry',
  'not before',
  'issuer',
  'audience',
  'user claim',
] as const;
const MAX_TOKEN_LENGTH = 16_384;

export const CheckToken = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: MAX_TOKEN_LENGTH, description: 'As your app would send it' }) },
  { examples: [{ token: 'eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJ1c2VyLTEyMyJ9.MEUCIQ' }] },
);
const TokenStep = Type.Object({
  step: OneOf(STEP_NAMES),
  result: OneOf(['passed', 'failed', 'skipped'], {
    description: 'skipped: not checked with these settings, or after a failure',
  }),
  detail: Type.String({ description: 'What was found, or what is wrong' }),
});
export const CheckedToken = Type.Object(
  {
    valid: Type.Boolean(),
    externalUserId: Nullable(Type.String({ description: 'Whose token it is, where it is valid' })),
    steps: Type.Array(TokenStep, { description: 'In order; at most one has failed' }),
  },
  {
    title: 'CheckedToken',
    examples: [
      {
        valid: false,
        externalUserId: null,
        steps: [
          { step: 'format', result: 'passed', detail: 'A signed token with header and claims.' },
          { step: 'algorithm', result: 'failed', detail: 'HS256 is not one of RS256, PS256, ES256, ES384, EdDSA.' },
        ],
      },
    ],
  },
);
export type CheckedToken = Static<typeof CheckedToken>;
export type TokenStepName = (typeof STEP_NAMES)[number];

export const StrkAmount = (description: string) =>
  Type.String({ pattern: '^\\d{1,12}(\\.\\d{1,18})?$', maxLength: 31, description: `${description}, in STRK` });
const MAX_COUNT = 1_000_000_000;
const MAX_ALLOWED = 200;
export const sponsorshipLimits = {
  dailyStrk: Nullable(StrkAmount('Gas of this environment in a day, at most maxDailyStrk')),
  userDailyStrk: Nullable(StrkAmount('Gas of one user in a day')),
  userDailyTransactions: Nullable(
    Type.Integer({
      minimum: 0,
      maximum: MAX_COUNT,
      description: 'Sponsored transactions of one user in a day, wallets included',
    }),
  ),
  userDailyWallets: Nullable(
    Type.Integer({ minimum: 0, maximum: MAX_COUNT, description: 'Wallets that one user may create in a day' }),
  ),
  allowedContracts: Nullable(
    Type.Array(AddressText('Address of a contract'), {
      maxItems: MAX_ALLOWED,
      description: "Contracts that sponsored calls may go to, besides the user's own wallet; null: all",
    }),
  ),
  allowedEntrypoints: Nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: MAX_ALLOWED,
      description: 'Functions that sponsored calls may name, by name or selector; null: all',
    }),
  ),
};
const useFields = {
  strk: Type.String({ description: 'Fees that were paid, and the most that transactions under way can cost' }),
  transactions: Type.Integer(),
  wallets: Type.Integer(),
};
export const Sponsorship = Type.Object(
  {
    environment: OneOf(environments),
    maxDailyStrk: Nullable(Type.String({ description: "The operator's limit for this environment; null: none" })),
    ...sponsorshipLimits,
    used: Type.Object({ ...useFields, day: Type.String({ description: 'In UTC' }) }),
    resetsAt: Timestamp(),
    isNearLimit: Type.Boolean({ description: 'Whether 80 % or more of dailyStrk is used' }),
    user: Nullable(
      Type.Object({
        externalUserId: Type.String(),
        ...useFields,
        reverts: Type.Integer({ description: 'Transactions of today that reverted after a good estimate' }),
        slowedUntil: Nullable(Timestamp()),
      }),
    ),
  },
  {
    title: 'Sponsorship',
    examples: [
      {
        environment: 'production',
        maxDailyStrk: '500',
        dailyStrk: '500',
        userDailyStrk: '20',
        userDailyTransactions: 200,
        userDailyWallets: 5,
        allowedContracts: null,
        allowedEntrypoints: ['transfer'],
        used: { strk: '1.25', transactions: 31, wallets: 2, day: '2026-11-17' },
        resetsAt: '2026-11-18T00:00:00.000Z',
        isNearLimit: false,
        user: null,
      },
    ],
  },
);
export type Sponsorship = Static<typeof Sponsorship>;
export const SponsorshipQuery = Type.Object({
  externalUserId: Type.Optional(ExternalUserId('Shows the use of this user as user')),
});
export const UpdateSponsorship = Type.Partial(Type.Object(sponsorshipLimits), {
  minProperties: 1,
  examples: [{ userDailyStrk: '2.5', allowedEntrypoints: ['transfer'] }],
});

const keyFields = {
  id: Type.String(),
  kind: OneOf(keyKinds),
  key: Type.String({ description: 'A public key whole; of a secret key the beginning and the last four characters' }),
  createdAt: Timestamp(),
  revokedAt: Nullable(Timestamp()),
};
const KEY = {
  id: 'key_01kxw9h4j5k6m7n8p9q0r1s2t3',
  kind: 'secret',
  key: 'sk_prod_…x4Qz',
  createdAt: '2026-11-02T18:20:11.000Z',
  revokedAt: null,
};
export const ApiKey = Type.Object(keyFields, { title: 'ApiKey', examples: [KEY] });
export type ApiKey = Static<typeof ApiKey>;
export const ApiKeyPage = Page(ApiKey, 'ApiKeyPage');
export const ApiKeyQuery = Type.Object(pageQuery);
export const CreateApiKey = Type.Object({ kind: OneOf(keyKinds) }, { examples: [{ kind: 'secret' }] });
export const CreatedApiKey = Type.Object(
  {
    ...keyFields,
    secretKey: Nullable(Type.String({ description: 'Of a secret key: the whole key, shown this once' })),
  },
  { title: 'CreatedApiKey', examples: [{ ...KEY, secretKey: 'sk_prod_…' }] },
);
export const KeyParams = Type.Object({ id: Identifier('Identifier of the key') });

const OWN_SKU = {
  id: 'agua-municipal',
  providerId: 'agua-mx',
  name: 'Recibo de agua',
  category: 'GENERAL',
  referenceRegexValidation: '^[0-9]{12}$',
  referenceLabel: 'Número de cuenta a 12 dígitos',
  amountRegexValidation: '^[1-9][0-9]{1,4}(\\.[0-9]{1,2})?$',
  amountLabel: 'Importe del recibo',
  currency: 'MXN',
  canCheckSkuReference: true,
};
export const OfferedSku = Type.Object(
  {
    ...Sku.properties,
    isOwn: Type.Boolean({ description: "Whether it is your own; others are the deployment's" }),
    isOffered: Type.Boolean({ description: 'Whether your users see it and can buy it' }),
  },
  { title: 'OfferedSku', examples: [{ ...OWN_SKU, isOwn: true, isOffered: true }] },
);
export type OfferedSku = Static<typeof OfferedSku>;
export const OfferedSkuPage = Page(OfferedSku, 'OfferedSkuPage');
export const OfferedSkuQuery = Type.Object(pageQuery);
export const CreateOwnSku = Type.Object(
  { ...skuFields, isOffered: Type.Optional(Type.Boolean({ default: true })) },
  { examples: [OWN_SKU] },
);
const { id: _, ...changeable } = skuFields;
export const UpdateOwnSku = Type.Partial(
  Type.Object({
    ...changeable,
    fixedAmount: Nullable(Type.Number({ exclusiveMinimum: 0, description: 'null for a variable amount' })),
    description: Nullable(Type.String({ maxLength: 2000 })),
    logoUrl: Nullable(Type.String({ maxLength: 2000 })),
    isOffered: Type.Boolean({ description: "All that can be changed of the deployment's services" }),
  }),
  { minProperties: 1, examples: [{ isOffered: false }] },
);
export const OwnSkuParams = Type.Object({ id: Identifier('Identifier of the service') });

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    action: Type.String({ description: 'Such as settings.updated, key.created or webhook.deleted' }),
    target: Nullable(Type.String({ description: 'What was changed' })),
    actor: Type.String({
      description:
        'The key or the member (member:<id>) that it was done with, operator, or service for what happens without a request',
    }),
    actorName: Nullable(Type.String({ description: 'The e-mail address of the member, where a member did it' })),
    changes: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'What holds now; never a secret such as the code of a gift, and of an address of a webhook the host alone',
    }),
    createdAt: Timestamp(),
  },
  {
    title: 'AuditEntry',
    examples: [
      {
        id: 'aud_01kxw9j5k6m7n8p9q0r1s2t3v4',
        action: 'settings.updated',
        target: null,
        actor: 'key_01kxw9h4j5k6m7n8p9q0r1s2t3',
        actorName: null,
        changes: { giftsNeedSecretKey: true },
        createdAt: '2026-11-02T18:20:11.000Z',
      },
    ],
  },
);
export type AuditEntry = Static<typeof AuditEntry>;
export const AuditPage = Page(AuditEntry, 'AuditPage');
export const AuditQuery = Type.Object(pageQuery);
