import { type Static, Type } from 'typebox';
import { environments, memberStates, roles } from '../enums.ts';
import { Identifier, Nullable, OneOf, Timestamp } from './common.ts';

const EMAIL = 'ana@tienda.example';
const Email = (description: string) => Type.String({ format: 'email', maxLength: 254, description });
const RoleName = OneOf(roles);
const OrganizationName = Type.Object({ id: Type.String(), name: Type.String() });

/** 32 random bytes in base64url. */
const LinkToken = Type.String({ minLength: 20, maxLength: 100, description: 'The last part of the link' });
const TOKEN = 'kX2vQe0mTz7cBq4nLw9sRy1uFh6gJd3aPo8iVt5bWxY';

export const CurrentSession = Type.Object(
  {
    id: Type.String({ description: 'Identifier of the session' }),
    member: Type.Object({
      id: Nullable(Type.String({ description: 'Of the membership; null without an organisation' })),
      email: Type.String(),
      name: Type.String({ description: 'Empty until the person gives one' }),
      role: Nullable(RoleName),
    }),
    organization: Nullable(OrganizationName),
    organizations: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), role: RoleName }), {
      description: 'All that the person can switch to',
    }),
    isOperator: Type.Boolean({ description: 'Whether the person operates the deployment' }),
    environments: Type.Array(
      Type.Object({
        name: OneOf(environments),
        isConfigured: Type.Boolean({ description: 'Whether this deployment has a chain for it' }),
      }),
    ),
    expiresAt: Timestamp(),
  },
  {
    title: 'CurrentSession',
    examples: [
      {
        id: 'ses_01kxw9h4j5k6m7n8p9q0r1s2t3',
        member: { id: 'mem_01kxw9h4j5k6m7n8p9q0r1s2t3', email: EMAIL, name: 'Ana', role: 'OWNER' },
        organization: { id: 'org_01kxw8yy1c9f4n0v8d2b6h3k5m', name: 'Tienda Azul' },
        organizations: [{ id: 'org_01kxw8yy1c9f4n0v8d2b6h3k5m', name: 'Tienda Azul', role: 'OWNER' }],
        isOperator: false,
        environments: [
          { name: 'production', isConfigured: true },
          { name: 'development', isConfigured: true },
        ],
        expiresAt: '2026-12-02T18:20:11.000Z',
      },
    ],
  },
);
export type CurrentSession = Static<typeof CurrentSession>;

export const UpdateSession = Type.Object({ name: Type.String({ maxLength: 100 }) }, { examples: [{ name: 'Ana' }] });

export const OwnSession = Type.Object(
  {
    id: Type.String(),
    isCurrent: Type.Boolean({ description: 'Whether this request was made with it' }),
    userAgent: Type.String({ description: 'The browser as it named itself, shortened' }),
    createdAt: Timestamp(),
    lastSeenAt: Timestamp(),
    expiresAt: Timestamp(),
  },
  {
    title: 'OwnSession',
    examples: [
      {
        id: 'ses_01kxw9h4j5k6m7n8p9q0r1s2t3',
        isCurrent: true,
        userAgent: 'Mozilla/5.0 (Macintosh) Firefox/145.0',
        createdAt: '2026-11-02T18:20:11.000Z',
        lastSeenAt: '2026-11-03T08:02:45.000Z',
        expiresAt: '2026-12-02T18:20:11.000Z',
      },
    ],
  },
);
export type OwnSession = Static<typeof OwnSession>;
export const OwnSessionList = Type.Object({ data: Type.Array(OwnSession) }, { title: 'OwnSessionList' });
export const SessionParams = Type.Object({ id: Identifier('Identifier of the session') });
export const SwitchOrganization = Type.Object(
  { organizationId: Identifier('One of your organisations') },
  { examples: [{ organizationId: 'org_01kxw8yy1c9f4n0v8d2b6h3k5m' }] },
);

export const RequestMailLink = Type.Object(
  { email: Email('Where the link is sent, if a member has this address') },
  { examples: [{ email: EMAIL }] },
);
export const RedeemMailLink = Type.Object(
  {
    token: LinkToken,
    name: Type.Optional(Type.String({ maxLength: 100, description: 'Your name, for a new member' })),
  },
  { examples: [{ token: TOKEN }] },
);
export const DevelopmentLink = Type.Object(
  { path: Type.String({ description: 'Below the address of the service' }), expiresAt: Timestamp() },
  {
    title: 'DevelopmentLink',
    examples: [{ path: `/dashboard/sign-in/${TOKEN}`, expiresAt: '2026-11-02T18:35:11.000Z' }],
  },
);

