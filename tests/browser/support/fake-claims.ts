import type { BrowserContext, Route } from 'playwright-core';

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

  async standIn(context: BrowserContext): Promise<void> {
    await context.route('**/v1/gifts/claim/**', async (route) => {
      const request = route.request();
      const isRedeem = request.method() === 'POST';
      if (isRedeem) {
        const key = request.headers()['idempotency-key'] ?? '';
        this.sent.push({ key, body: request.postDataJSON() as RedeemSent['body'] });
      }
      const script = isRedeem ? this.redeems : request.url().includes('/status/') ? this.states : this.claims;
      await reply(route, script.length > 1 ? script.shift() : script[0]);
    });
  }
}

async function reply(route: Route, answer: Scripted | undefined): Promise<void> {
  if (answer === undefined || answer === 'lost') return route.abort('connectionfailed');
  const { status, body, headers } = answer;
  await route.fulfill({
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
