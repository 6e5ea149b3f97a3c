import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as ask, createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DoctorReport, endpoints } from '@svc/protocol';
import { classes, starknetTokens, toHex } from '@svc/starknet';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../packages/sandbox/testing/sandbox-server.ts';
import { runSvc, svcEnv } from '../cli/support/run-svc.ts';
import type { Keys } from '../support/app.ts';
import { expectAnswer } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { Sandbox } from '../support/sandbox.ts';
import { OPERATOR_TOKEN, TestService } from '../support/service.ts';

/** Two services of production on the sandbox's node: one with all it needs, one with nothing in order. */
let node: SandboxServer;
let good: TestService;
let broken: TestService;
let keys: { good: Keys; broken: Keys };
let folder: string;
const servers: { close(done: () => void): void }[] = [];
const tokens = starknetTokens.mainnet.map(([token, address, decimals]) => ({ token, address, decimals })).slice(0, 6);
const addressOf = (name: string) => tokens.find(({ token }) => token === name)?.address ?? '';
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener) => listen(createServer(listener));

async function startMail(): Promise<number> {
  const server = new SMTPServer({ disabledCommands: ['STARTTLS'], authOptional: true, disableReverseLookup: true });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.server.address() as AddressInfo).port;
}

/** Appends the client's address, as every proxy does. */
const proxyTo =
  (target: () => string): RequestListener =>
  (incoming, reply) => {
    const headers = { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress ?? '' };
    const passed = ask(`${target()}${incoming.url}`, { method: incoming.method ?? 'GET', headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    incoming.pipe(passed);
  };

const listeningAt = ({ server }: TestService) => /listening at (http:\S+?)"/.exec(server.output())?.[1] ?? '';

async function writeNetwork(name: string, changes: object): Promise<string> {
  const file = path.join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify({ name, chainId: 'SVC_SANDBOX', tokens, ...changes }));
  return file;
}

beforeAll(async () => {
  node = await startSandbox();
  folder = await mkdtemp(path.join(tmpdir(), 'svc-doctor-'));
  const { accounts } = await new Sandbox({ origin: new URL(node.url).origin }).show();
  const pairs = (label: RegExp) =>
    accounts.filter((each) => label.test(each.label)).map(({ address, privateKey }) => `${address}:${privateKey}`);
  const [manager = ''] = pairs(/manager/);
  const common = {
    SANDBOX: 'off',
    OPERATOR_TOKEN,
    STARKNET_RPC_URLS: node.rpcUrl,
    STARKNET_PUBLIC_RPC_URL: node.rpcUrl,
    PAYMENT_ADDRESS: manager.split(':')[0] ?? '',
    MAIL_FROM: 'svc@example.com',
    FULFILMENT_SECRET: secret,
  };
  const answering = (status: number, body: object) =>
    serve((_, reply) => reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)));
  const [proxy, mail, fulfilment, refusing] = await Promise.all([
    serve(proxyTo(() => listeningAt(good))),
    startMail(),
    answering(404, { status: 'unknown' }),
    answering(401, { error: 'wrong signature' }),
  ]);
  good = await TestService.hosted({
    ...common,
    STARKNET_NETWORK: await writeNetwork('workshop', { classes: { svc: toHex(classes.svc) } }),
    RELAYER_ACCOUNTS: pairs(/relayer/).join(),
    MANAGER_ACCOUNT: manager,
    PUBLIC_URL: `http://127.0.0.1:${proxy}`,
    TRUST_PROXY: '1',
    SMTP_URL: `smtp://127.0.0.1:${mail}`,
    FULFILMENT_URL: `http://127.0.0.1:${fulfilment}/orders`,
  });
  const bridge = {
    url: 'http://127.0.0.1:1',
    tokenMessenger: addressOf('USDC'),
    messageTransmitter: addressOf('STRK'),
    usdcMint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  };
  broken = await TestService.hosted({
    ...common,
    STARKNET_NETWORK: await writeNetwork('desert', { classes: { svc: '0x5e1f' }, bridge }),
    RELAYER_ACCOUNTS: '0x5e1f1:0x1',
    MANAGER_ACCOUNT: `${manager.split(':')[0]}:0x1`,
    PUBLIC_URL: 'http://svc.example',
    SMTP_URL: 'smtp://127.0.0.1:1',
    FULFILMENT_URL: `http://127.0.0.1:${refusing}/orders`,
  });
  const [well, ill] = await Promise.all([good, broken].map((each) => each.organization({ environment: 'production' })));
  if (!well || !ill) throw new Error('There is no organisation.');
  keys = { good: well.keys, broken: ill.keys };
});
afterAll(async () => {
  await Promise.all([good?.stop(), broken?.stop()]);
  await node?.stop();
  for (const server of servers) server.close(() => {});
  await rm(folder, { recursive: true, force: true });
});

async function report(service: TestService): Promise<DoctorReport> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const reply = await send(`${listeningAt(service)}/v1/operator/doctor`, { headers });
  expectAnswer(reply, endpoints.getDoctorReport);
  return reply.body as DoctorReport;
}

