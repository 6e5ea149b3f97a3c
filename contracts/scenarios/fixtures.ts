import { starkKey } from '@svc/starknet';
import type { KeyName } from './model.ts';

/** Test keys. */
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

/** Unix seconds at which every scenario starts, in the future of any real clock. */
export const START = 2_000_000_000n;

/** The wallet's initial balance of each token. */
export const FUNDS = 1_000n;
