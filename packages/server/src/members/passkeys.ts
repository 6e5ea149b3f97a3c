import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { ApiError, type NewPasskeyOptions, type Passkey, type PasskeyOptions } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import type { Member } from '../http/call.ts';
import { newId } from '../util/ids.ts';

/** Several hundred files: loaded with the first ceremony, not with the service. */
export const webauthn = () => import('@simplewebauthn/server');

const CHALLENGE_MINUTES = 5;
const MAX_PASSKEYS = 10;
/** How long the browser waits for the person. */
export const CEREMONY_MS = 60_000;

/** The host name that passkeys are bound to, and the page that may use them. */
export interface PasskeySite {
  readonly rpId: string;
  readonly origin: string;
}

/** Browsers have passkeys for names, by https, and for localhost. Undefined where the service is reached otherwise. */
export function passkeySiteOf(publicUrl: string | undefined, localUrl: string): PasskeySite | undefined {
  if (publicUrl === undefined) return { rpId: 'localhost', origin: `http://localhost:${new URL(localUrl).port}` };
  const { hostname, protocol, origin } = new URL(publicUrl);
  const isSecure = protocol === 'https:' || hostname === 'localhost';
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  return isSecure && isName ? { rpId: hostname, origin } : undefined;
}

export async function signInOptions(db: Db, site: PasskeySite | undefined): Promise<PasskeyOptions> {
  const { rpId } = required(site);
  const { generateAuthenticationOptions } = await webauthn();
  const { challenge } = await generateAuthenticationOptions({ rpID: rpId });
  await storeChallenge(db, challenge, null);
  return { challenge, rpId, timeout: CEREMONY_MS, userVerification: 'required' };
}

/** The person of the passkey that answered the challenge. */
export async function verifySignIn(db: Db, site: PasskeySite | undefined, response: unknown): Promise<string> {
  const { rpId, origin } = required(site);
  const answer = response as AuthenticationResponseJSON;
  const passkey = typeof answer.id === 'string' ? await findPasskey(db, answer.id) : undefined;
  if (!passkey) throw new ApiError('invalid_passkey');
  const { verifyAuthenticationResponse } = await webauthn();
  const { authenticationInfo } = await verified(() =>
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: (challenge) => useChallenge(db, challenge, null),
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
  await db.run(sql`
    update member_passkeys set counter = ${authenticationInfo.newCounter}, last_used_at = now() where id = ${passkey.id}`);
  return passkey.person_id;
}

export async function registrationOptions(
  db: Db,
  site: PasskeySite | undefined,
  member: Member,
): Promise<NewPasskeyOptions> {
  const known = await db.rows<PasskeyRow>(sql`${selectPasskeys} where person_id = ${member.personId}`);
  requireRoom(known.length);
  const rp = { id: required(site).rpId, name: 'svc' };
  const { generateRegistrationOptions } = await webauthn();
  const { challenge, user, pubKeyCredParams } = await generateRegistrationOptions({
    rpName: rp.name,
    rpID: rp.id,
    userName: member.email,
    userDisplayName: member.name || member.email,
    userID: new TextEncoder().encode(member.personId),
  });
  await storeChallenge(db, challenge, member.sessionId);
  return {
    challenge,
    rp,
    user,
    pubKeyCredParams,
    timeout: CEREMONY_MS,
    attestation: 'none',
    excludeCredentials: known.map(({ credential_id: id, transports }) => ({ id, type: 'public-key', transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  };
}

export async function registerPasskey(
  db: Db,
  site: PasskeySite | undefined,
  member: Member,
  { response, name }: { readonly response: unknown; readonly name: string },
): Promise<Passkey> {
  const { rpId, origin } = required(site);
  const { verifyRegistrationResponse } = await webauthn();
  const { registrationInfo } = await verified(() =>
    verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: (challenge) => useChallenge(db, challenge, member.sessionId),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    }),
  );
  if (!registrationInfo) throw new ApiError('invalid_passkey');
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
  const row = await db.tx(async (tx) => {
    await tx.run(sql`select from people where id = ${member.personId} for no key update`);
    const known = await tx.rows(sql`select from member_passkeys where person_id = ${member.personId}`);
    requireRoom(known.length);
    return tx.one<PasskeyRow>(sql`
      insert into member_passkeys (id, person_id, credential_id, public_key, counter, transports, name)
      values (${newId('pky')}, ${member.personId}, ${id}, ${Buffer.from(publicKey)}, ${counter},
              ${transports}::text[], ${name})
      on conflict (credential_id) do nothing
      returning id, person_id, credential_id, public_key, counter, transports, name, created_at, last_used_at`);
  });
  if (!row) throw new ApiError('invalid_passkey');
  return toPasskey(row);
}

export async function listPasskeys(db: Reads, personId: string): Promise<Passkey[]> {
  const rows = await db.rows<PasskeyRow>(sql`
    ${selectPasskeys} where person_id = ${personId} order by created_at, id limit ${MAX_PASSKEYS}`);
  return rows.map(toPasskey);
}

export async function deletePasskey(db: Db, personId: string, id: string): Promise<void> {
  const deleted = await db.run(sql`delete from member_passkeys where id = ${id} and person_id = ${personId}`);
  if (deleted !== 1) throw new ApiError('passkey_not_found');
}

export async function deleteOldChallenges(db: Db): Promise<number> {
  return db.run(sql`delete from passkey_challenges where expires_at < now()`);
}

interface PasskeyRow {
  readonly id: string;
  readonly person_id: string;
  readonly credential_id: string;
  readonly public_key: Buffer;
  readonly counter: bigint;
  readonly transports: NewPasskeyOptions['excludeCredentials'][number]['transports'];
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const selectPasskeys = sql`
  select id, person_id, credential_id, public_key, counter, transports, name, created_at, last_used_at
    from member_passkeys`;

const findPasskey = (db: Db, credentialId: string): Promise<PasskeyRow | undefined> =>
  db.one(sql`${selectPasskeys} where credential_id = ${credentialId}`);

const toPasskey = ({ id, name, created_at, last_used_at }: PasskeyRow): Passkey => ({
  id,
  name,
  createdAt: created_at.toISOString(),
  lastUsedAt: last_used_at?.toISOString() ?? null,
});

/** The answer names the challenge, so it is found by its hash. */
async function storeChallenge(db: Db, challenge: string, sessionId: string | null): Promise<void> {
  await db.run(sql`
    insert into passkey_challenges (challenge_hash, session_id, expires_at)
    values (${hash('sha256', challenge, 'buffer')}, ${sessionId}, now() + make_interval(mins => ${CHALLENGE_MINUTES}))`);
}

/** Whether it was open, and for this use. A wrong signature uses it up too. */
async function useChallenge(db: Db, challenge: string, sessionId: string | null): Promise<boolean> {
  const used = await db.run(sql`
    delete from passkey_challenges
     where challenge_hash = ${hash('sha256', challenge, 'buffer')} and expires_at > now()
       and session_id is not distinct from ${sessionId}`);
  return used === 1;
}

export async function verified<T extends { verified: boolean }>(verify: () => Promise<T>): Promise<T> {
  // The library throws for everything that is wrong with an answer, its form included.
  const result = await verify().catch((cause: unknown) => {
    throw new ApiError('invalid_passkey', undefined, { cause });
  });
  if (!result.verified) throw new ApiError('invalid_passkey');
  return result;
}

export function required(site: PasskeySite | undefined): PasskeySite {
  if (!site) throw new ApiError('passkeys_unavailable');
  return site;
}

function requireRoom(known: number): void {
  if (known >= MAX_PASSKEYS) throw new ApiError('passkey_limit_reached');
}
