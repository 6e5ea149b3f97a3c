import { readFileSync } from 'node:fs';
import { ApiError, type RedeemChain } from '@svc/protocol';
import { loadPages, type PageName, type Pages } from '@svc/web/pages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type LiveStarknet, nameOfNetwork } from './chains/networks.ts';
import type { Config } from './config.ts';

export interface ServedPages {
  readonly pages: Pages;
  readonly explorers: Explorers;
  /** The explorer shows the sandbox's chain. */
  readonly hasSandbox: boolean;
  /** Undefined: there is no page at `/`. */
  readonly home: HomeFacts | undefined;
}

/** What the page at `/` tells anyone. */
export interface HomeFacts {
  readonly version: string;
  readonly network: string | null;
  readonly hasSandbox: boolean;
}

const versionOfService = (): string =>
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Built where its sources changed, while the database starts; so it is begun first and awaited last. */
export function loadServedPages(config: Config, log: Logger, flush: () => void): Promise<ServedPages | undefined> {
  if (config.role === 'worker') return Promise.resolve(undefined);
  const { sandbox: hasSandbox, chains } = config;
  const explorers = explorersOf(chains.starknet, hasSandbox);
  const home = config.homePage
    ? { version: versionOfService(), network: nameOfHome(chains.starknet), hasSandbox }
    : undefined;
  const loading = loadPages((line) => {
    log.info(line);
    flush();
  }).then((pages) => ({ pages, explorers, hasSandbox, home }));
  // The caller awaits it later; until then a failure is not unhandled.
  loading.catch(() => undefined);
  return loading;
}

const nameOfHome = (starknet: LiveStarknet | undefined) => (starknet ? nameOfNetwork(starknet.network) : null);

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];
/** `data:` is for the empty icon, without which browsers request one; 'self' for logos. */
const CLAIM_POLICY = [...POLICY, "img-src 'self' data:", "form-action 'none'"].join('; ');
/** Argon2id, which stretches passphrases, is WebAssembly. */
const WALLET_POLICY = CLAIM_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'");
/** `blob:` is for pictures that a page makes itself, such as a chosen logo. */
const POLICY_OF_OTHERS = [...POLICY, "img-src 'self' data: blob:", "form-action 'self'"].join('; ');
/** WebAssembly is for Argon2, which opens a member's own wallet to sign for a treasury. It allows no other code. */
const DASHBOARD_POLICY = POLICY_OF_OTHERS.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'");
/** Asset names contain a content hash. */
const FOREVER = 'public, max-age=31536000, immutable';

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export function registerPages(app: FastifyInstance, { pages, explorers, hasSandbox, home }: ServedPages): void {
  registerClaimPage(app, withFacts(pages.html.claim, 'svc-explorers', explorers));
  registerAssets(app, '/claim', pages);
  registerWallet(app, pages);
  registerTree(app, '/dashboard', pages, 'dashboard');
  if (hasSandbox) registerTree(app, '/sandbox/explorer', pages, 'explorer');
  if (home) registerHome(app, withFacts(pages.html.home, 'svc-home', home));
  registerAssets(app, '', pages);
}

/** The same page for every code: it asks the interface what the code gives. */
function registerClaimPage(app: FastifyInstance, html: string): void {
  const page = (reply: FastifyReply) => {
    reply.header('content-security-policy', WALLET_POLICY).header('permissions-policy', 'camera=(self)');
    return sendHtml(reply, html);
  };
  // The page refers to its assets by relative paths.
  app.get('/claim', async (_, reply) => reply.redirect('claim/'));
  app.get('/claim/', async (_, reply) => page(reply));
  app.get('/claim/:code', async (_, reply) => page(reply));
}

const MANIFEST_POLICY = `${WALLET_POLICY}; manifest-src 'self'`;

/** Installable: browsers read a name, an icon and a place to start. */
function registerWallet(app: FastifyInstance, pages: Pages): void {
  const icon = [...pages.assets.keys()].find((name) => /^icon-.*\.svg$/.test(name));
  const link = '<link rel="manifest" href="./wallet/manifest.webmanifest" />';
  const html = pages.html.wallet.replaceAll('"./assets/', '"./wallet/assets/').replace('</head>', `${link}</head>`);
  app.get('/wallet', async (_, reply) => {
    reply.header('content-security-policy', MANIFEST_POLICY).header('permissions-policy', 'camera=(self)');
    return sendHtml(reply, html);
  });
  app.get('/wallet/manifest.webmanifest', async (_, reply) =>
    reply
      .header('cache-control', 'no-cache')
      .type('application/manifest+json')
      .send({
        ...{ name: 'Wallet', short_name: 'Wallet', start_url: '../wallet', scope: '../wallet', display: 'standalone' },
        ...{ background_color: '#fbfaf8', theme_color: '#fbfaf8' },
        icons: icon ? [{ src: `assets/${icon}`, type: 'image/svg+xml', sizes: 'any' }] : [],
      }),
  );
  registerAssets(app, '/wallet', pages);
}

