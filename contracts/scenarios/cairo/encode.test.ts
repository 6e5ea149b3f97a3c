import { chainIds, selector, shortString } from '@svc/starknet';
import { expect, it } from 'vitest';
import { publicKeys, START } from '../fixtures.ts';
import { clock, deploy, reads } from '../steps.ts';
import { encode } from './encode.ts';

const place = (index: bigint) => shortString('a place in a scenario 0') + index;

it('a scenario becomes a row: how it begins, then every step with what must come of it', () => {
  const { owner } = publicKeys;
  expect(encode({ name: 'a row', steps: [deploy(), clock(START + 1n), reads.balance(7n, 'wallet')] })).toEqual([
    // Chain, time, token used, coin not used.
    ...[chainIds.SVC_SANDBOX, START, 1n, 0n],
    // Deploys the wallet of the SVC class with one felt of calldata: no result, one event.
    ...[2n, 0n, place(7n), 1n, owner, 1n, 0n, 1n, place(0n), 2n, selector('OwnerAdded'), owner, 0n],
    ...[1n, START + 1n],
    // An unsigned call of a stranger to the token: two felts, no events.
    ...[3n, place(5n), place(2n), selector('balance_of'), 0n, 1n, place(0n), 1n, 2n, 7n, 0n, 0n],
  ]);
});
