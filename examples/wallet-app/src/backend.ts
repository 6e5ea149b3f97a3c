import { createSvc, type SvcWallet } from '@svc/sdk';

/** From the example's server. Contains no secrets. */
interface Settings {
  readonly baseUrl: string;
  readonly publicKey: string;
  /** In development only: funds any address with test money. */
  readonly faucetUrl?: string;
}

const settings = (await (await fetch('/backend/settings')).json()) as Settings;

export const canUseFaucet = settings.faucetUrl !== undefined;
export type Svc = ReturnType<typeof createSvc>;

export interface Account {
  readonly name: string;
  readonly svc: Svc;
  readonly wallet: SvcWallet;
}

/** Uses a fresh token from the app's backend for each request. */
export function svcFor(name: string): Svc {
  const { baseUrl, publicKey } = settings;
  return createSvc({ baseUrl, publicKey, bearerToken: () => userToken(name) });
}

async function userToken(name: string): Promise<string> {
  const answer = await post('/backend/user-token', { name });
  return ((await answer.json()) as { token: string }).token;
}

export async function fundWithTestMoney(address: string): Promise<void> {
  await post(settings.faucetUrl ?? '', { address, token: 'USDC', amount: '25' });
}

async function post(url: string, body: unknown): Promise<Response> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error('The service did not answer as it should. Is `npm start` running?');
  return answer;
}
