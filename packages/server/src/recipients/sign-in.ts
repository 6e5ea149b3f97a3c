import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { ApiError, type endpoints, type NewPasskeyOptions } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { Answer, Call } from '../http/call.ts';
import { CEREMONY_MS, type PasskeySite, required, verified, webauthn } from '../members/passkeys.ts';
import {
  issueToken,
  type RecipientDeps,
  type RecipientRow,
  recipientById,
  recipientByRecovery,
  requireRecipient,
  setRecovery,
  toRecipient,
} from './recipient.ts';

export interface SignInDeps extends RecipientDeps {
  /** Undefined where browsers have no passkeys for the address. */
  readonly passkeySite: PasskeySite | undefined;
  readonly challenges: RecipientChallenges;
}

const KEY_BYTES = 32;
const TIME_BYTES = 4;
const RANDOM_BYTES = 16;
const MAC_BYTES = 16;
const SIGN_IN_SECONDS = 300;
/** As long as the typed data that a new wallet's owner has signed: both are sent again after a lost answer. */
const REGISTRATION_SECONDS = 3_600;
const MAX_PASSKEYS = 10;
/** ES256, EdDSA, RS256. */
const ALGORITHMS = [-7, -8, -257];

interface OpenChallenge {
  readonly hash: Buffer;
  readonly expiresAt: Date;
}

/** Challenges carry their time and a MAC over their purpose, so asking for one stores nothing. */
export class RecipientChallenges {
  readonly #key: Uint8Array;
  readonly #now: () => number;

  constructor(deploymentKey: Uint8Array, now: () => number = Date.now) {
    this.#key = new Uint8Array(hkdfSync('sha256', deploymentKey, '', 'svc recipient challenges', KEY_BYTES));
    this.#now = now;
  }

  issue(purpose: string, seconds: number): string {
    const payload = Buffer.alloc(TIME_BYTES + RANDOM_BYTES);
    payload.writeUInt32BE(Math.floor(this.#now() / 1_000) + seconds);
    randomBytes(RANDOM_BYTES).copy(payload, TIME_BYTES);
    return Buffer.concat([payload, this.#mac(purpose, payload)]).toString('base64url');
  }

  /** Undefined for another purpose, after its time, or from elsewhere. */
  check(challenge: string, purpose: string): OpenChallenge | undefined {
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== TIME_BYTES + RANDOM_BYTES + MAC_BYTES) return undefined;
    const payload = bytes.subarray(0, TIME_BYTES + RANDOM_BYTES);
    if (!timingSafeEqual(bytes.subarray(payload.length), this.#mac(purpose, payload))) return undefined;
    const expiresAt = new Date(payload.readUInt32BE() * 1_000);
    return expiresAt.getTime() > this.#now() ? { hash: hash('sha256', bytes, 'buffer'), expiresAt } : undefined;
  }

  #mac(purpose: string, payload: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(`${purpose} `).update(payload).digest().subarray(0, MAC_BYTES);
  }
}

/** An answered challenge counts once. */
async function useChallenge(db: Db, open: OpenChallenge | undefined): Promise<void> {
  const used =
    open &&
    (await db.run(sql`
      insert into used_challenges (challenge_hash, expires_at) values (${open.hash}, ${open.expiresAt})
      on conflict do nothing`));
  if (used !== 1) throw new ApiError('invalid_passkey');
}

export const deleteUsedChallenges = (db: Db): Promise<number> =>
  db.run(sql`delete from used_challenges where expires_at < now()`);

const SIGN_IN = 'sign-in';
export const ofGift = (giftId: string): string => `gift ${giftId}`;
const ofRecipient = (id: string): string => `recipient ${id}`;

export function createRecipientChallenge({
  challenges,
  passkeySite,
}: SignInDeps): Answer<typeof endpoints.createRecipientChallenge> {
  const { rpId } = required(passkeySite);
  const challenge = challenges.issue(SIGN_IN, SIGN_IN_SECONDS);
  return { options: { challenge, rpId, timeout: CEREMONY_MS, userVerification: 'required' } };
}

type SignIn = typeof endpoints.signInRecipient;

export async function signInRecipient(deps: SignInDeps, { body }: Pick<Call<SignIn>, 'body'>): Promise<Answer<SignIn>> {
  if ((body.passkey === undefined) === (body.recoverySecret === undefined)) {
    throw new ApiError('invalid_request', 'Send either body.passkey or body.recoverySecret.');
  }
  const row =
    body.recoverySecret === undefined
      ? await verifySignIn(deps, body.passkey)
      : await recipientByRecovery(deps.db.reads, hashRecovery(body.recoverySecret));
  if (!row) throw new ApiError('invalid_recovery_code');
  const [{ token, expiresAt }, recipient] = await Promise.all([issueToken(deps, row), toRecipient(deps, row)]);
  return { token, expiresAt: expiresAt.toISOString(), recipient };
}

export const hashRecovery = (secret: string): Buffer => hash('sha256', Buffer.from(secret, 'base64url'), 'buffer');

interface PasskeyRow {
  readonly credential_id: string;
  readonly recipient_id: string;
  readonly public_key: Buffer;
  readonly counter: bigint;
  readonly transports: NewPasskeyOptions['excludeCredentials'][number]['transports'];
}

async function verifySignIn(deps: SignInDeps, response: unknown): Promise<RecipientRow> {
  const { db, challenges } = deps;
  const { rpId, origin } = required(deps.passkeySite);
  const answer = response as AuthenticationResponseJSON;
  const passkey =
    typeof answer.id === 'string'
      ? await db.one<PasskeyRow>(sql`
          select credential_id, recipient_id, public_key, counter, transports
            from recipient_passkeys where credential_id = ${answer.id}`)
      : undefined;
  if (!passkey) throw new ApiError('invalid_passkey');
  let open: OpenChallenge | undefined;
  const { verifyAuthenticationResponse } = await webauthn();
  const { authenticationInfo } = await verified(() =>
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: (challenge) => {
        open = challenges.check(challenge, SIGN_IN);
        return open !== undefined;
      },
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: Number(passkey.counter),
        transports: passkey.transports,
      },
    }),
  );
  const row = await db.tx(async (tx) => {
    await useChallenge(tx, open);
    await tx.run(sql`
      update recipient_passkeys set counter = ${authenticationInfo.newCounter}, last_used_at = now()
       where credential_id = ${passkey.credential_id}`);
    return recipientById(tx, passkey.recipient_id);
  });
  if (!row) throw new ApiError('invalid_passkey');
  return row;
}

export interface PasskeyNames {
  readonly rpName: string;
  readonly userName: string;
}

/** The handle is random: passkeys of one person have nothing in common, and no device replaces one by another. */
export function newPasskeyOptions(
  { challenges, passkeySite }: SignInDeps,
  purpose: string,
  { rpName, userName }: PasskeyNames,
  excludeCredentials: NewPasskeyOptions['excludeCredentials'] = [],
): NewPasskeyOptions {
  return {
    challenge: challenges.issue(purpose, REGISTRATION_SECONDS),
    rp: { id: required(passkeySite).rpId, name: rpName },
    user: { id: randomBytes(KEY_BYTES).toString('base64url'), name: userName, displayName: userName },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: CEREMONY_MS,
    attestation: 'none',
    excludeCredentials,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  };
}

export interface NewPasskey {
  /** Stores it for the recipient and uses the challenge up. */
  store(tx: Db, recipientId: string): Promise<void>;
  readonly credentialId: string;
}

export async function verifyNewPasskey(deps: SignInDeps, purpose: string, response: unknown): Promise<NewPasskey> {
  const { rpId, origin } = required(deps.passkeySite);
  let open: OpenChallenge | undefined;
  const { verifyRegistrationResponse } = await webauthn();
  const { registrationInfo } = await verified(() =>
    verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: (challenge) => {
        open = deps.challenges.check(challenge, purpose);
        return open !== undefined;
      },
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    }),
  );
  if (!registrationInfo) throw new ApiError('invalid_passkey');
  const { id: credentialId, publicKey, counter, transports = [] } = registrationInfo.credential;
  return {
    credentialId,
    store: async (tx, recipientId) => {
      await useChallenge(tx, open);
      const stored = await tx.run(sql`
        insert into recipient_passkeys (credential_id, recipient_id, public_key, counter, transports)
        values (${credentialId}, ${recipientId}, ${Buffer.from(publicKey)}, ${counter}, ${transports}::text[])
        on conflict do nothing`);
      if (stored !== 1) throw new ApiError('invalid_passkey');
    },
  };
}

