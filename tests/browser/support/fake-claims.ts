import type { CDPSession, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RedeemSent {
  readonly key: string;
  readonly body: { readonly walletAddress: string; readonly chain: string };
}

/** `lost`: no answer. */
export type Scripted = Answer | 'lost';

export const valid: Answer = {
  status: 200,
  body: {
    valid: true,
    gift: { code: 'NAVIDAD', name: 'Feliz Navidad, abuela', amount: '25.5', token: 'USDC', chain: 'STARKNET' },
    orgName: 'Tienda Ejemplo',
  },
};
export const invalid = (reason: string): Answer => ({ status: 200, body: { valid: false, reason } });
export const refused = (status: number, error: string): Answer => ({
  status,
  body: { error, message: error },
  headers: status === 429 ? { 'retry-after': '60' } : {},
});
export const paid = (walletAddress: string): Answer => ({
  status: 201,
  body: { giftRedeem: { id: 'rdm_1', status: 'SUCCESS', transactionHash: '0xfeed', walletAddress, amount: '25.5' } },
});
export const started: Answer = {
  status: 202,
  body: {
    redeemId: 'rdm_1',
    status: 'BRIDGING',
    destinationChain: 'solana',
    cctpBurnTxHash: '0xb0',
    estimatedSeconds: 24,
  },
};
export const state = (status: string, receiveChainTxHash: string | null = null): Answer => ({
  status: 200,
  body: { id: 'rdm_1', status, destinationChain: 'solana', cctpBurnTxHash: '0xb0', receiveChainTxHash, amount: 25.5 },
});

/** Scripted claim endpoints. Each list is answered in order; its last answer repeats. */
export class FakeClaims {
  claims: Scripted[] = [valid];
  redeems: Scripted[] = [];
  states: Scripted[] = [];
  readonly sent: RedeemSent[] = [];

  /** Until the test ends. Not by `route`, which stops every request of the page and keeps it from Chromium's cache. */
  async standIn(page: Page): Promise<void> {
    const session = await page.context().newCDPSession(page);
    onTestFinished(async () => {
      if (!page.isClosed()) await session.detach();
    });
    session.on('Fetch.requestPaused', ({ requestId, request }) => {
      // The page may be gone meanwhile, and with it whoever waits for the answer.
      void reply(session, requestId, this.#next(request)).catch(() => {});
    });
    await session.send('Fetch.enable', { patterns: [{ urlPattern: '*/v1/gifts/claim/*' }] });
  }

  #next({ method, url, headers, postData = '' }: Sent): Scripted | undefined {
    const isRedeem = method === 'POST';
    if (isRedeem) {
      const [, key = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'idempotency-key') ?? [];
      this.sent.push({ key, body: JSON.parse(postData) as RedeemSent['body'] });
    }
    const script = isRedeem ? this.redeems : url.includes('/status/') ? this.states : this.claims;
    return script.length > 1 ? script.shift() : script[0];
  }
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly postData?: string;
}

async function reply(session: CDPSession, requestId: string, answer: Scripted | undefined): Promise<void> {
  if (answer === undefined || answer === 'lost') {
    await session.send('Fetch.failRequest', { requestId, errorReason: 'ConnectionFailed' });
    return;
  }
  const { status, body, headers } = answer;
  const all = Object.entries({ ...headers, 'content-type': 'application/json' });
  await session.send('Fetch.fulfillRequest', {
    requestId,
    responseCode: status,
    responseHeaders: all.map(([name, value]) => ({ name, value })),
    body: Buffer.from(JSON.stringify(body)).toString('base64'),
  });
}
