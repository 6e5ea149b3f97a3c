import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OperatorAccount } from '@svc/protocol';
import type { Database } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { WrongTokenError } from '../chains/networks.ts';
import { WrongChainError } from '../chains/node-fetch.ts';
import {
  accountFinding,
  blockFinding,
  certificateFinding,
  clockFinding,
  createDoctor,
  type DoctorDeps,
  deliveryFinding,
  keyFinding,
  proxyFinding,
  type Surroundings,
} from './doctor.ts';

const account: OperatorAccount = {
  environment: 'production',
  role: 'RELAYER',
  address: '0x1',
  state: 'OK',
  strk: '12',
  usdc: '0',
  chainNonce: '4',
  nextNonce: '4',
  classHash: '0x5e1f',
  openRelays: 0,
  oldestOpenSeconds: 0,
  unreconciled: 0,
};

const nothing: Surroundings = {
  publicUrl: undefined,
  trustProxy: 0,
  probes: new Map(),
  mail: { host: undefined, verify: undefined },
  askBridge: undefined,
  checkSolana: undefined,
  fulfilment: { url: undefined, provider: undefined },
  deliveries: async () => ({ enabled: 0, disabled: 0, oldestDueSeconds: 0 }),
};

/** Of a deployment with a live network and no node, whose database answers nothing. */
function examine(surroundings: Partial<Surroundings>, changes: object = {}) {
  const refuse = () => {
    throw new Error('connect ECONNREFUSED\n    at somewhere');
  };
  const broken = async () => refuse();
  const doctor = createDoctor({
    db: { lists: { one: broken, rows: broken } } as unknown as Database,
    networks: { environments: () => ['production'], check: broken, starknet: refuse },
    relayers: { production: [], development: [] },
    managers: { production: undefined, development: undefined },
    readiness: async () => ({ isReady: false, checks: { node: 'unreachable', stopping: false, class: 'unknown' } }),
    surroundings: { ...nothing, ...surroundings },
    ...changes,
  } as unknown as DoctorDeps);
  return doctor();
}

const find = async (surroundings: Partial<Surroundings>, name: string) =>
  (await examine(surroundings)).checks.find((check) => check.name === name);

