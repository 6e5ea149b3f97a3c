import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { classes, starknetTokens, toHex } from '@svc/starknet';
import type { TestDatabase } from '@svc/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../packages/sandbox/testing/sandbox-server.ts';
import { serverDatabase, serviceUrl } from '../../packages/server/testing/database.ts';
import { Sandbox } from '../support/sandbox.ts';
import { processEnv } from '../support/server.ts';

const MAIN = path.resolve(import.meta.dirname, '../../packages/cli/src/main.ts');
const COMPILED = path.resolve(import.meta.dirname, '../../contracts/compiled');
/** For a machine that is ten times slower. */
const LIMIT_MS = 480_000;

let node: SandboxServer;
let front: Network;
let chain: Sandbox;
let database: TestDatabase;
let folder: string;
let out: string;
let network: string;

interface Network {
  readonly url: string;
  readonly server: Server;
  /** Nonces of declarations, by the hash of the compiled class. */
  readonly declared: [string, string][];
  /** Declarations are lost, without an answer. */
  loses: boolean;
}

interface Rpc {
  readonly id: number;
  readonly method: string;
  readonly params: Record<string, unknown> & readonly unknown[];
}

interface Declaration {
  readonly type: string;
  readonly nonce: string;
  readonly compiled_class_hash: string;
}

const FEE = { l1_gas_consumed: '0x0', l1_gas_price: '0x1', l1_data_gas_consumed: '0x80', l1_data_gas_price: '0x1' };
const ESTIMATE = { ...FEE, l2_gas_consumed: '0x10000', l2_gas_price: '0x1', overall_fee: '0x10080', unit: 'FRI' };

