import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { listen } from './notifications.ts';
import { sql } from './sql.ts';
import { TestDatabase } from './testing/index.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await TestDatabase.create([]);
});
afterAll(() => test.drop());

const CHANNEL = 'Keys "changed"';
const PATIENCE = { timeout: 60_000 };
const send = (payload: string) => test.db.run(sql`select pg_notify(${CHANNEL}, ${payload})`);
const handlers = () => ({ onMessage: vi.fn(), onConnect: vi.fn(), onDisconnect: vi.fn() });

describe('a listener', () => {
  it('receives what is sent after it started, in order', async () => {
    const received = handlers();
    const listener = await listen(test.url, CHANNEL, received);
    expect(listener.connected).toBe(true);
    await send('one');
    await send('');
    await expect.poll(() => received.onMessage.mock.calls).toEqual([['one'], ['']]);
    expect(received.onConnect).toHaveBeenCalledTimes(1);
    await listener.close();
  });

  it('reconnects when its connection is killed, and reports both', async () => {
    const received = handlers();
    const listener = await listen(test.url, CHANNEL, received);
    await test.db.run(sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where application_name = 'svc listener' and datname = current_database()`);
    await vi.waitFor(() => expect(received.onDisconnect).toHaveBeenCalledTimes(1), PATIENCE);
    await vi.waitFor(() => expect(received.onConnect).toHaveBeenCalledTimes(2), PATIENCE);
    expect(listener.connected).toBe(true);
    await send('again');
    await vi.waitFor(() => expect(received.onMessage).toHaveBeenCalledWith('again'), PATIENCE);
    await listener.close();
  });

  it('receives nothing and keeps no connection after it is closed', async () => {
    const received = handlers();
    const listener = await listen(test.url, CHANNEL, received);
    await listener.close();
    expect(listener.connected).toBe(false);
    expect(received.onDisconnect).not.toHaveBeenCalled();
    await vi.waitFor(async () => {
      const left = await test.db.rows(sql`
        select pid from pg_stat_activity where application_name = 'svc listener' and datname = current_database()`);
      expect(left).toEqual([]);
    }, PATIENCE);
  });

  it('rejects when the first connection cannot be made', async () => {
    const wrong = new URL(test.url);
    wrong.password = 'wrong';
    await expect(listen(wrong.href, CHANNEL, handlers())).rejects.toMatchObject({ code: '28P01' });
  });
});
