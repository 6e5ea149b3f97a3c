import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { en } from '../../packages/web/src/language/en.ts';
import { es } from '../../packages/web/src/language/es.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { barriers, button, type ClaimVisits, fits, heading, openClaimVisits } from './support/claim-visits.ts';
import { invalid, paid, refused, type Scripted, started, state, valid } from './support/fake-claims.ts';

const STORY_LIMIT_MS = 90_000;
const starknet = `0x04${'a1b2c3d4e5f60718'.repeat(4).slice(2)}`;
const solana = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
type ClaimErrorCode = keyof typeof en.errors;

let visits: ClaimVisits;
beforeAll(async () => {
  visits = await openClaimVisits();
}, BROWSER_LIMIT_MS);
afterAll(() => visits?.stop());

describe('a code that is not valid is explained in English and Spanish', () => {
  it.each<[ClaimErrorCode, Scripted]>([
    ['notFound', invalid('Gift not found')],
    ['expired', invalid('Gift has expired')],
    ['usedUp', invalid('Gift redemption limit reached')],
    ['inactive', invalid('Gift is not active')],
    ['notStarted', invalid('Gift has not started yet')],
    ['throttled', refused(429, 'rate_limited')],
    ['network', 'lost'],
    ['unknown', refused(500, 'internal_error')],
  ])('%s', async (errorCode, answer) => {
    const { page, complaints } = await visits.open({ prepare: (claims) => (claims.claims = [answer]) });
    await heading(page).getByText(en.errors[errorCode].title).waitFor();
    await page.getByText(en.errors[errorCode].body).waitFor();
    expect(await barriers(page)).toEqual([]);
    await button(page, 'Español').click();
    await heading(page).getByText(es.errors[errorCode].title).waitFor();
    await page.getByText(es.errors[errorCode].body).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('es');
    expect(await fits(page)).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('and can be looked up again', async () => {
    const { page } = await visits.open({ prepare: (claims) => (claims.claims = ['lost', valid]) });
    await button(page, 'Try again').click();
    await heading(page).getByText('You have a gift!').waitFor();
  });

  it('and can be typed again', async () => {
    const { page } = await visits.open({ prepare: (claims) => (claims.claims = [invalid('Gift not found'), valid]) });
    await page.getByLabel('Your gift code').fill('NAVIDAD-2026');
    await button(page, 'See my gift').click();
    await heading(page).getByText('You have a gift!').waitFor();
    expect(new URL(page.url()).pathname).toBe('/claim/NAVIDAD-2026');
  });
});

describe('a redeem that is refused', () => {
  it.each<[ClaimErrorCode, Scripted]>([
    ['usedUp', refused(400, 'gift_limit_reached')],
    ['expired', refused(400, 'gift_expired')],
  ])('because the gift has ended leads to another code: %s', async (errorCode, answer) => {
    const { page } = await visits.open({ prepare: (fake) => (fake.redeems = [answer]) });
    await redeem('Starknet', starknet, page);
    await page.getByText(en.errors[errorCode].body).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'I have another code' }).click();
    await heading(page).getByText('Do you have a gift code?').waitFor();
  });

  it.each<[ClaimErrorCode, Scripted, string]>([
    ['walletUsedUp', refused(400, 'gift_user_limit_reached'), 'Which network does your wallet use?'],
    ['noSolana', refused(400, 'chain_not_configured'), 'Which network does your wallet use?'],
    ['addressRefused', refused(400, 'invalid_request'), 'Which network does your wallet use?'],
    ['payoutFailed', refused(500, 'payout_failed'), 'You have a gift!'],
  ])(
    'is explained, deleted, and offers the next step: %s',
    async (errorCode, answer, next) => {
      const { page, claims } = await visits.open({ prepare: (fake) => (fake.redeems = [answer]) });
      // Only users who chose Solana are sent to Starknet.
      if (errorCode === 'noSolana') await redeem('Solana', solana, page);
      else await redeem('Starknet', starknet, page);
      await page.getByText(en.errors[errorCode].body).waitFor();
      expect(await barriers(page)).toEqual([]);
      await button(page, en.errors[errorCode].action).click();
      await heading(page).getByText(next).waitFor();
      await page.reload();
      await heading(page).getByText('You have a gift!').waitFor();
      claims.redeems = [paid(starknet)];
      await redeem('Starknet', starknet, page);
      await heading(page).getByText('Your gift has arrived!').waitFor();
      expect(new Set(claims.sent.map(({ key }) => key)).size).toBe(2);
    },
    STORY_LIMIT_MS,
  );

  it('by the rate limit continues with its own key', async () => {
    const { page, claims } = await visits.open({
      prepare: (fake) => (fake.redeems = [refused(429, 'rate_limited'), paid(starknet)]),
    });
    await redeem('Starknet', starknet, page);
    await button(page, 'Try again').click();
    await heading(page).getByText('Your gift has arrived!').waitFor();
    expect(new Set(claims.sent.map(({ key }) => key)).size).toBe(1);
  });
});

describe('a bridge transfer that fails', () => {
  it(
    'after the burn is not lost: its reference is shown, and it arrives once it is completed',
    async () => {
      const { page, claims } = await visits.open({
        prepare: (fake) => {
          fake.redeems = [started];
          fake.states = [state('FAILED')];
        },
      });
      await redeem('Solana', solana, page);
      await heading(page).getByText(en.errors.stuck.title).waitFor();
      await page.getByText('rdm_1').waitFor();
      expect(await barriers(page)).toEqual([]);
      await page.reload();
      await heading(page).getByText(en.errors.stuck.title).waitFor();
      claims.states = [state('SUCCESS', 'sol5ig')];
      await button(page, en.errors.stuck.action).click();
      await heading(page).getByText('Your gift has arrived!').waitFor();
      expect(claims.sent).toHaveLength(1);
    },
    STORY_LIMIT_MS,
  );
});

async function redeem(chain: 'Starknet' | 'Solana', address: string, page: import('playwright-core').Page) {
  await button(page, 'Get my gift').click();
  await button(page, chain).click();
  await page.getByLabel(`Your ${chain} wallet address`).fill(address);
  await button(page, 'Continue').click();
  await button(page, 'Yes, send it to me').click();
}
