import { afterAll, beforeAll, expect, it } from 'vitest';
import { giftBody } from '../support/app.ts';
import { caller, send } from '../support/client.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { button, type ClaimVisits, heading, openClaimVisits } from './support/claim-visits.ts';

const STORY_LIMIT_MS = 180_000;
const STEP_LIMIT_MS = 90_000;

let visits: ClaimVisits;
beforeAll(async () => {
  visits = await openClaimVisits({ UNKNOWN_CODES_TOTAL_PER_MINUTE: '1' });
}, BROWSER_LIMIT_MS);
afterAll(() => visits?.stop());

it(
  'the claim page works out the proofs that the service asks for, in a worker, and the gift arrives',
  async () => {
    const { server } = visits;
    const { code } = (await caller(server)('/gifts', { method: 'POST', body: giftBody() })).body as { code: string };
    const claimUrl = `${server.credentials.baseUrl}/gifts/claim`;
    await send(`${claimUrl}/NO-SUCH-CODE`);
    expect((await send(`${claimUrl}/${code}`)).body).toMatchObject({ error: 'proof_of_work_required' });
    const { page, complaints } = await visits.open({ path: '/claim/', fake: false });
    const workers: string[] = [];
    page.on('worker', (worker) => workers.push(worker.url()));
    await page.goto(`${server.origin}/claim/${code}`);
    page.setDefaultTimeout(STEP_LIMIT_MS);
    await button(page, 'Get my gift').click();
    await button(page, 'Starknet').click();
    await page.getByLabel('Your Starknet wallet address').fill(`0x05${'b1'.repeat(31)}`);
    await button(page, 'Continue').click();
    await button(page, 'Yes, send it to me').click();
    await heading(page).getByText('Your gift has arrived!').waitFor();
    expect(workers.length).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  },
  STORY_LIMIT_MS,
);
