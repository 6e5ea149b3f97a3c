import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { classes, starknetTokens, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunHere, type Step, stepsOf } from '../../deploy/testing/commands.ts';
import { Compose } from '../../deploy/testing/compose.ts';
import { findPrograms, isRoot } from '../../deploy/testing/postgres-programs.ts';
import { type SandboxServer, startSandbox } from '../../packages/sandbox/testing/sandbox-server.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox } from '../support/sandbox.ts';
import { processEnv } from '../support/server.ts';

const run = promisify(execFile);
const project = path.resolve(import.meta.dirname, '../..');
/** For a machine that is ten times slower. */
const LIMIT_MS = 1_800_000;
const programs = findPrograms();

let root: string;
let clone: string;
let node: SandboxServer;
let chain: Sandbox;
let compose: Compose;
let replacements: [string | RegExp, string][];
let place: string;

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'svc-guide-'));
  await chmod(root, 0o755);
  for (const folder of ['home', 'opt', 'etc/systemd/system', 'tmp'])
    await mkdir(path.join(root, folder), { recursive: true });
  clone = path.join(root, 'opt/svc');
  place = root;
  node = await startSandbox();
  chain = new Sandbox({ origin: new URL(node.url).origin });
  const network = path.join(root, 'network.json');
  const tokens = starknetTokens.mainnet.map(([token, address, decimals]) => ({ token, address, decimals })).slice(0, 6);
  const file = { name: 'workshop', chainId: 'SVC_SANDBOX', tokens, classes: { svc: toHex(classes.svc) } };
  await writeFile(network, JSON.stringify(file));
  const ports = { proxy: await freePort(), api: await freePort(), postgres: await freePort() };
  compose = new Compose({ clone, root, programs: programs ?? '', ports, env: processEnv() });
  replacements = [
    ['<this repository>', project],
    ['--network mainnet', `--network ${network}`],
    [/https:\/\/(public-)?node\.example\.com\/rpc/g, node.rpcUrl],
    ['https://svc.example.com', `http://127.0.0.1:${ports.proxy}`],
    // The user of the image of PostgreSQL.
    [/-o 999 -g 999 /g, isRoot ? '-o postgres -g postgres ' : ''],
    [/(?<=^|[ >])\/(opt|var|etc)\//g, `${root}/$1/`],
  ];
});
afterAll(async () => {
  await compose?.stopAll();
  await node?.stop();
  await rm(root, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

const here = (text: string) => replacements.reduce((all, [from, to]) => all.replaceAll(from, to), text);

const env = () => ({
  ...processEnv(),
  HOME: path.join(root, 'home'),
  // A repository of another user can be cloned.
  GIT_CONFIG_GLOBAL: path.join(root, 'gitconfig'),
});

/** One command where the one before ended; answers what it prints. */
async function shell(text: string): Promise<string> {
  const script = `${text}\npwd > ${root}/place`;
  const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: place, env: env() });
  place = (await readFile(path.join(root, 'place'), 'utf8')).trim();
  return stdout;
}

const wordsOf = (text: string) => (text.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));

async function perform(text: string): Promise<string> {
  const command = here(text);
  if (!command.startsWith('docker compose ')) return shell(command);
  expect(place).toBe(path.join(clone, 'deploy/compose'));
  return compose.command(wordsOf(command).slice(2));
}

/** The files as they are now, and the packages that are installed already. */
async function completeClone(): Promise<void> {
  const part = { recursive: true, filter: (source: string) => !source.includes('/node_modules') };
  for (const name of [
    'packages',
    'deploy',
    'docs',
    'scripts',
    'contracts/compiled',
    'package.json',
    'package-lock.json',
    'Dockerfile',
  ]) {
    await cp(path.join(project, name), path.join(clone, name), part);
  }
  const modules = path.join(clone, 'node_modules');
  await mkdir(path.join(modules, '@svc'), { recursive: true });
  for (const name of await readdir(path.join(project, 'node_modules'))) {
    if (name !== '@svc') await symlink(path.join(project, 'node_modules', name), path.join(modules, name));
  }
  for (const name of await readdir(path.join(clone, 'packages'))) {
    await symlink(path.join(clone, 'packages', name), path.join(modules, '@svc', name));
    const own = path.join(project, 'packages', name, 'node_modules');
    if (existsSync(own)) await symlink(own, path.join(clone, 'packages', name, 'node_modules'));
  }
}

