import type { Page } from 'playwright-core';

export interface AuthenticatorOptions {
  readonly hasPrf?: boolean;
  readonly isUserVerified?: boolean;
}

export async function addAuthenticator(
  page: Page,
  { hasPrf = true, isUserVerified = true }: AuthenticatorOptions = {},
): Promise<void> {
  const session = await page.context().newCDPSession(page);
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