describe('the doctor', () => {
  it('answers where nothing works, with something to do on every line', async () => {
    const { status, checks } = await examine({});
    expect(status).toBe('failing');
    expect(checks.find(({ name }) => name === 'node')).toMatchObject({ state: 'failing', found: 'unreachable' });
    expect(checks.find(({ name }) => name === 'class')).toMatchObject({ state: 'warning', found: 'unknown' });
    expect(checks.find(({ name }) => name === 'clock')?.found).toBe('could not be read: connect ECONNREFUSED');
    expect(checks.filter(({ state, fix }) => (state === 'ok') !== (fix === null))).toEqual([]);
  });

  it('says what kept a signer or node from answering, not what users are told', async () => {
    const askBridge = async () => {
      throw new Error('No node answers at the moment.', { cause: new Error('SIGNER_URL: it answered HTTP 403') });
    };
    expect(await find({ askBridge }, 'bridge')).toMatchObject({ found: 'SIGNER_URL: it answered HTTP 403' });
  });

  it.each<[OperatorAccount['state'], string]>([
    ['OK', 'ok'],
    ['LOW', 'warning'],
    ['UNREADABLE', 'warning'],
    ['EMPTY', 'failing'],
    ['NOT_DEPLOYED', 'failing'],
    ['UNRECONCILED', 'failing'],
  ])('finds an account that is %s %s', (state, expected) => {
    expect(accountFinding({ ...account, state })).toMatchObject({ state: expected });
  });

  it('notices that something else sends with an account, but not what is under way', () => {
    expect(accountFinding({ ...account, chainNonce: '9' })).toMatchObject({ state: 'warning' });
    expect(accountFinding({ ...account, chainNonce: '9', openRelays: 2 })).toMatchObject({ state: 'ok' });
    expect(accountFinding({ ...account, nextNonce: '9' })).toMatchObject({ state: 'ok' });
  });

  it('compares clocks', () => {
    expect(clockFinding('database', -1_900)).toMatchObject({ state: 'ok' });
    expect(clockFinding('database', 5_000)).toMatchObject({ state: 'warning', found: "5.0 s behind the database's" });
    expect(blockFinding(30_000)).toMatchObject({ state: 'ok' });
    expect(blockFinding(700_000)).toMatchObject({ state: 'warning' });
    expect(blockFinding(-60_000)).toMatchObject({ state: 'warning' });
    expect(blockFinding(undefined)).toMatchObject({ state: 'warning' });
  });

  it('says which key does not sign for its account', () => {
    const key = { environment: 'production', role: 'MANAGER', address: '0x1' } as const;
    expect(keyFinding({ ...key, isValid: true })).toMatchObject({ state: 'ok', fix: null });
    expect(keyFinding({ ...key, isValid: false })).toMatchObject({
      name: 'manager key',
      state: 'failing',
      fix: expect.stringContaining('MANAGER_ACCOUNT'),
    });
  });

  it.each([
    ['chain id', new WrongChainError('node is on 0x2')],
    ['tokens', new WrongTokenError('USDC has 18 decimals')],
  ])('fails for a wrong %s', async (name, error) => {
    const networks = { environments: () => [], check: () => Promise.reject(error) };
    const { checks } = await examine({}, { networks });
    expect(checks.find((check) => check.name === name)).toMatchObject({ state: 'failing', found: error.message });
  });

  it('names nodes that do not answer, and tokens that could not be asked', async () => {
    const nodes = [{ host: 'one.example', trouble: 'no answer' }, { host: 'two.example' }];
    const networks = { environments: () => [], check: async () => ({ nodes, unasked: ['USDC'] }) };
    const { checks } = await examine({}, { networks });
    expect(checks.filter(({ name }) => name === 'chain id').map(({ state }) => state)).toEqual(['warning', 'ok']);
    expect(checks.find(({ name }) => name === 'tokens')).toMatchObject({ state: 'warning', found: 'not asked: USDC' });
  });

  it.each([
    [0, 0, 'http:', 'ok'],
    [1, 1, 'https:', 'ok'],
    [undefined, 1, 'https:', 'ok'],
    [0, 0, 'https:', 'warning'],
    [2, 1, 'https:', 'warning'],
    [0, 1, 'https:', 'failing'],
  ])('finds %s forwarded addresses with TRUST_PROXY %s by %s %s', (written, trusted, protocol, state) => {
    expect(proxyFinding(written, trusted, `${protocol}//svc.example`)).toMatchObject({ state });
  });

  it('warns of a certificate that ends soon, and fails for one that clients refuse', () => {
    const inDays = (days: number) => new Date(days * 86_400_000);
    expect(certificateFinding(undefined, inDays(60), 0)).toMatchObject({ state: 'ok' });
    expect(certificateFinding(undefined, inDays(13), 0)).toMatchObject({ state: 'warning' });
    expect(certificateFinding('CERT_HAS_EXPIRED', inDays(-1), 0)).toMatchObject({ state: 'failing' });
    expect(certificateFinding('no certificate', new Date('none'), 0)).toMatchObject({ state: 'failing' });
  });

  it('warns of deliveries that are late, and not of receivers that failed', () => {
    const backlog = { enabled: 3, disabled: 1, oldestDueSeconds: 20 };
    expect(deliveryFinding(backlog)).toMatchObject({ state: 'ok' });
    expect(deliveryFinding({ ...backlog, oldestDueSeconds: 400 })).toMatchObject({ state: 'warning' });
  });

  it('asks the surroundings, and wants TLS of a public address', async () => {
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/healthz' ? 200 : 405).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    expect(await find({ publicUrl: url }, 'public address')).toMatchObject({ state: 'ok' });
    expect(await find({ publicUrl: `${url}/x` }, 'public address')).toMatchObject({ state: 'warning' });
    expect(await find({ publicUrl: `https://127.0.0.1:${port}` }, 'TLS')).toMatchObject({ state: 'warning' });
    await new Promise((resolve) => server.close(resolve));
    expect(await find({ publicUrl: url }, 'public address')).toMatchObject({ state: 'warning' });
    expect(await find({ publicUrl: 'http://pay.example' }, 'public address')).toMatchObject({ state: 'failing' });
    const mailed = (trouble?: string) => ({ mail: { host: 'mail.example', verify: async () => trouble } });
    expect(await find(mailed(), 'mail')).toMatchObject({ state: 'ok' });
    expect(await find(mailed('EAUTH'), 'mail')).toMatchObject({ state: 'warning', found: 'mail.example: EAUTH' });
    const no = () => Promise.reject(new Error('no answer'));
    expect(await find({ askBridge: async () => 1n }, 'bridge')).toMatchObject({ state: 'ok' });
    expect(await find({ askBridge: no }, 'bridge')).toMatchObject({ state: 'warning', found: 'no answer' });
    const askBridge = async () => 1n;
    const solana = (trouble?: string) => ({ askBridge, checkSolana: async () => [{ host: 'sol.example', trouble }] });
    expect(await find(solana(), 'Solana')).toMatchObject({ state: 'ok' });
    expect(await find(solana('slow'), 'Solana')).toMatchObject({ state: 'warning', found: 'sol.example: slow' });
    expect(await find({ askBridge }, 'Solana')).toMatchObject({ state: 'warning' });
    const checkSolana = () => Promise.reject(new WrongChainError('sol.example is a node of another chain'));
    expect(await find({ askBridge, checkSolana }, 'Solana')).toMatchObject({ state: 'failing' });
    const ordered = (lookUp: () => Promise<{ state: string }>) => ({ fulfilment: { url, provider: { lookUp } } });
    expect(
      await find(
        ordered(async () => ({ state: 'unknown' })),
        'fulfilment',
      ),
    ).toMatchObject({ state: 'ok' });
    expect(await find(ordered(no), 'fulfilment')).toMatchObject({ state: 'warning' });
  });
});
