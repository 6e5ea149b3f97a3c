import type { Environment } from '@svc/protocol';
import type { StarknetNetwork } from '../../chains/networks.ts';
import type { JobLog } from '../../jobs/job.ts';
import { presentTime } from '../clock.ts';
import type { OutcomeHandlers } from '../outcome.ts';
import { allKeys, type RelayerKey, type RelayerParts } from '../parts.ts';
import { padded } from '../spelling.ts';

export interface TenderParts extends RelayerParts {
  readonly outcomes: OutcomeHandlers;
  readonly log: JobLog;
}

/** One look at one account. */
export interface View extends Pick<TenderParts, 'db' | 'crypto' | 'outcomes' | 'log' | 'maxFeeFri'> {
  readonly environment: Environment;
  readonly chain: StarknetNetwork['chain'];
  /** The account, as the database spells it. */
  readonly account: string;
  /** Undefined when the account is no longer in the configuration: what is stored can be sent, nothing new can be signed. */
  readonly key: RelayerKey | undefined;
  readonly strk: bigint;
  /** When it began, by the clock that all processes share. */
  readonly at: Date;
  /** What contracts see as the present time. */
  time(): Promise<Date>;
}

export async function viewOf(parts: TenderParts, environment: Environment, account: string): Promise<View> {
  const { db, crypto, outcomes, log, maxFeeFri, now } = parts;
  const { chain, time } = parts.networks.starknet(environment);
  const key = allKeys(parts, environment).find(({ address }) => padded(address) === account);
  const strk = BigInt(parts.networks.token(environment, 'STARKNET', 'STRK')?.address ?? 0);
  const at = await presentTime(db.reads, now);
  return { db, crypto, outcomes, log, maxFeeFri, environment, chain, account, key, strk, at, time };
}

/** For how long something has been so. */
export const ageMs = ({ at }: View, since: Date): number => at.getTime() - since.getTime();