/** One page for a path and every path below it: the page reads the address itself. */
function registerTree(app: FastifyInstance, prefix: string, pages: Pages, name: PageName): void {
  const page = async ({ url }: FastifyRequest, reply: FastifyReply) => {
    reply.header('content-security-policy', name === 'dashboard' ? DASHBOARD_POLICY : POLICY_OF_OTHERS);
    return sendHtml(reply, pages.html[name].replaceAll('"./assets/', `"${pathToTree(url, prefix)}assets/`));
  };
  app.get(prefix, page);
  app.get(`${prefix}/*`, page);
  registerAssets(app, prefix, pages);
}

/** Relative, so that a proxy may add a path prefix: `/dashboard/gifts/new` is one folder below the assets' parent. */
function pathToTree(url: string, prefix: string): string {
  const path = url.split('?', 1)[0] ?? '';
  const below = path.slice(prefix.length);
  if (below === '') return `./${prefix.split('/').at(-1)}/`;
  return '../'.repeat(below.split('/').length - 2) || './';
}

/** For browsers; other clients of an address without an endpoint get the interface's answer. */
function registerHome(app: FastifyInstance, html: string): void {
  app.get('/', async ({ headers }, reply) => {
    if (!headers.accept?.includes('text/html')) return reply.callNotFound();
    reply.header('content-security-policy', POLICY_OF_OTHERS).header('vary', 'accept');
    return sendHtml(reply, html);
  });
}

/** For browsers that look for a page. Answers false to others. */
export function sendNotFoundPage({ pages }: ServedPages, request: FastifyRequest, reply: FastifyReply): boolean {
  const { url, method, headers } = request;
  if (method !== 'GET' || url.startsWith('/v1') || !headers.accept?.includes('text/html')) return false;
  const path = url.split('?', 1)[0] ?? '';
  const toRoot = '../'.repeat(path.split('/').length - 2) || './';
  reply.code(404).header('content-security-policy', POLICY_OF_OTHERS).header('vary', 'accept');
  sendHtml(reply, pages.html.notFound.replaceAll('"./', `"${toRoot}`));
  return true;
}

function registerAssets(app: FastifyInstance, prefix: string, { assets }: Pages): void {
  app.get<{ Params: { name: string } }>(`${prefix}/assets/:name`, async ({ params: { name }, headers }, reply) => {
    const asset = assets.get(name);
    if (!asset) throw new ApiError('not_found');
    reply.header('cache-control', FOREVER).header('vary', 'accept-encoding');
    reply.type(types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream');
    if (!/\bbr\b/.test(headers['accept-encoding']?.toString() ?? '')) return reply.send(asset.body);
    return reply.header('content-encoding', 'br').send(asset.brotli);
  });
}

const sendHtml = (reply: FastifyReply, html: string) =>
  reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(html);

/** For the page's script, which must not be inline. */
function withFacts(html: string, name: 'svc-explorers' | 'svc-home', facts: object): string {
  if (Object.keys(facts).length === 0) return html;
  const text = JSON.stringify(facts).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return html.replace(`<meta name="${name}" content=""`, () => `<meta name="${name}" content="${text}"`);
}

/** Address of a transaction's page, with `{hash}`. */
export type Explorers = Readonly<Partial<Record<RedeemChain, string>>>;

const live: Readonly<Record<'mainnet' | 'sepolia', Explorers>> = {
  mainnet: { starknet: 'https://voyager.online/tx/{hash}', solana: 'https://solscan.io/tx/{hash}' },
  sepolia: {
    starknet: 'https://sepolia.voyager.online/tx/{hash}',
    solana: 'https://solscan.io/tx/{hash}?cluster=devnet',
  },
};

/** Seen from a claim page, so that a proxy may add a path prefix. */
const sandboxExplorers: Explorers = { starknet: '../sandbox/explorer/tx/{hash}' };

/** None beside a live network with the sandbox on: the claim page cannot tell gifts of development apart. */
export function explorersOf(starknet: LiveStarknet | undefined, hasSandbox: boolean): Explorers {
  if (!starknet) return hasSandbox ? sandboxExplorers : {};
  if (hasSandbox) return {};
  const { network } = starknet;
  if (typeof network === 'string') return live[network];
  return network.explorer === undefined ? {} : { starknet: network.explorer };
}
