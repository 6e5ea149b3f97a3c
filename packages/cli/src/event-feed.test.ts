import { type SvcEvent, verifyWebhook } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { signed } from './commands/listen.ts';
import { EventFeed } from './event-feed.ts';

const eventOf = (number: number, type: SvcEvent['type'] = 'wallet.created'): SvcEvent => ({
  id: `evt_${String(number).padStart(6, '0')}`,
  type,
  timestamp: '2026-11-02T18:20:11.000Z',
  data: {},
});

/** Newest first, in pages of 100, as the service lists them. */
function listOf(events: SvcEvent[]) {
  return async (page: number) =>
    [...events].sort((one, other) => (one.id < other.id ? 1 : -1)).slice((page - 1) * 100, page * 100);
}

const ids = (events: readonly SvcEvent[]) => events.map(({ id }) => Number(id.slice(4)));

describe('following events', () => {
  it('shows each new one once, oldest first, and none of before', async () => {
    const events = [eventOf(1), eventOf(2)];
    const feed = new EventFeed(listOf(events));
    await feed.begin();
    expect(await feed.look()).toEqual([]);
    events.push(eventOf(4), eventOf(3));
    expect(ids(await feed.look())).toEqual([3, 4]);
    expect(await feed.look()).toEqual([]);
  });

  it('finds one that was committed after a newer one', async () => {
    const events = [eventOf(1)];
    const feed = new EventFeed(listOf(events));
    await feed.begin();
    events.push(eventOf(9));
    expect(ids(await feed.look())).toEqual([9]);
    events.push(eventOf(5));
    expect(ids(await feed.look())).toEqual([5]);
  });

  it('reads on where more than a page is new, and stops at what it knows', async () => {
    const events = Array.from({ length: 250 }, (_, at) => eventOf(at));
    const feed = new EventFeed(listOf(events));
    await feed.begin();
    events.push(...Array.from({ length: 230 }, (_, at) => eventOf(1_000 + at)));
    expect(ids(await feed.look())).toEqual(Array.from({ length: 230 }, (_, at) => 1_000 + at));
  });

  it('leaves out other types', async () => {
    const events: SvcEvent[] = [];
    const feed = new EventFeed(listOf(events), ['gift.redeemed']);
    await feed.begin();
    events.push(eventOf(1), eventOf(2, 'gift.redeemed'));
    expect(ids(await feed.look())).toEqual([2]);
  });
});

it('a forwarded event is signed so that the library accepts it, with its secret only', async () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const { id, ...sent } = eventOf(1);
  const body = JSON.stringify(sent);
  const headers = signed(id, body, secret);
  expect(await verifyWebhook(body, headers, secret)).toMatchObject({ id, type: 'wallet.created' });
  const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
  await expect(verifyWebhook(body, headers, other)).rejects.toMatchObject({ code: 'no_matching_signature' });
});
