import { decodeCalls, encodeCalls, selector } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { newId } from '../util/ids.ts';
import { type MarkedKind, markerCalls, readMarker } from './payer.ts';

const TOKEN = 0xabcn;
/** Addresses end below it. */
const ADDRESS_BOUND = 2n ** 251n - 256n;
const LATEST = 2 ** 44 - 1;

describe('a payment names on chain what it is for', () => {
  it.each<MarkedKind>(['payout', 'burn'])('the redeem and its gift: %s', (kind) => {
    const marker = { kind, id: newId('rdm'), giftId: newId('gift') };
    const [call] = decodeCalls(encodeCalls(markerCalls(TOKEN, marker))) ?? [];
    expect(call && readMarker(call)).toEqual(marker);
  });

  it('the purchase that is refunded', () => {
    const marker = { kind: 'refund', id: newId('txn') } as const;
    expect(markerCalls(TOKEN, marker).map(readMarker)).toEqual([marker]);
  });

  it('with a valid address, whatever the ids', () => {
    const marker = { kind: 'refund', id: newId('txn', LATEST) } as const;
    const gift = { kind: 'burn', id: newId('rdm', LATEST), giftId: newId('gift', LATEST) } as const;
    for (const { calldata } of [...markerCalls(TOKEN, marker), ...markerCalls(TOKEN, gift)]) {
      expect(calldata[0]).toBeLessThan(ADDRESS_BOUND);
    }
  });

  it('and not at all where an id has another form, which must not stop a payment', () => {
    expect(markerCalls(TOKEN, { kind: 'refund', id: 'old-1' })).toEqual([]);
    expect(markerCalls(TOKEN, { kind: 'payout', id: newId('rdm'), giftId: 'gift_U' })).toEqual([]);
  });

  it.each([
    ['a question for a balance', selector('balanceOf'), [0x1234n]],
    ['a transfer', selector('transfer'), [1n, 2n, 0n]],
    ['a marker of an unknown kind', selector('balanceOf'), [(5n << 248n) | 1n]],
    ['a payout without a gift', selector('balanceOf'), [(1n << 248n) | 1n]],
  ])('%s is no marker', (_, called, calldata) => {
    expect(readMarker({ to: TOKEN, selector: called, calldata })).toBeUndefined();
  });
});
