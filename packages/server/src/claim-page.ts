import { ApiError, type RedeemChain } from '@svc/protocol';
import { loadPages, type Pages } from '@svc/web/pages';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { LiveStarknet } from './chains/networks.ts';
import type { Config } from './config.ts';

export interface ClaimPage {
  readonly pages: Pages;
  readonly explorers: Explorers;
}

/** Built where its sources changed, while the database starts; so it is begun first and awaited last. */
export function loadClaimPage(config: Config, log: Logger, flush: () => void): Promise<ClaimPage | undefined> {
  if (config.role === 'worker') return Promise.resolve(undefined);
  const explorers = explorersOf(config.chains.starknet, config.sandbox);
  const loading = loadPages((line) => {
    log.info(line);
    flush();
  }).then((pages) => ({ pages, explorers }));
  // The caller awaits it later; until then a failure is not unhandled.
  loading.catch(() => undefined);
  return loading;
}

/** `data:` is for the empty icon, without which browsers request one. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
/** Asset names contain a content hash. */
const FOREVER = 'public, max-age=31536000, immutable';

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** The same page for every code: it asks the interface what the code gives. */
export function registerClaimPage(app: FastifyInstance, { pages, explorers }: ClaimPage): void {
  const html = withExplorers(pages.html, explorers);
  const page = (reply: FastifyReply) =>
    reply
      .header('content-security-policy', POLICY)
      .header('permissions-policy', 'camera=(self)')
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(html);
  // The page refers to its assets by relative paths.
  app.get('/claim', async (_, reply) => reply.redirect('claim/'));
  app.get('/claim/', async (_, reply) => page(reply));
  app.get('/claim/:code', async (_, reply) => page(reply));
  app.get<{ Params: { name: string } }>('/claim/assets/:name', async ({ params: { name }, headers }, reply) => {
    const asset = pages.assets.get(name);
    if (!asset) throw new ApiError('not_found');
    reply.header('cache-control', FOREVER).header('vary', 'accept-encoding');
    reply.type(types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream');
    if (!/\bbr\b/.test(headers['accept-encoding']?.toString() ?? '')) return reply.send(asset.body);
    return reply.header('content-encoding', 'br').send(asset.brotli);
  });
}

function withExplorers(html: string, explorers: Explorers): string {
  if (Object.keys(explorers).length === 0) return html;
  const text = JSON.stringify(explorers).replaceAll('"', '&quot;');
  return html.replace(/(<meta name="svc-explorers" content=")"/, (_, start: string) => `${start}${text}"`);
}

/** Address of a transaction's page, with `{hash}`. */
export type Explorers = Readonly<Partial<Record<RedeemChain, string>>>;

const live: Readonly<Record<LiveStarknet['network'], Explorers>> = {
  mainnet: { starknet: 'https://voyager.online/tx/{hash}', solana: 'https://solscan.io/tx/{hash}' },
  sepolia: {
    starknet: 'https://sepolia.voyager.online/tx/{hash}',
    solana: 'https://solscan.io/tx/{hash}?cluster=devnet',
  },
};

/** None with the sandbox on: the claim page cannot tell gifts of development apart, and no public explorer knows those. */
export function explorersOf(starknet: LiveStarknet | undefined, hasSandbox: boolean): Explorers {
  return starknet && !hasSandbox ? live[starknet.network] : {};
}
