import { createClient, getWallet, type SvcOptions } from '@svc/sdk';

interface Scope {
  onmessage: ((event: { data: { options: SvcOptions; externalUserId: string } }) => void) | null;
  postMessage(message: unknown): void;
}

const scope = globalThis as unknown as Scope;
scope.onmessage = async ({ data: { options, externalUserId } }) => {
  try {
    const wallet = await getWallet(createClient(options), { externalUserId });
    scope.postMessage({ wallet });
  } catch (error) {
    scope.postMessage({ error: (error as { code?: string }).code ?? String(error) });
  }
};