type Challenge = typeof endpoints.createRecipientPasskeyChallenge;

export async function passkeyChallenge(
  deps: SignInDeps,
  { caller }: Pick<Call<Challenge>, 'caller'>,
): Promise<Answer<Challenge>> {
  const row = await requireRecipient(deps.db.reads, caller);
  const known = await passkeysOf(deps.db, row.id);
  const { brand, orgName } = await toRecipient(deps, row);
  const name = brand?.name ?? orgName;
  const exclude = known.map(({ credential_id: id, transports }) => ({ id, type: 'public-key' as const, transports }));
  return { options: newPasskeyOptions(deps, ofRecipient(row.id), { rpName: name, userName: name }, exclude) };
}

type Register = typeof endpoints.registerRecipientPasskey;

export async function registerPasskey(
  deps: SignInDeps,
  { caller, body }: Pick<Call<Register>, 'caller' | 'body'>,
): Promise<Answer<Register>> {
  const row = await requireRecipient(deps.db.reads, caller);
  const passkey = await verifyNewPasskey(deps, ofRecipient(row.id), body.passkey);
  await deps.db.tx(async (tx) => {
    await tx.run(sql`select from recipients where id = ${row.id} for no key update`);
    await passkeysOf(tx, row.id);
    await passkey.store(tx, row.id);
  });
  return toRecipient(deps, await requireRecipient(deps.db, caller));
}

/** Throws `passkey_limit_reached` where there is no room for another. */
async function passkeysOf(db: Db, recipientId: string): Promise<PasskeyRow[]> {
  const rows = await db.rows<PasskeyRow>(sql`
    select credential_id, recipient_id, public_key, counter, transports
      from recipient_passkeys where recipient_id = ${recipientId} order by created_at limit ${MAX_PASSKEYS}`);
  if (rows.length >= MAX_PASSKEYS) throw new ApiError('passkey_limit_reached');
  return rows;
}

type SetCode = typeof endpoints.setRecoveryCode;

export async function setRecoveryCode(
  deps: SignInDeps,
  { caller, body }: Pick<Call<SetCode>, 'caller' | 'body'>,
): Promise<Answer<SetCode>> {
  const row = await requireRecipient(deps.db.reads, caller);
  await setRecovery(deps.db, row.id, hashRecovery(body.recoverySecret));
  return toRecipient(deps, { ...row, hasRecoveryCode: true });
}