/** Of the WebAuthn API in JSON, as browsers give it. */
export const WebAuthnJson = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const transports = ['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
const Challenge = Type.String({ description: 'Works once, for five minutes' });
const Required = OneOf(['required']);

/** What the browser's WebAuthn interface takes, in JSON. */
export const PasskeyOptions = Type.Object(
  {
    options: Type.Object({
      challenge: Challenge,
      rpId: Type.String({ description: 'The host name that passkeys are bound to' }),
      timeout: Type.Integer({ description: 'Milliseconds' }),
      userVerification: Required,
    }),
  },
  {
    title: 'PasskeyOptions',
    examples: [{ options: { challenge: TOKEN, rpId: 'svc.example', timeout: 60_000, userVerification: 'required' } }],
  },
);
export const NewPasskeyOptions = Type.Object(
  {
    options: Type.Object({
      challenge: Challenge,
      rp: Type.Object({ id: Type.String(), name: Type.String() }),
      user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
      pubKeyCredParams: Type.Array(Type.Object({ type: OneOf(['public-key']), alg: Type.Integer() })),
      timeout: Type.Integer({ description: 'Milliseconds' }),
      attestation: OneOf(['none']),
      excludeCredentials: Type.Array(
        Type.Object({
          id: Type.String(),
          type: OneOf(['public-key']),
          transports: Type.Array(OneOf(transports)),
        }),
        { description: 'Your passkeys: a device has one of them at most' },
      ),
      authenticatorSelection: Type.Object({ residentKey: Required, userVerification: Required }),
    }),
  },
  {
    title: 'NewPasskeyOptions',
    examples: [
      {
        options: {
          challenge: TOKEN,
          rp: { id: 'svc.example', name: 'svc' },
          user: { id: 'cGVyXzE', name: EMAIL, displayName: 'Ana' },
          pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
          timeout: 60_000,
          attestation: 'none',
          excludeCredentials: [],
          authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        },
      },
    ],
  },
);
export type PasskeyOptions = Static<typeof PasskeyOptions>['options'];
export type NewPasskeyOptions = Static<typeof NewPasskeyOptions>['options'];
const CREDENTIAL = { id: 'AQIDBA', rawId: 'AQIDBA', type: 'public-key', response: {}, clientExtensionResults: {} };
export const VerifyPasskey = Type.Object(
  { response: WebAuthnJson("What the browser's WebAuthn interface answered, in JSON") },
  { examples: [{ response: CREDENTIAL }] },
);
export const RegisterPasskey = Type.Object(
  {
    response: WebAuthnJson("What the browser's WebAuthn interface answered, in JSON"),
    name: Type.String({ minLength: 1, maxLength: 100, description: 'To tell it apart from others' }),
  },
  { examples: [{ response: CREDENTIAL, name: 'Laptop' }] },
);
export const Passkey = Type.Object(
  { id: Type.String(), name: Type.String(), createdAt: Timestamp(), lastUsedAt: Nullable(Timestamp()) },
  {
    title: 'Passkey',
    examples: [
      {
        id: 'pky_01kxw9h4j5k6m7n8p9q0r1s2t3',
        name: 'Laptop',
        createdAt: '2026-11-02T18:20:11.000Z',
        lastUsedAt: '2026-11-03T08:02:45.000Z',
      },
    ],
  },
);
export type Passkey = Static<typeof Passkey>;
export const PasskeyList = Type.Object({ data: Type.Array(Passkey) }, { title: 'PasskeyList' });
export const PasskeyParams = Type.Object({ id: Identifier('Identifier of the passkey') });

const memberFields = {
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: RoleName,
  state: OneOf(memberStates, { description: 'INVITED until the link of the invitation is used' }),
  createdAt: Timestamp(),
  lastSeenAt: Nullable(Timestamp()),
};
const MEMBER = {
  id: 'mem_01kxw9h4j5k6m7n8p9q0r1s2t3',
  email: EMAIL,
  name: 'Ana',
  role: 'DEVELOPER',
  state: 'ACTIVE',
  createdAt: '2026-11-02T18:20:11.000Z',
  lastSeenAt: '2026-11-03T08:02:45.000Z',
};
export const Member = Type.Object(memberFields, { title: 'Member', examples: [MEMBER] });
export type Member = Static<typeof Member>;
export const MemberList = Type.Object({ data: Type.Array(Member) }, { title: 'MemberList' });
export const InviteMember = Type.Object(
  { email: Email('Where the invitation is sent'), role: RoleName },
  { examples: [{ email: EMAIL, role: 'VIEWER' }] },
);
export const UpdateMember = Type.Object({ role: RoleName }, { examples: [{ role: 'DEVELOPER' }] });
export const MemberParams = Type.Object({ id: Identifier('Identifier of the member') });
