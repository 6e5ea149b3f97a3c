import type { CDPSession, Page } from 'playwright-core';

export interface AuthenticatorOptions {
  readonly hasPrf?: boolean;
  readonly isUserVerified?: boolean;
}

const sessions = new WeakMap<Page, CDPSession[]>();

export async function addAuthenticator(
  page: Page,
  { hasPrf = true, isUserVerified = true }: AuthenticatorOptions = {},
): Promise<void> {
  const session = await page.context().newCDPSession(page);
  sessions.set(page, [...(sessions.get(page) ?? []), session]);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      hasPrf,
      automaticPresenceSimulation: true,
    },
  });
}

/** They and their passkeys end with the session that added them. */
export async function removeAuthenticators(page: Page): Promise<void> {
  await Promise.all((sessions.get(page) ?? []).map((session) => session.detach()));
  sessions.delete(page);
}
