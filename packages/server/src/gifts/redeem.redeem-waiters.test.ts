import type { Reads, Sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { type Redeem, RedeemWaiters } from './redeem.ts';

/** Longer than any test may take. */
const LONG_MS = 3_600_000;

/** A redeem that changes only when the test says so; counts its reads. */
function fakeRedeem() {
  const state = { status: 'PENDING', looks: 0 };
  const looked: (() => void)[] = [];
  const rows = async (query: Sql) => {
    state.looks += 1;
    for (const tell of looked.splice(0)) tell();
    const ids = query.values.find((value) => Array.isArray(value)) as string[];
    return ids.map((id) => ({ id, status: state.status }));
  };
  const nextLook = () => new Promise<void>((resolve) => looked.push(resolve));
  return { state, reads: { rows } as unknown as Reads, nextLook };
}

const isPaid = ({ status }: Redeem) => status === 'SUCCESS';

describe('a request that waits for a redeem', () => {
  it('is answered when it is announced', async () => {
    const [waiters, { state, reads, nextLook }] = [new RedeemWaiters(), fakeRedeem()];
    const look = nextLook();
    const waiting = waiters.until(reads, 'rdm_1', isPaid, LONG_MS);
    await look;
    state.status = 'SUCCESS';
    waiters.notify('rdm_1');
    expect(await waiting).toMatchObject({ status: 'SUCCESS' });
    expect(state.looks).toBe(2);
  });

  it('misses no announcement that comes while it looks', async () => {
    const [waiters, { state, reads }] = [new RedeemWaiters(), fakeRedeem()];
    const ringing = {
      rows: async (query: Sql) => {
        const before = await reads.rows(query);
        state.status = 'SUCCESS';
        if (state.looks === 1) waiters.notify('rdm_1');
        return before;
      },
    } as unknown as Reads;
    expect(await waiters.until(ringing, 'rdm_1', isPaid, LONG_MS)).toMatchObject({ status: 'SUCCESS' });
  });

  it('looks by itself when nothing is announced', async () => {
    const [waiters, { state, reads, nextLook }] = [new RedeemWaiters(), fakeRedeem()];
    const look = nextLook();
    const waiting = waiters.until(reads, 'rdm_1', isPaid, LONG_MS);
    await look;
    state.status = 'SUCCESS';
    expect(await waiting).toMatchObject({ status: 'SUCCESS' });
  });

  it('looks again when announcements can be heard again', async () => {
    const [waiters, { state, reads, nextLook }] = [new RedeemWaiters(), fakeRedeem()];
    const look = nextLook();
    const waiting = waiters.until(reads, 'rdm_1', isPaid, LONG_MS);
    await look;
    state.status = 'SUCCESS';
    waiters.notifyAll();
    await waiting;
    expect(state.looks).toBe(2);
  });

  it('is answered with what is known when its time is up', async () => {
    let now = 0;
    const [waiters, { state, reads }] = [new RedeemWaiters(() => (now += 20_000)), fakeRedeem()];
    expect(await waiters.until(reads, 'rdm_1', isPaid, 19_000)).toMatchObject({ status: 'PENDING' });
    expect(state.looks).toBe(1);
  });

  it('is answered at once when the process stops, and so is a later one', async () => {
    const [waiters, { reads, nextLook }] = [new RedeemWaiters(), fakeRedeem()];
    const look = nextLook();
    const waiting = waiters.until(reads, 'rdm_1', isPaid, LONG_MS);
    await look;
    waiters.stop();
    expect(await waiting).toMatchObject({ status: 'PENDING' });
    expect(await waiters.until(reads, 'rdm_1', isPaid, LONG_MS)).toMatchObject({ status: 'PENDING' });
  });

  it('does not hear of other redeems', async () => {
    const [waiters, { state, reads, nextLook }] = [new RedeemWaiters(), fakeRedeem()];
    const look = nextLook();
    const waiting = waiters.until(reads, 'rdm_1', isPaid, LONG_MS);
    await look;
    await new Promise(setImmediate);
    waiters.notify('rdm_2');
    waiters.stop();
    await waiting;
    expect(state.looks).toBe(2);
  });

  it('looks once together with all that are woken at the same moment', async () => {
    const [waiters, { state, reads, nextLook }] = [new RedeemWaiters(), fakeRedeem()];
    const look = nextLook();
    const ids = Array.from({ length: 60 }, (_, place) => `rdm_${place}`);
    const waiting = Promise.all(ids.map((id) => waiters.until(reads, id, isPaid, LONG_MS)));
    await look;
    await new Promise(setImmediate);
    state.status = 'SUCCESS';
    for (const id of ids) waiters.notify(id);
    expect((await waiting).map(({ id }) => id)).toEqual(ids);
    expect(state.looks).toBe(2);
  });

  it('that is new does not look before it is announced', async () => {
    const [waiters, { state, reads }] = [new RedeemWaiters(), fakeRedeem()];
    const waiting = waiters.until(reads, 'rdm_1', isPaid, LONG_MS, true);
    state.status = 'SUCCESS';
    waiters.notify('rdm_1');
    await waiting;
    expect(state.looks).toBe(1);
  });

  it('fails when the look fails', async () => {
    const reads = { rows: () => Promise.reject(new Error('no database')) } as unknown as Reads;
    await expect(new RedeemWaiters().until(reads, 'rdm_1', isPaid, LONG_MS)).rejects.toThrow('no database');
  });
});