const statesOf = ({ checks }: DoctorReport) => Object.fromEntries(checks.map(({ name, state }) => [name, state]));

/** Balances are read by a worker in its first minute. */
async function balancesRead(service: TestService, words: object): Promise<void> {
  await expect
    .poll(async () => (await send(`${listeningAt(service)}/readyz`)).body, { timeout: 60_000, interval: 250 })
    .toMatchObject({ checks: words });
}

const svc = (service: TestService, own: Keys, ...words: string[]) => {
  const { publicKey, secretKey } = own;
  const credentials = { ...service.server.credentials, publicKey, secretKey, baseUrl: `${listeningAt(service)}/v1` };
  return runSvc(words, { env: { ...svcEnv({ ...service.server, credentials }), OPERATOR_TOKEN } });
};

describe('the doctor of a deployment that has all it needs', () => {
  it('finds nothing to do but what its money and disk need', async () => {
    await balancesRead(good, { relayers: 'ok', manager: 'ok' });
    const found = await report(good);
    expect(found.checks.filter(({ name, state }) => state !== 'ok' && name !== 'disk')).toEqual([]);
    expect(Object.keys(statesOf(found))).toEqual(
      expect.arrayContaining([
        ...['database', 'proxy', 'node', 'class', 'treasuryClass', 'deployed', 'relayers', 'manager', 'disk'],
        ...['chain id', 'tokens', 'relayer account', 'manager account', 'payment account', 'relayer key'],
        ...['manager key', 'database role', 'migrations', 'clock', 'blocks', 'mail', 'bridge', 'fulfilment'],
        ...['webhooks', 'public address', 'proxy headers'],
      ]),
    );
    const headers = found.checks.find(({ name }) => name === 'proxy headers');
    expect(headers).toMatchObject({ found: 'X-Forwarded-For is written by 1' });
  });

  it('ends the command with 0, in lines for people', async () => {
    const { code, stdout, stderr } = await svc(good, keys.good, 'doctor');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ok +manager key +signs for 0x/m);
    expect(stdout).toMatch(/^ok +proxy headers +X-Forwarded-For is written by 1/m);
    expect(stdout).not.toMatch(/^fail/m);
  });
});

describe('the doctor of a deployment where nothing is in order', () => {
  it('names each thing, and what to do about it', async () => {
    await balancesRead(broken, { class: 'undeclared', deployed: 'undeployed', relayers: 'empty' });
    const found = await report(broken);
    expect(found.status).toBe('failing');
    expect(statesOf(found)).toMatchObject({
      class: 'failing',
      deployed: 'failing',
      relayers: 'failing',
      'relayer account': 'failing',
      'manager key': 'failing',
      'public address': 'failing',
      mail: 'warning',
      bridge: 'warning',
      fulfilment: 'warning',
    });
    expect(found.checks.filter(({ state, fix }) => (state === 'ok') !== (fix === null))).toEqual([]);
  });

  it('is unready for what it needs itself, whatever mail, bridge and providers do', async () => {
    const reply = await send(`${listeningAt(broken)}/readyz`);
    expect(reply).toMatchObject({ status: 503, body: { checks: { node: 'ok', treasuryClass: 'ok' } } });
    expect(Object.keys((reply.body as { checks: object }).checks)).not.toContain('mail');
  });

  it('ends the command with 1: a fix below each line for people, one list for programs', async () => {
    const text = await svc(broken, keys.broken, 'doctor');
    expect(text).toMatchObject({ code: 1, stderr: expect.stringMatching(/\d+ of \d+ checks fail/) });
    const lines = text.stdout.split('\n');
    for (const [index, line] of lines.entries()) {
      if (/^(warn|fail)/.test(line)) expect(lines[index + 1], line).toMatch(/^ +→ \S/);
    }
    const json = await svc(broken, keys.broken, 'doctor', '--json');
    expect(json.code).toBe(1);
    const findings = JSON.parse(json.stdout) as { check: string; level: string; fix?: string }[];
    expect(findings).toContainEqual(expect.objectContaining({ check: 'manager key', level: 'failing' }));
    expect(findings.filter(({ level, fix }) => level !== 'ok' && !fix)).toEqual([]);
  });
});

describe('the doctor of a service as the owner of its tables', () => {
  it('warns of the role', async () => {
    const owner = await good.anotherHosted({
      DATABASE_URL: good.database.url,
      DATABASE_OWNER_URL: '',
      PUBLIC_URL: '',
      SMTP_URL: '',
      MAIL_FROM: '',
      TRUST_PROXY: 'off',
      SVC_ROLE: 'api',
    });
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const { body } = await send(`${owner.origin}/v1/operator/doctor`, { headers });
    expect(statesOf(body as DoctorReport)).toMatchObject({
      'database role': 'warning',
      mail: 'warning',
      'public address': 'warning',
    });
  });
});
