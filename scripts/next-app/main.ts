// Builds the Next.js app of this folder with the tarballs, starts it, and expects a wallet in the HTML of its server.
//
//   npm run check:next
//
// Installs Next.js into a temporary folder, so it needs the npm registry.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSvc } from '@svc/sdk';
import { freePort } from '../../packages/sandbox/src/worker/node-thread.ts';
import { startServer } from '../../tests/support/server.ts';
import { buildTarballs } from '../tarballs.ts';

const VERSIONS = {
  next: '16.4.6',
  react: '19.3.1',
  'react-dom': '19.3.1',
  '@tanstack/react-query': '^5.66.0',
  typescript: '5.9.3',
  '@types/node': '^26.0.0',
  '@types/react': '19.3.0',
};
const START_LIMIT_MS = 60_000;

async function install(folder: string): Promise<void> {
  cpSync(path.join(import.meta.dirname, 'app'), path.join(folder, 'app'), { recursive: true });
  const tarballs = await buildTarballs('0.0.0-next', path.join(folder, 'tarballs'));
  const ours = tarballs
    .filter(({ name }) => name !== '@svc/cli')
    .map(({ name, file }) => [name, `file:${path.relative(folder, file)}`]);
  const dependencies = { ...VERSIONS, ...Object.fromEntries(ours) };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
}

/** The page's HTML, once the app answers. */
async function read(url: string): Promise<string> {
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return response.text();
    if (Date.now() > deadline) throw new Error(`The app answered ${response?.status ?? 'nothing'}.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'svc-next-'));
const server = await startServer();
try {
  await install(folder);
  const { baseUrl, publicKey, secretKey } = server.credentials;
  const svc = createSvc({ baseUrl, publicKey, secretKey });
  await svc.createWallet({ externalUserId: 'ana', chain: 'STARKNET', encryptKey: 'a long passphrase' });
  const wallet = await svc.getWallet({ externalUserId: 'ana' });
  const env = {
    ...process.env,
    NODE_ENV: 'production' as const,
    NEXT_TELEMETRY_DISABLED: '1',
    NEXT_PUBLIC_BASE_URL: baseUrl,
    NEXT_PUBLIC_PUBLIC_KEY: publicKey,
    SECRET_KEY: secretKey,
  };
  const next = path.join(folder, 'node_modules/next/dist/bin/next');
  execFileSync(process.execPath, [next, 'build'], { cwd: folder, stdio: 'inherit', env });
  const port = await freePort();
  const app = spawn(process.execPath, [next, 'start', '--port', String(port)], { cwd: folder, stdio: 'inherit', env });
  try {
    const html = await read(`http://127.0.0.1:${port}/`);
    if (!html.includes(`<output>${wallet.publicKey}</output>`)) throw new Error(`The wallet is not in:\n${html}`);
    if (html.includes(secretKey) || html.includes('encryptedPrivateKey')) throw new Error('The page has a secret.');
  } finally {
    app.kill();
  }
  console.log(`Next.js ${VERSIONS.next} with React ${VERSIONS.react}: built, and the server's HTML has the wallet.`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
