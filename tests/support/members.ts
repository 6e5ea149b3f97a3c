import type { Environment, Role } from '@svc/protocol';
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import * as members from '../../packages/server/src/members/member-store.ts';
import { revokeSession, startSession } from '../../packages/server/src/members/sessions.ts';
import { newId } from '../../packages/server/src/util/ids.ts';
import { eventually } from './eventually.ts';
import type { AnyService } from './service.ts';

export interface SignInOptions {
  readonly email?: string;
  readonly name?: string;
  /** Default: the service's organisation. */
  readonly organizationId?: string;
  readonly environment?: Environment;
  readonly isOperator?: boolean;
}

export interface SignedIn {
  readonly email: string;
  readonly personId: string;
  readonly memberId: string;
  readonly sessionId: string;
  /** What the browser keeps. */
  readonly token: string;
  /** Of a request from a page: cookie, origin and environment. */
  readonly headers: Readonly<Record<'cookie' | 'origin' | 'x-svc-environment', string>>;
  signOut(): Promise<void>;
}

/** A new member with a session that was not started through HTTP. */
export async function signIn(service: AnyService, role: Role, options: SignInOptions = {}): Promise<SignedIn> {
  const { organizationId = service.server.credentials.organizationId, environment = 'development' } = options;
  const email = options.email ?? `${newId(role.toLowerCase())}@tienda.example`;
  const { origin } = service.server;
  return service.db.tx(async (tx) => {
    const { id: personId } = await members.ensurePerson(tx, email, options.name ?? 'Ana');
    const known = await members.findMemberOfPerson(tx, organizationId, personId);
    const memberId = known?.id ?? (await members.insertMember(tx, { organizationId, personId, role, joined: true }));
    if (options.isOperator) await members.makeOperator(tx, personId);
    const { id: sessionId, token } = await startSession(tx, { personId, organizationId, userAgent: 'test' });
    const headers = { cookie: `svc_session=${token}`, origin, 'x-svc-environment': environment };
    const signOut = async () => void (await revokeSession(service.db, personId, sessionId));
    return { email, personId, memberId, sessionId, token, headers, signOut };
  });
}

/** A browser context that is signed in; its pages open below `service.server.origin`. */
export async function signedInContext(
  browser: Browser,
  service: AnyService,
  role: Role,
  options: SignInOptions & { readonly context?: BrowserContextOptions } = {},
): Promise<BrowserContext & { readonly member: SignedIn }> {
  const member = await signIn(service, role, options);
  const context = await browser.newContext(options.context);
  const url = service.server.origin;
  await context.addCookies([{ name: 'svc_session', value: member.token, url, httpOnly: true, sameSite: 'Lax' }]);
  return Object.assign(context, { member });
}

/** The token of the newest mail with a link that the address got. */
export async function mailedLink(service: AnyService, address: string): Promise<string> {
  const { mails } = await eventually(
    () => service.sandbox.ask<{ mails: { id: string }[] }>(`/mailbox?to=${encodeURIComponent(address)}`),
    (found) => found.mails.length > 0,
  );
  const { text } = await service.sandbox.ask<{ text: string }>(`/mailbox/${mails[0]?.id}`);
  return /\/dashboard\/(?:sign-in|invitation)\/([\w-]{43})/.exec(text)?.[1] ?? '';
}
