import { starkKey } from '@svc/starknet';
import type { KeyName } from './model.ts';

/** Private keys that guard nothing. */
export const privateKeys: Record<KeyName, bigint> = {
  owner: 0x1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8n,
  session: 0x5e5510n,
  second: 0x2c0de2n,
  thief: 0x7713fn,
};

export const publicKeys: Record<KeyName, bigint> = {
  owner: starkKey(privateKeys.owner),
  session: starkKey(privateKeys.session),
  second: starkKey(privateKeys.second),
  thief: starkKey(privateKeys.thief),
};

/** The second in which every scenario begins, ahead of the present so that no real clock reaches it. */
export const START = 2_000_000_000n;

/** What the wallet has of each token at first. */
export const FUNDS = 1_000n;