/** As the person does who reads the addresses. */
async function fund(isOver: () => boolean): Promise<void> {
  const secret = (name: string) => path.join(clone, 'deploy/compose/secrets', name);
  const names = ['relayer_accounts', 'manager_account', 'payment_account'];
  await eventually(async () => isOver() || names.every((name) => existsSync(secret(name))), Boolean, LIMIT_MS);
  if (isOver()) return;
  for (const name of names) {
    const address = (await readFile(secret(name), 'utf8')).split(':')[0] ?? '';
    await chain.faucet(address, 'STRK', '100');
    await chain.faucet(address, 'USDC', '200');
  }
}

async function setUp(text: string): Promise<string> {
  let isOver = false;
  const output = perform(text).finally(() => (isOver = true));
  await Promise.all([output, fund(() => isOver)]);
  return output;
}

/** The example of the guide, in an app of the organisation; answers the address of its wallet. */
async function runExample(code: string, keys: Record<string, string>): Promise<string> {
  // Mainnet is known to the library; the network of this test has to be named.
  const trusting = code.replace('secretKey });', "secretKey, trust: { chainId: 'SVC_SANDBOX' } });");
  const args = ['--input-type=module', '-e', here(trusting)];
  const { stdout } = await run(process.execPath, args, { cwd: clone, env: { ...env(), ...keys } });
  expect(stdout).toMatch(/^0x[0-9a-f]+ \{.*success: true/s);
  return stdout.split(' ')[0] ?? '';
}

async function addresses(keys: Record<string, string>): Promise<string[]> {
  const headers = { 'x-api-key': keys.SVC_PUBLIC_KEY ?? '', authorization: `Bearer ${keys.SVC_SECRET_KEY}` };
  const response = await fetch(here('https://svc.example.com/v1/svc-wallets'), { headers });
  const { data } = (await response.json()) as { data: { publicKey: string }[] };
  return data.map(({ publicKey }) => publicKey).sort();
}

async function readSteps(file: string, from = /^/, to = /$(?!\s|\S)/): Promise<Step[]> {
  const text = await readFile(path.join(project, 'docs', file), 'utf8');
  const start = text.search(from);
  return stepsOf(text.slice(start, start + text.slice(start).search(to))).filter(isRunHere);
}

interface Deployment {
  readonly organization: string;
  readonly keys: Record<string, string>;
  readonly example: string;
  readonly wallet: string;
  readonly said: ReadonlyMap<string, string>;
}

/** docs/deploy.md from its first line to its last. */
async function deploy(): Promise<Deployment> {
  const said = new Map<string, string>();
  const made = { organization: '', keys: {}, example: '', wallet: '', said };
  for (const step of await readSteps('deploy.md')) {
    if (step.language === 'js') {
      made.example = step.text;
      made.wallet = await runExample(step.text, made.keys);
      continue;
    }
    const text = step.text.replace('org_…', made.organization);
    const output = await (text.startsWith('npm run setup') ? setUp(text) : perform(text));
    said.set(step.text, output);
    if (text.startsWith('git clone')) await completeClone();
    if (text.includes('organizations create')) made.organization = JSON.parse(output).id;
    if (text.includes('keys create')) {
      const { publicKey, secretKey } = JSON.parse(output);
      made.keys = { SVC_PUBLIC_KEY: publicKey, SVC_SECRET_KEY: secretKey };
    }
  }
  return made;
}

interface Finding {
  readonly name: string;
  readonly state: string;
}

const findingsIn = (answer: string) => (JSON.parse(answer) as { checks: Finding[] }).checks;

async function findings(): Promise<Finding[]> {
  const steps = await readSteps('deploy.md');
  return findingsIn(await perform(steps.find(({ text }) => text.includes('/operator/doctor'))?.text ?? ''));
}

/** The keys in an encrypted file, and nowhere else in the settings. */
async function useKeystore(): Promise<void> {
  const [create] = await readSteps('operations.md', /^### Keystore$/m, /^### A signer elsewhere$/m);
  const folder = path.join(clone, 'deploy/compose');
  const named = ['relayer_accounts', 'manager_account'].map((name) => [
    `${name.toUpperCase()}_FILE`,
    `secrets/${name}`,
  ]);
  const passphrase = path.join(root, 'etc/svc/passphrase');
  await writeFile(passphrase, 'correct horse battery staple');
  const given = [...named, ['ACCOUNTS_PASSPHRASE_FILE', passphrase]];
  const exports = given.map(([name, file]) => `export ${name}=${path.resolve(folder, file ?? '')}`);
  await perform(['cd /opt/svc', ...exports, create?.text ?? ''].join('\n'));
  const without = async (file: string) => {
    const lines = (await readFile(path.join(folder, file), 'utf8')).split('\n');
    return lines.filter((line) => !named.some(([name]) => line.trim().startsWith(name ?? '')));
  };
  await writeFile(path.join(folder, 'compose.yaml'), (await without('compose.yaml')).join('\n'));
  const sealed = [`ACCOUNTS_KEYSTORE=${root}/etc/svc/keystore.json`, `ACCOUNTS_PASSPHRASE_FILE=${passphrase}`, ''];
  await writeFile(path.join(folder, 'svc.env'), [...(await without('svc.env')), ...sealed].join('\n'));
  await perform('cd /opt/svc/deploy/compose');
  await perform('docker compose up --detach --no-deps worker');
  await perform('docker compose up --detach --no-deps api');
}

describe.skipIf(programs === undefined)('the guides of a deployment', () => {
  it(
    'lead from an empty server to a wallet, a backup, a restore and an upgrade, command by command',
    async () => {
      const { organization, keys, example, wallet, said } = await deploy();
      const outputOf = (part: string) => [...said].find(([command]) => command.includes(part))?.[1] ?? '';
      expect(outputOf('npm run setup')).toMatch(/The deployment is ready/);
      expect(outputOf('docker compose ps').split('\n').sort()).toEqual(['api', 'postgres', 'proxy', 'worker']);
      expect(JSON.parse(outputOf('/readyz'))).toMatchObject({ status: 'ok' });
      const checks = findingsIn(outputOf('/operator/doctor'));
      expect(checks.filter(({ state }) => state === 'failing')).toEqual([]);
      expect(checks).toContainEqual(expect.objectContaining({ name: 'database role', state: 'ok' }));
      for (const invitation of ['operators invite', 'members invite'])
        expect(outputOf(invitation)).toContain('/invitation/');
      const backup = path.basename(outputOf('base-backup.sh').trim());

      // The name of the backup has whole seconds: its end is at most one later.
      const moment = new Date(Date.parse(backup) + 1_000);
      await expect.poll(() => Date.now()).toBeGreaterThan(moment.getTime());
      const lost = await runExample(example.replace("'first'", "'lost'"), keys);
      for (const { text } of await readSteps('upgrades.md', /^### Restoring$/m, /^## Upgrades$/m)) {
        const output = await perform(text.replace('2026-11-17T20:15:00Z', moment.toISOString()));
        if (text.includes(' reconcile')) expect(JSON.parse(output)).toMatchObject({ open: 0 });
      }
      const owners = await addresses(keys);
      expect([owners.includes(wallet), owners.includes(lost)]).toEqual([true, false]);

      for (const { text } of await readSteps('upgrades.md', /^## Upgrades$/m, /^### Expand/m)) await perform(text);
      const [first, again] = [await addresses(keys), await runExample(example.replace("'first'", "'again'"), keys)];
      expect([first, await addresses(keys)]).toEqual([owners, expect.arrayContaining([again, wallet])]);

      await useKeystore();
      expect(await findings()).toContainEqual(expect.objectContaining({ name: 'manager key', state: 'ok' }));
      const organizations = ['run', 'api', 'packages/server/src/admin.ts', 'organizations', 'list'];
      expect(await compose.command(organizations)).toContain(organization);
    },
    LIMIT_MS,
  );
});
