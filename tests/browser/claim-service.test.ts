import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner } from '../support/app.ts';
import { caller } from '../support/client.ts';
import { newSolanaWallet } from '../support/gifts.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { button, type ClaimVisits, heading, openClaimVisits } from './support/claim-visits.ts';

/** A payout is signed, sent and included in a block; on Solana it crosses a bridge. */
const STORY_LIMIT_MS = 180_000;
const STEP_LIMIT_MS = 90_000;

let visits: ClaimVisits;
beforeAll(async () => {
  visits = await openClaimVisits();
}, BROWSER_LIMIT_MS);
afterAll(() => visits?.stop());

async function createGift(code: string): Promise<void> {
  const reply = await caller(visits.server)('/gifts', {
    method: 'POST',
    body: {
      code,
      name: 'Feliz Navidad',
      amount: 2.5,
      maxRedeems: 1,
      maxRedeemsPerUser: 1,
      startsAt: '2026-01-01T00:00:00Z',
      isActive: true,
    },
  });
  if (reply.status !== 201) throw new Error(reply.text);
}

async function redeem(page: Page, chain: 'Starknet' | 'Solana', address: string): Promise<void> {
  page.setDefaultTimeout(STEP_LIMIT_MS);
  await page.getByText('2.50 USDC').waitFor();
  await button(page, 'Get my gift').click();
  await button(page, chain).click();
  await page.getByLabel(`Your ${chain} wallet address`).fill(address);
  await button(page, 'Continue').click();
  await button(page, 'Yes, send it to me').dblclick();
  await heading(page).getByText('Your gift has arrived!').waitFor();
}

async function redeems(): Promise<{ status: string; walletAddress: string; hash: string | null }[]> {
  const { body } = await caller(visits.server)('/gifts/history/redeems');
  const { data } = body as {
    data: Record<'status' | 'walletAddress' | 'transactionHash' | 'receiveChainTxHash', string>[];
  };
  return data.map(({ status, walletAddress, transactionHash, receiveChainTxHash }) => {
    return { status, walletAddress, hash: receiveChainTxHash ?? transactionHash };
  });
}

describe('the claim page of a running service', () => {
  it.each([
    ['Starknet', () => new Owner().address],
    ['Solana', newSolanaWallet],
  ] as const)(
    'pays a gift out on %s once, and shows that to later visitors',
    async (chain, newAddress) => {
      const address = newAddress();
      const code = `E2E-${crypto.randomUUID().slice(0, 8)}`.toUpperCase();
      await createGift(code);
      const { page, complaints } = await visits.open({ path: `/claim/${code}`, fake: false });
      await redeem(page, chain, address);
      const receipt = await page.locator('dd').last().textContent();
      const paid = (await redeems()).filter(({ walletAddress }) => walletAddress === address);
      expect(paid).toEqual([{ status: 'SUCCESS', walletAddress: address, hash: receipt }]);
      const later = await visits.open({ path: `/claim/${code.toLowerCase()}`, fake: false });
      await heading(later.page).getByText('This gift has been collected').waitFor();
      expect([...complaints, ...later.complaints]).toEqual([]);
    },
    STORY_LIMIT_MS,
  );

  it('does not know an unknown code', async () => {
    const { page } = await visits.open({ path: '/claim/UNKNOWN-CODE', fake: false });
    await heading(page).getByText('We do not know this code').waitFor();
  });

  it('rejects a code that is too long', async () => {
    const { page } = await visits.open({ path: `/claim/${'a'.repeat(600)}`, fake: false });
    await heading(page).getByText('We do not know this code').waitFor();
  });
});
