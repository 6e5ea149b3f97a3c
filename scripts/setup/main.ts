import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { formatTokenAmount, parseTokenAmount } from '@svc/protocol';
import { accountAddress, chainIds, classes, starkKey, toHex } from '@svc/starknet';
import { terminalQr } from '../../packages/cli/src/terminal-qr.ts';
import { type LiveNetwork, nameOfNetwork, parseLiveNetwork } from '../../packages/server/src/chains/networks.ts';
import { padAddress } from '../../packages/server/src/chains/starknet/chain.ts';
import { tokensOf } from '../../packages/server/src/chains/tokens.ts';
import { fileOf, filesIn, keepSecret, mergeEnv, readEnvFile, type SetupAccount, takeAccounts } from './accounts.ts';
import { SetupChain } from './chain.ts';
import { examineService } from './check.ts';

const { values: flags } = parseArgs({
  options: {
    network: { type: 'string' },
    node: { type: 'string' },
    'public-node': { type: 'string' },
    'public-url': { type: 'string' },
    'account-class': { type: 'string' },
    relayers: { type: 'string', default: '1' },
    strk: { type: 'string', default: '60' },
    usdc: { type: 'string', default: '100' },
    out: { type: 'string', default: 'svc-setup' },
    'no-check': { type: 'boolean', default: false },
  },
});

const POLL_MS = 2_000;
/** Declaring both classes took under 2 STRK of gas at 1 GFRI; live prices are a few times that. */
const DECLARE_STRK = '30';
const DEPLOY_STRK = '1';

async function main(): Promise<void> {
  const network = readNetwork();
  const urls = need('node').split(',');
  const files = filesIn(path.resolve(flags.out));
  const chain = new SetupChain({ chainId: chainIdOf(network), urls, state: files.state });
  await checkNodes(chain);
  const accountClass = flags['account-class'] ? BigInt(flags['account-class']) : await chain.accountClass();
  if (accountClass === undefined) {
    throw new Error(
      'This network has neither the SVC nor the READY class. Name one for the accounts: --account-class.',
    );
  }
  const accounts = takeAccounts(process.env, files, { relayers: Number(flags.relayers), accountClass });
  say(`Keys are in ${files.secrets}. Copy them to a safe place: without them the money is lost.`);
  const walletClass = typeof network === 'string' ? classes.svc : network.svcClassHash;
  const missing = await chain.missingClasses(walletClass);
  await waitForMoney(chain, network, accounts, missing.length > 0);
  for (const account of accounts) await deploy(chain, account);
  const declarer = accounts.find(({ role }) => role === 'payment');
  for (const each of missing) {
    if (declarer?.privateKey === undefined) {
      throw new Error(
        `The ${each.name} class is missing. Give PAYMENT_ACCOUNT to declare it, or see docs/contract.md.`,
      );
    }
    say(`Declaring the ${each.name} class ${toHex(each.classHash)}`);
    await chain.declare(declarer, each);
  }
  const operatorToken = keepSecret(path.join(files.secrets, 'operator_token'), newToken);
  const settings = settingsOf(network, accounts, walletClass, files);
  const existing = existsSync(files.env) ? readFileSync(files.env, 'utf8') : '';
  writeFileSync(files.env, mergeEnv(existing, settings), { mode: 0o600 });
  say(`Settings are in ${files.env}`);
  if (!flags['no-check']) await check(files.env, operatorToken);
}

const say = (text: string) => process.stdout.write(`${text}\n`);

function need(name: 'network' | 'node' | 'public-node'): string {
  const value = flags[name];
  if (value) return value;
  throw new Error(`--${name} is missing. svc setup asks for it on a terminal.`);
}

function readNetwork(): LiveNetwork {
  const network = parseLiveNetwork(need('network'));
  if (network.ok) return network.value;
  throw new Error(`--network ${network.reason}.`);
}

const chainIdOf = (network: LiveNetwork): bigint =>
  typeof network === 'string' ? { mainnet: chainIds.SN_MAIN, sepolia: chainIds.SN_SEPOLIA }[network] : network.chainId;

/** One of another chain throws. */
async function checkNodes({ chain }: SetupChain): Promise<void> {
  for (const { host, trouble } of await chain.checkChain()) {
    if (trouble !== undefined) throw new Error(`The node ${host} does not answer: ${trouble}. Check --node.`);
  }
}

interface Need {
  readonly account: SetupAccount;
  readonly token: 'STRK' | 'USDC';
  readonly amount: bigint;
  readonly decimals: number;
  readonly contract: bigint;
}

