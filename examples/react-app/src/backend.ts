import { type Client, createClient } from '@svc/sdk';

interface Settings {
  readonly baseUrl: string;
  readonly publicKey: string;
  readonly faucetUrl: string;
}

async function ask<T>(input: string, init?: RequestInit): Promise<T> {
  const answer = await fetch(input, init);
  if (!answer.ok) throw new Error('The service did not answer as it should. Is `npm start` running?');
  return (await answer.json()) as T;
}

export const settings = await ask<Settings>('/backend/settings');

/** With a fresh token of the signed-in user for each request. */
export function clientOf(name: string): Client {
  const { baseUrl, publicKey } = settings;
  const token = () => ask<{ token: string }>(`/backend/user-token?name=${encodeURIComponent(name)}`);
  return createClient({ baseUrl, publicKey, bearerToken: async () => (await token()).token });
}

/** Development only. */
export const fundWithTestMoney = (address: string) =>
  ask(settings.faucetUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address, token: 'USDC', amount: '25' }),
  });

/** `2500000` with 6 decimals is `2.50`. */
export function formatAmount(raw: string, decimals: number): string {
  const digits = raw.padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '').padEnd(2, '0');
  return `${digits.slice(0, -decimals).replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}

/** 120 bits, without letters that are easily confused. */
export function newCode(): string {
  const letters = Array.from(
    crypto.getRandomValues(new Uint8Array(24)),
    (byte) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[byte % 32],
  );
  return letters.join('').replace(/(.{4})(?!$)/g, '$1-');
}