/** The sandbox's node without svc's classes: it has READY alone until they are declared. */
async function startNetwork(rpcUrl: string): Promise<Network> {
  const files = [
    ['casm-hash.txt', classes.svc],
    ['treasury-casm-hash.txt', classes.treasury],
  ] as const;
  const byCompiled = new Map(
    files.map(([file, classHash]) => [BigInt(readFileSync(path.join(COMPILED, file), 'utf8').trim()), classHash]),
  );
  const missing = new Set<bigint>([classes.svc, classes.treasury]);
  const answerOf = ({ method, params }: Rpc): object | undefined => {
    const first = (name: string, index = 0) => params[name] ?? params[index];
    if (method === 'starknet_getClass' && missing.has(BigInt(String(first('class_hash', 1))))) {
      return { error: { code: 28, message: 'Class hash not found' } };
    }
    const [estimated] = method === 'starknet_estimateFee' ? (first('request') as Declaration[]) : [];
    if (estimated?.type === 'DECLARE') return { result: [ESTIMATE] };
    if (method !== 'starknet_addDeclareTransaction') return undefined;
    const { nonce, compiled_class_hash } = first('declare_transaction') as Declaration;
    network.declared.push([compiled_class_hash, nonce]);
    const classHash = byCompiled.get(BigInt(compiled_class_hash)) ?? 0n;
    missing.delete(classHash);
    return { result: { transaction_hash: toHex(classHash + 1n), class_hash: toHex(classHash) } };
  };
  const answer = async (rpc: Rpc): Promise<unknown> => {
    const own = answerOf(rpc);
    if (own) return { jsonrpc: '2.0', id: rpc.id, ...own };
    const headers = { 'content-type': 'application/json' };
    return (await fetch(rpcUrl, { method: 'POST', body: JSON.stringify(rpc), headers })).json();
  };
  // A connection that is closed while the setup compiles for seconds would lose the next request.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, reply) => {
    const rpc = JSON.parse(await text(request)) as Rpc | Rpc[];
    if (!Array.isArray(rpc) && rpc.method === 'starknet_addDeclareTransaction' && network.loses) {
      const { nonce, compiled_class_hash } = (rpc.params.declare_transaction ?? rpc.params[0]) as Declaration;
      network.declared.push([compiled_class_hash, nonce]);
      return;
    }
    const answers = await (Array.isArray(rpc) ? Promise.all(rpc.map(answer)) : answer(rpc));
    reply.setHeader('content-type', 'application/json').end(JSON.stringify(answers));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rpc`;
  const network: Network = { url, server, declared: [], loses: true };
  return network;
}

beforeEach(async () => {
  node = await startSandbox();
  front = await startNetwork(node.rpcUrl);
  chain = new Sandbox({ origin: new URL(node.url).origin });
  database = await serverDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'svc-setup-'));
  out = path.join(folder, 'deployment');
  network = path.join(folder, 'network.json');
  const tokens = starknetTokens.mainnet.map(([token, address, decimals]) => ({ token, address, decimals })).slice(0, 6);
  const file = { name: 'workshop', chainId: 'SVC_SANDBOX', tokens, classes: { svc: toHex(classes.svc) } };
  await writeFile(network, JSON.stringify(file));
});
afterEach(async () => {
  await node?.stop();
  front?.server.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

async function setup(...words: string[]): Promise<Run> {
  const env = {
    ...processEnv(),
    DATABASE_URL: await serviceUrl(database.url),
    DATABASE_OWNER_URL: database.url,
    SVC_CLASS_HASH: '',
  };
  const flags = ['setup', '--network', network, '--node', front.url, '--public-node', front.url, '--out', out];
  const child = spawn(process.execPath, [MAIN, ...flags, ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, ended };
}

/** With the processes that it started, as a lost terminal or machine would. */
async function kill({ child, ended }: Run): Promise<void> {
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await ended;
}

async function says({ child, output }: Run, expected: RegExp): Promise<void> {
  const found = () => (expected.test(output()) || child.exitCode !== null ? output() : '');
  await expect.poll(found, { timeout: LIMIT_MS, interval: 50 }).not.toBe('');
  expect(output()).toMatch(expected);
}

async function accounts(): Promise<{ relayers: string[]; manager: string; payment: string; texts: string[] }> {
  const texts = await Promise.all(
    ['relayer_accounts', 'manager_account', 'payment_account'].map((name) =>
      readFile(path.join(out, 'secrets', name), 'utf8'),
    ),
  );
  const [relayers = [], [manager = ''] = [], [payment = ''] = []] = texts.map((text) =>
    text.split(',').map((pair) => pair.split(':')[0] ?? ''),
  );
  return { relayers, manager, payment, texts };
}

const nonceOf = async (address: string) =>
  BigInt(String((await chain.rpc('getNonce', ['latest', address])).result ?? 0));

async function nonces(): Promise<bigint[]> {
  const { relayers, manager, payment } = await accounts();
  return Promise.all([...relayers, manager, payment].map(nonceOf));
}

describe('svc setup', () => {
  it(
    'goes from nothing to a service whose doctor is green, killed on the way as often as it may be, and changes nothing afterwards',
    async () => {
      const first = await setup('--relayers', '2');
      await says(first, /Waiting for money on workshop/);
      expect(first.output()).toMatch(/[█▀▄]{20}/);
      await kill(first);
      const made = await accounts();
      for (const name of ['relayer_accounts', 'manager_account', 'payment_account']) {
        expect((await stat(path.join(out, 'secrets', name))).mode & 0o777).toBe(0o600);
        expect(first.output()).not.toContain(made.texts.join().split(':')[1]?.split(',')[0]);
      }

      const second = await setup('--relayers', '2');
      await says(second, new RegExp(made.payment));
      expect(await accounts()).toEqual(made);
      for (const address of [...made.relayers, made.manager, made.payment]) await chain.faucet(address, 'STRK', '100');
      await chain.faucet(made.manager, 'USDC', '200');
      await says(second, /Deploying the manager/);
      await kill(second);

      const third = await setup();
      const isOver = () => front.declared.length > 0 || third.child.exitCode !== null;
      await expect.poll(isOver, { timeout: LIMIT_MS }).toBe(true);
      expect(front.declared, third.output()).toHaveLength(1);
      await kill(third);
      front.loses = false;

      const last = await setup('--public-url', 'http://127.0.0.1:1');
      expect([await last.ended, last.output()]).toEqual([0, expect.stringContaining('The deployment is ready')]);
      expect(await accounts()).toEqual(made);
      expect(await nonces()).toEqual([1n, 1n, 1n, 1n]);
      // The lost declaration and its repetition have the same nonce, so that a network takes one of them.
      expect(front.declared.map(([, nonce]) => BigInt(nonce))).toEqual([1n, 1n, 1n]);
      expect(new Set(front.declared.map(([compiled]) => compiled)).size).toBe(2);
      expect(last.output()).toMatch(/^ok +treasuryClass +ok/m);
      expect(last.output()).toMatch(/^ok +manager key +signs for/m);
      expect(last.output()).not.toMatch(/^fail/m);
      const env = path.join(out, 'svc.env');
      expect((await stat(env)).mode & 0o777).toBe(0o600);
      expect(await readFile(env, 'utf8')).toContain(`PAYMENT_ADDRESS=${made.payment}`);

      await writeFile(env, `${await readFile(env, 'utf8')}LOG_LEVEL=warn\n`);
      const [before, keys] = [await nonces(), await accounts()];
      const run = await setup('--no-check');
      expect([await run.ended, run.output()]).toEqual([0, expect.not.stringContaining('Waiting')]);
      expect(await nonces()).toEqual(before);
      expect(await accounts()).toEqual(keys);
      expect(await readFile(env, 'utf8')).toContain('LOG_LEVEL=warn');
    },
    3 * LIMIT_MS,
  );

  it('says what is wrong in one line, and asks only at a terminal', async () => {
    const nowhere = await setup('--node', 'http://127.0.0.1:1', '--no-check');
    expect(await nowhere.ended).toBe(1);
    expect(nowhere.output()).toMatch(/The node 127\.0\.0\.1:1 does not answer/);
    const unknown = await setup('--network', 'nowhere');
    expect(await unknown.ended).toBe(1);
    expect(unknown.output()).toMatch(/--network must be mainnet, sepolia or the path/);
    const unasked = await setup('--network', '');
    expect(await unasked.ended).toBe(2);
  });
});