function needsOf(network: LiveNetwork, accounts: readonly SetupAccount[], mustDeclare: boolean): Need[] {
  const tokens = typeof network === 'string' ? tokensOf(network, 'STARKNET') : network.tokens;
  const needs = (account: SetupAccount, token: Need['token'], text: string): Need[] => {
    const { address, decimals = 0 } = tokens.find((each) => each.token === token) ?? {};
    const amount = parseTokenAmount(text, decimals);
    if (!amount.ok) throw new Error(`${text} ${token} ${amount.reason}.`);
    return amount.value === 0n
      ? []
      : [{ account, token, amount: amount.value, decimals, contract: BigInt(address ?? 0) }];
  };
  return accounts.flatMap((account) => {
    if (account.role === 'payment') {
      return account.privateKey === undefined ? [] : needs(account, 'STRK', mustDeclare ? DECLARE_STRK : DEPLOY_STRK);
    }
    const strk = needs(account, 'STRK', flags.strk);
    return account.role === 'manager' ? [...strk, ...needs(account, 'USDC', flags.usdc)] : strk;
  });
}

/** An account that is deployed had its money before: a second run does not ask for what was spent. */
async function waitForMoney(
  { chain }: SetupChain,
  network: LiveNetwork,
  accounts: readonly SetupAccount[],
  mustDeclare: boolean,
): Promise<void> {
  const deployed = new Set<bigint>();
  for (const { address, role } of accounts) {
    if ((await chain.classHashAt(address)) !== undefined && !(role === 'payment' && mustDeclare)) deployed.add(address);
  }
  const needs = needsOf(network, accounts, mustDeclare).filter(({ account }) => !deployed.has(account.address));
  let shown = '';
  for (;;) {
    const open: string[] = [];
    for (const { account, token, amount, decimals, contract } of needs) {
      const has = await chain.balanceOf(contract, account.address);
      if (has >= amount) continue;
      const missing = `${formatTokenAmount(amount, decimals)} ${token}, has ${formatTokenAmount(has, decimals)}`;
      open.push(`${account.role.padEnd(8)} ${padAddress(account.address)} needs ${missing}`);
    }
    if (open.length === 0) return;
    if (shown === '')
      for (const { role, address } of distinct(needs))
        say(`\n${role}: ${padAddress(address)}\n${terminalQr(padAddress(address))}`);
    const text = open.join('\n');
    if (text !== shown)
      say(`Waiting for money on ${nameOfNetwork(network)}. Ctrl-C and a later run go on with the same keys.\n${text}`);
    shown = text;
    await pause(POLL_MS);
  }
}

const distinct = (needs: readonly Need[]): SetupAccount[] => [...new Set(needs.map(({ account }) => account))];

async function deploy(chain: SetupChain, account: SetupAccount): Promise<void> {
  const { role, address, privateKey } = account;
  if (privateKey === undefined || (await chain.isDeployed(account))) return;
  const publicKey = starkKey(privateKey);
  const known = [classes.svc, classes.ready, ...(flags['account-class'] ? [BigInt(flags['account-class'])] : [])];
  const classHash = known.find((each) => accountAddress(each, publicKey) === address);
  if (classHash === undefined) {
    throw new Error(
      `The ${role} ${padAddress(address)} is not on the chain, and its class is not known: deploy it yourself.`,
    );
  }
  say(`Deploying the ${role} ${padAddress(address)}`);
  await chain.deploy(account, publicKey, classHash);
}

const newToken = () => `op_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('hex')}`;

function settingsOf(
  network: LiveNetwork,
  accounts: readonly SetupAccount[],
  walletClass: bigint,
  files: ReturnType<typeof filesIn>,
): Record<string, string> {
  const payment = accounts.find(({ role }) => role === 'payment');
  const secret = (variable: string, role: 'relayer' | 'manager') =>
    existsSync(fileOf(files, role)) ? { [`${variable}_FILE`]: fileOf(files, role) } : {};
  return {
    STARKNET_NETWORK: typeof network === 'string' ? network : path.resolve(need('network')),
    STARKNET_RPC_URLS: need('node'),
    STARKNET_PUBLIC_RPC_URL: need('public-node'),
    SVC_CLASS_HASH: toHex(walletClass),
    PAYMENT_ADDRESS: padAddress(payment?.address ?? 0n),
    ...secret('RELAYER_ACCOUNTS', 'relayer'),
    ...secret('MANAGER_ACCOUNT', 'manager'),
    OPERATOR_TOKEN_FILE: path.join(files.secrets, 'operator_token'),
    ...(flags['public-url'] && { PUBLIC_URL: flags['public-url'] }),
  };
}

async function check(envFile: string, operatorToken: string): Promise<void> {
  say('Starting the service once, to have it examine itself');
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-setup-'));
  try {
    const { checks } = await examineService({ SVC_DATA_DIR: folder, ...readEnvFile(envFile) }, operatorToken);
    for (const { name, state, found, fix } of checks) {
      say(`${marks[state]}  ${name.padEnd(16)}${found}${fix === null ? '' : `\n      → ${fix}`}`);
    }
    const failing = checks.filter(({ state }) => state === 'failing').length;
    if (failing > 0) throw new Error(`${failing} of ${checks.length} checks fail.`);
    say(`The deployment is ready: start the service with the settings of ${envFile}.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const marks = { ok: 'ok  ', warning: 'warn', failing: 'fail' } as const;

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
