// Follows docs/first-app.md as a new user would, in an empty folder, and checks each step: clone, start, an app with the
// packed libraries, a wallet with a passkey, a transfer, a webhook on this machine, gifts from a CSV file.
//
//   npm run first-hour              packages from npm's cache where it has them
//   npm run first-hour -- --cold    with an empty cache
//
// It follows the last commit. The package registry is the only network.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { button, heading } from '../../tests/browser/support/claim-visits.ts';
import { fillIn, readGuide } from './guide.ts';
import { STEP_LIMIT_MS, Story } from './story.ts';
import type { Env } from './terminal.ts';

const root = path.resolve(import.meta.dirname, '../..');
const GUIDE = 'docs/first-app.md';
const GOAL_S = 180;
/** It bounds a hang, not speed. */
const INSTALL_LIMIT_MS = 600_000;

/** Answers the seconds until the first transfer. */
async function follow(story: Story): Promise<number> {
  const guide = readGuide(git('show', `HEAD:${GUIDE}`));
  const [page, port, hookPort] = await Promise.all([story.openBrowser(), freePort(), freePort()]);
  const app = (file: string) => path.join(story.folder, 'my-app', file);
  const write = (step: number, values: Record<string, string> = {}) => {
    for (const [file, text] of guide.files(step)) writeFileSync(app(file), fillIn(text, values));
  };
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const hasBalance = (text: string) => page.getByLabel('Balance').getByText(text, { exact: true }).waitFor();

  const start = story.terminal('npm start', fillIn(guide.commands(1), { '<this repository>': `'${root}'` }), {
    PORT: String(port),
  });
  await story.step('clone', () => start.shows(/Installing dependencies/, STEP_LIMIT_MS));
  await story.step('install', () => start.shows(/Installed in/, INSTALL_LIMIT_MS));
  await story.step('start', () => start.shows(/svc is ready/, STEP_LIMIT_MS));

  await story.step('make an app with the tarballs', async () => {
    await story.terminal('making the app', guide.commands(2)).succeeds(INSTALL_LIMIT_MS);
    write(2);
  });

  const [, address = ''] = await story.step('start the app', () =>
    story.terminal('npm run dev', guide.commands(3)).shows(/(http:\/\/localhost:\d+)/, STEP_LIMIT_MS),
  );
  const wallet = await story.step('create a wallet with a passkey', async () => {
    await page.goto(address);
    await press('Create my wallet');
    return String(await page.getByText(/^0x[0-9a-f]{20,}$/).textContent());
  });
  await story.step('get test money and send a transfer', async () => {
    await press('Get 25 test USDC');
    await hasBalance('25');
    await press('Send 2.50 USDC');
    await page.getByText('Sent.', { exact: true }).waitFor();
    await hasBalance('22.5');
  });
  const untilTransfer = story.seconds;

  const listen = story.terminal('svc listen', fillIn(guide.commands(4), { '3000': String(hookPort) }));
  const [secret] = await story.step('listen for events', async () => {
    await listen.shows(/Ready/, STEP_LIMIT_MS);
    return listen.shows(/whsec_[\w+/=]+/, STEP_LIMIT_MS);
  });
  await story.step('receive the webhook of a transfer', async () => {
    write(4, { '3000': String(hookPort) });
    const hook = story.terminal('hook.mjs', fillIn(guide.commands(4, 1), { 'whsec_…': secret }));
    await hook.shows(/listening/, STEP_LIMIT_MS);
    await press('Send 2.50 USDC');
    await hook.shows(/transaction\.confirmed txn_/, STEP_LIMIT_MS);
    await listen.shows(/transaction\.confirmed.*204/, STEP_LIMIT_MS);
    await hasBalance('20');
  });

  const gifts = await story.step('import gifts from a CSV file', async () => {
    await story.terminal('svc gifts import', guide.commands(5)).succeeds(STEP_LIMIT_MS);
    const [, ...rows] = readFileSync(app('people.codes.csv'), 'utf8').trim().split(/\r?\n/);
    return rows.map((row) => row.split(',').map((cell) => cell.replaceAll('"', '')));
  });
  const [[, code = ''] = [], [, , claimUrl = ''] = []] = gifts;
  await story.step('claim one in the app', async () => {
    await page.getByLabel('Gift code').fill(code);
    await press('Claim');
    await page.getByText('It is yours.', { exact: true }).waitFor();
    await hasBalance('25');
  });
  await story.step('claim one on its page', async () => {
    await claim(page, claimUrl, wallet);
    await page.goto(address);
    await hasBalance('35');
  });
  await story.step('build the app for production', () =>
    story.terminal('npm run build', 'cd my-app && npm run build').succeeds(STEP_LIMIT_MS),
  );
  return untilTransfer;
}

async function claim(page: Page, claimUrl: string, wallet: string): Promise<void> {
  await page.goto(claimUrl);
  await button(page, 'Get my gift').click();
  await button(page, 'Starknet').click();
  await page.getByLabel('Your Starknet wallet address').fill(wallet);
  await button(page, 'Continue').click();
  await button(page, 'Yes, send it to me').click();
  await heading(page).getByText('Your gift has arrived!').waitFor();
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** Settings of npm that a machine needs to reach its registry; all others belong to the run of this script. */
const MACHINE = /^npm_config_(registry|cafile|cache|userconfig|globalconfig|https?_proxy|proxy|noproxy|_?auth|\/\/)/i;
const OURS = /^(npm_|SVC_|INIT_CWD|NODE_(ENV|OPTIONS|COMPILE_CACHE)|VITEST|PORT$|HOST$|DATABASE_URL|CI$)/i;

/** What a shell of this machine has, without what npm and the launcher added. */
function userEnv(): Env {
  const entries = Object.entries(process.env).filter(([name]) => MACHINE.test(name) || !OURS.test(name));
  const added = (folder: string) => folder.startsWith(root) || folder.includes('node-gyp-bin');
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => !added(folder));
  // A user answers yes when npm asks whether to fetch create-vite.
  return { ...Object.fromEntries(entries), PATH: folders.join(path.delimiter), npm_config_yes: 'true' };
}

async function main(args: readonly string[]): Promise<void> {
  const unknown = args.filter((arg) => arg !== '--cold');
  if (unknown.length > 0) throw new Error(`Unknown option: ${unknown.join(' ')}. There is --cold.`);
  if (!existsSync(path.join(root, '.git'))) {
    console.log('Skipped: a new user clones the repository, and this folder is none.');
    return;
  }
  const env = userEnv();
  const story = new Story(env);
  if (args.includes('--cold')) story.setEnv('npm_config_cache', path.join(story.folder, 'npm-cache'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void story.end().finally(() => process.exit(130)));
  }
  console.log('   step     total');
  try {
    const untilTransfer = await follow(story);
    await story.step('end everything with Ctrl-C', async () => {
      const stubborn = await story.end();
      if (stubborn.length > 0) throw new Error(`Ended by force: ${stubborn.join(', ')}.`);
    });
    const verdict = untilTransfer <= GOAL_S ? 'under' : 'above';
    console.log(`\nFrom clone to first transfer: ${Math.round(untilTransfer)} s, ${verdict} the goal of ${GOAL_S} s.`);
  } finally {
    await story.end();
  }
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
    console.error(`${error instanceof Error ? error.message : error}\n${cause}`);
    process.exit(1);
  },
);
