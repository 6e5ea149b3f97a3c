import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations, post, startApp } from '../../testing/evm-server.ts';
import { engineStarter, startEngine } from './engine.ts';

const CHAIN_ID = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' };

let database: TestDatabase;
beforeAll(async () => {
  database = await TestDatabase.create([migrations]);
});
afterAll(() => database.drop());

describe('the engine', () => {
  it('is not in memory before a chain is asked something, and a refused request is not that', async () => {
    const script = fileURLToPath(new URL('../../testing/evm-first-use.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script, database.url], { timeout: 60_000 });
    expect(JSON.parse(stdout)).toEqual({ refused: true, before: false, after: true });
  });

  it('is started for a chain when that chain is asked, once', async () => {
    const started: string[] = [];
    const app = await startApp(database.db, {
      start: (chain) => {
        started.push(chain);
        return startEngine(chain);
      },
    });
    await Promise.all([post(app.rpcUrl('base'), CHAIN_ID), post(app.rpcUrl('base'), CHAIN_ID)]);
    await post(app.rpcUrl('scroll'), [CHAIN_ID, CHAIN_ID]);
    expect(started).toEqual(['BASE', 'SCROLL']);
    await app.close();
  });

  it('that has no build for this machine is a 500 that only the log explains, and everything else works', async () => {
    const start = engineStarter(() => Promise.reject(new Error('Cannot find native binding')));
    const app = await startApp(database.db, { start });
    const { status, body } = await post(app.rpcUrl('base'), CHAIN_ID);
    expect(status).toBe(500);
    expect(body).toMatchObject({ error: 'internal_error' });
    expect(JSON.stringify(body)).not.toMatch(/edr|binding/i);
    expect(app.failures).toMatchObject([
      { cause: { message: expect.stringContaining('@nomicfoundation/edr'), cause: expect.any(Error) } },
    ]);
    expect((await post(`${app.address}/echo`, { still: 'here' })).status).toBe(200);
    await app.close();
  });

  it('that could not be loaded is tried again with the next request', async () => {
    let attempts = 0;
    const start = engineStarter(() => {
      attempts += 1;
      return attempts === 1 ? Promise.reject(new Error('no memory')) : import('@nomicfoundation/edr');
    });
    const app = await startApp(database.db, { start });
    expect((await post(app.rpcUrl('base'), CHAIN_ID)).status).toBe(500);
    expect((await post(app.rpcUrl('base'), CHAIN_ID)).body).toMatchObject({ result: '0x2105' });
    await app.close();
  });

  it('works beside the thread that serves requests: others are answered while it is busy', async () => {
    const app = await startApp(database.db);
    const contract = '0x2222222222222222222222222222222222222222';
    const endless = '0x5b600056';
    const call = [{ to: contract, gas: '0x7a120' }, 'latest', { [contract]: { code: endless } }];
    const answered: string[] = [];
    const busy = post(app.rpcUrl('base'), { ...CHAIN_ID, method: 'eth_call', params: call }).then(({ body }) => {
      answered.push('engine');
      expect(body).toMatchObject({ error: { message: 'Transaction ran out of gas' } });
    });
    for (let count = 0; count < 3; count += 1) {
      await post(`${app.address}/echo`, {});
      answered.push('other');
    }
    await busy;
    expect(answered).toEqual(['other', 'other', 'other', 'engine']);
    await app.close();
  });
});
