import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OperatorAccount } from '@svc/protocol';
import type { Database } from '@svc/store';
import { describe, expect, it } from 'vitest';
import {
  accountFinding,
  blockFinding,
  clockFinding,
  createDoctor,
  type DoctorDeps,
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

const nothing: Surroundings = { publicUrl: undefined, smtp: undefined, askBridge: undefined, fulfilmentUrl: undefined };

/** Of a deployment with a live network and no node, whose database answers nothing. */
function examine(surroundings: Partial<Surroundings>) {
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

  it('asks the surroundings, and wants TLS of a public address', async () => {
    const server = createServer((request, response) =>
      response.writeHead(request.url === '/healthz' ? 200 : 405).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    expect(await find({ publicUrl: url }, 'public address')).toMatchObject({ state: 'ok' });
    expect(await find({ publicUrl: `${url}/x` }, 'public address')).toMatchObject({ state: 'warning' });
    expect(await find({ publicUrl: 'http://pay.example' }, 'public address')).toMatchObject({ state: 'failing' });
    expect(await find({ fulfilmentUrl: `${url}/orders` }, 'fulfilment')).toMatchObject({ state: 'ok' });
    expect(await find({ smtp: { host: '127.0.0.1', port } }, 'mail')).toMatchObject({ state: 'ok' });
    expect(await find({ askBridge: async () => 1n }, 'bridge')).toMatchObject({ state: 'ok' });
    await new Promise((resolve) => server.close(resolve));
    expect(await find({ publicUrl: url }, 'public address')).toMatchObject({ state: 'warning' });
    expect(await find({ fulfilmentUrl: url }, 'fulfilment')).toMatchObject({ state: 'warning' });
    expect(await find({ smtp: { host: '127.0.0.1', port } }, 'mail')).toMatchObject({ state: 'warning' });
    const askBridge = () => Promise.reject(new Error('no answer'));
    expect(await find({ askBridge }, 'bridge')).toMatchObject({ state: 'warning', found: 'no answer' });
  });
});
