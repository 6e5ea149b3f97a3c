import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../testing/database.ts';
import { deleteEndedWindows } from '../http/rate-limit.ts';
import { CodeLookup } from './claim.ts';

const ledger = useDatabase();
const KNOWN = sql`select 'gift_1' as id, 5::bigint as amount`;
const UNKNOWN = sql`select 'gift_1' as id, 5::bigint as amount where false`;
const refused = { code: 'rate_limited', status: 429 };

let clients = 0;
const newClient = () => `203.0.113.${clients++}`;
const lookup = (limit = 3, now?: () => number) => new CodeLookup(ledger.db(), limit, now);

/** Turns the window's start back instead of waiting for a minute. */
const endWindow = (client: string) =>
  ledger.db().run(sql`
    update rate_windows set started_at = started_at - interval '60 seconds' where key_id = ${`codes ${client}`}`);

async function guess(codes: CodeLookup, client: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) expect(await codes.find(client, UNKNOWN)).toBeUndefined();
}

describe('looking up a code', () => {
  it('answers what was found, with its exact values', async () => {
    expect(await lookup().find(newClient(), KNOWN)).toMatchObject({ id: 'gift_1', amount: 5n });
  });

  it('counts unknown codes alone', async () => {
    const [codes, client] = [lookup(1), newClient()];
    for (let i = 0; i < 20; i++) expect(await codes.find(client, KNOWN)).toMatchObject({ id: 'gift_1' });
    await guess(codes, client, 1);
  });

  it('is refused for any code once the unknown ones are used up, and says for how long', async () => {
    const [codes, client] = [lookup(), newClient()];
    await guess(codes, client, 3);
    for (const query of [KNOWN, UNKNOWN, KNOWN]) {
      const error: { retryAfterSeconds?: number } = await codes.find(client, query).then(
        () => ({}),
        (reason) => reason,
      );
      expect(error).toMatchObject(refused);
      expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(error.retryAfterSeconds).toBeLessThanOrEqual(60);
    }
  });

  it('is counted for each client, and for all replicas together', async () => {
    const [one, other, client] = [lookup(), lookup(), newClient()];
    await guess(one, client, 2);
    await guess(other, client, 1);
    await expect(one.find(client, KNOWN)).rejects.toMatchObject(refused);
    await expect(other.find(client, KNOWN)).rejects.toMatchObject(refused);
    expect(await one.find(newClient(), KNOWN)).toBeDefined();
  });

  it('opens again a minute after the first', async () => {
    let now = 0;
    const [codes, client] = [lookup(3, () => now), newClient()];
    await guess(codes, client, 3);
    await expect(codes.find(client, KNOWN)).rejects.toMatchObject(refused);
    now = 60_001;
    await expect(lookup().find(client, KNOWN)).rejects.toMatchObject(refused);
    await endWindow(client);
    expect(await codes.find(client, KNOWN)).toBeDefined();
    await guess(codes, client, 3);
  });

  it('asks the database no more for a client that was refused', async () => {
    const [codes, client] = [lookup(1), newClient()];
    await guess(codes, client, 1);
    await expect(codes.find(client, KNOWN)).rejects.toMatchObject(refused);
    await expect(codes.find(client, sql`select nonsense`)).rejects.toMatchObject(refused);
  });

  it('tells a burst no more than the limit, hits among it or not', async () => {
    const [codes, client] = [[lookup(10), lookup(10)] as const, newClient()];
    const answers = await Promise.allSettled(
      Array.from({ length: 60 }, (_, i) => (codes[i % 2 === 0 ? 0 : 1] as CodeLookup).find(client, UNKNOWN)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await expect(codes[0].find(client, KNOWN)).rejects.toMatchObject(refused);
  });

  it('leaves nothing behind once its minute is over', async () => {
    const client = newClient();
    await guess(lookup(), client, 1);
    await endWindow(client);
    expect(await deleteEndedWindows(ledger.db())).toBeGreaterThanOrEqual(1);
    const key = `codes ${client}`;
    expect(await ledger.db().rows(sql`select from rate_windows where key_id = ${key}`)).toEqual([]);
  });
});
