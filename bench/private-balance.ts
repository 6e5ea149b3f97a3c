// How long a user waits for an operation on a private balance, by step: in Node with proofs in the same thread and in a
// worker, and in Chromium with a worker. Against the running service and its sandbox. npm run bench:private
import { Worker } from 'node:worker_threads';
import { createSvc, type Svc, type SvcWallet } from '@svc/sdk';
import { formatPrivateAddress, publicPoint } from '@svc/starknet/private-balance';
import type { Page } from 'playwright-core';
import { passkeyEncryptKey } from '../packages/sdk/src/keys/cipher.ts';
import { sealKey } from '../packages/sdk/src/keys/seal.ts';
import type { LibraryPage } from '../tests/browser/pages/sdk-page.ts';
import { bundle } from '../tests/browser/support/bundle.ts';
import { openChromium } from '../tests/browser/support/chromium.ts';
import { servePages } from '../tests/browser/support/page-server.ts';
import { App, Owner } from '../tests/support/app.ts';
import { userToken } from '../tests/support/client.ts';
import { Sandbox } from '../tests/support/sandbox.ts';
import { startServer } from '../tests/support/server.ts';
import { median } from './support/median.ts';

declare const sdk: LibraryPage['sdk'];
declare const startProofWorker: LibraryPage['startProofWorker'];

const ROUNDS = 7;
const OPERATIONS = ['shield', 'transfer', 'rollover', 'unshield'] as const;
const WORKER = new URL('../packages/sdk/src/private-balance/worker.ts', import.meta.url);
/** Opens at once: the time of a PIN's stretching is in bench:sdk. */
const encryptKey = passkeyEncryptKey(new Uint8Array(32).fill(7));
const recipient = formatPrivateAddress(publicPoint(5n));

/** Milliseconds from each step to the next. */
type Steps = Readonly<Record<string, number>>;
type Operation = (typeof OPERATIONS)[number];
type Run = (operation: Operation, wallet: SvcWallet) => Promise<Steps>;

const service = await startServer({ env: { RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' } });
const { baseUrl, publicKey, secretKey } = service.credentials;
const app = new App(service);
try {
  await measure('Node, same thread', inNode(createSvc({ baseUrl, publicKey, secretKey })));
  const proofWorker = () => new Worker(WORKER);
  await measure('Node, worker', inNode(createSvc({ baseUrl, publicKey, secretKey, proofWorker })));
  await inChromium();
} finally {
  await service.stop();
}
process.exit(0);

async function newWallet(user: string): Promise<SvcWallet> {
  const owner = new Owner();
  await app.createWallet(owner, user);
  await new Sandbox(service).faucet(owner.address, 'USDC', '1000');
  const [privateKey, boundTo] = [BigInt(owner.privateKey), BigInt(owner.address)];
  const encryptedPrivateKey = await sealKey({ privateKey, boundTo, encryptKeys: [encryptKey] });
  return { publicKey: owner.address, encryptedPrivateKey };
}

async function measure(name: string, run: Run): Promise<void> {
  const wallet = await newWallet(name);
  for (const operation of OPERATIONS) await run(operation, wallet);
  for (const operation of OPERATIONS) {
    const rounds: Steps[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await run(operation, wallet));
    const of = (step: string) => median(rounds.map((steps) => steps[step] ?? Number.NaN)).toFixed(0);
    const parts = ['prepare', 'prove', 'submit', 'finish'].map((step) => `${step} ${of(step)}`).join(', ');
    console.log(`${name}: ${operation} ${of('total')} ms (${parts})`);
  }
}

const paramsOf = (operation: Operation, wallet: SvcWallet) => ({
  encryptKey,
  wallet,
  retryIntervalMs: 20,
  amount: operation === 'shield' ? '3' : '1',
  recipient: operation === 'unshield' ? wallet.publicKey : recipient,
});

function inNode(svc: Svc): Run {
  return async (operation, wallet) => {
    const marks: [string, number][] = [];
    const onStep = (step: string) => marks.push([step, performance.now()]);
    await svc.privateBalance[operation]({ ...paramsOf(operation, wallet), onStep });
    return durations([...marks, ['end', performance.now()]]);
  };
}

function durations(marks: readonly (readonly [string, number])[]): Steps {
  const [[, start] = ['', 0]] = marks;
  const steps = marks.slice(0, -1).map(([step, at], index) => [step, (marks[index + 1]?.[1] ?? at) - at] as const);
  return { ...Object.fromEntries(steps), total: (marks.at(-1)?.[1] ?? start) - start };
}

async function inChromium(): Promise<void> {
  const script = async (file: string) => ({ type: 'text/javascript', text: await bundle(file) });
  const html = '<!doctype html><title>Bench</title><script type="module" src="/sdk.js"></script>';
  const pages = await servePages(
    new Map([
      ['/', { type: 'text/html', text: html }],
      ['/sdk.js', await script('sdk-page.ts')],
      ['/proof-worker.js', await script('proof-worker.ts')],
    ]),
  );
  const browser = await openChromium();
  const page = await browser.newPage();
  await page.goto(pages.origin);
  await measure('Chromium, worker', inPage(page, await userToken(service, 'Chromium, worker')));
  await browser.close();
  await pages.stop();
}

function inPage(page: Page, bearerToken: string): Run {
  return async (operation, wallet) => {
    const marks = await page.evaluate(
      async ({ baseUrl, publicKey, bearerToken, operation, params }) => {
        const seen: [string, number][] = [];
        const onStep = (step: string) => seen.push([step, performance.now()]);
        const svc = sdk.createSvc({ baseUrl, publicKey, bearerToken, proofWorker: startProofWorker });
        await svc.privateBalance[operation]({ ...params, onStep });
        seen.push(['end', performance.now()]);
        return seen;
      },
      { baseUrl, publicKey, bearerToken, operation, params: paramsOf(operation, wallet) },
    );
    return durations(marks);
  };
}
