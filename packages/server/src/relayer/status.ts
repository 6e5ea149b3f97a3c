import { type Reads, sql } from '@svc/store';
import { EMPTY_BALANCE, LOW_BALANCE } from './accounts.ts';

export interface RelayerAccountStatus {
  readonly chainId: bigint;
  readonly address: string;
  /** In FRI; undefined until it was read. */
  readonly balance: bigint | undefined;
  /** Of the account that pays out, in the smallest unit; undefined of those that only pay for gas. */
  readonly usdc: bigint | undefined;
  /** Time to send more STRK. */
  readonly low: boolean;
  /** It is given nothing to pay for any more. */
  readonly empty: boolean;
  readonly openRelays: number;
  /** Of the oldest open relay; 0 when there is none. */
  readonly oldestOpenSeconds: number;
}

interface Row {
  readonly chain_id: string;
  readonly address: string;
  readonly balance: string | null;
  readonly usdc: string | null;
  readonly open: bigint;
  readonly oldest: number | null;
}

/** The accounts that are in use: their balance was read lately, or something of theirs is under way. */
export async function relayerStatus(reads: Reads): Promise<RelayerAccountStatus[]> {
  const rows = await reads.rows<Row>(sql`
    select own.chain_id, own.address, own.balance, own.usdc, under_way.open, under_way.oldest
      from relayer_accounts as own
     cross join lateral (
       select count(*) as open, extract(epoch from now() - min(created_at))::float8 as oldest from relays
        where chain_id = own.chain_id and account = own.address and state in ('STORED', 'SENT')) as under_way
     where own.balance_read_at > now() - interval '10 minutes' or under_way.open > 0
     order by own.chain_id, own.address`);
  return rows.map(({ chain_id, address, balance: text, usdc, open, oldest }) => {
    const balance = text === null ? undefined : BigInt(text);
    return {
      chainId: BigInt(chain_id),
      address,
      balance,
      usdc: usdc === null ? undefined : BigInt(usdc),
      low: balance !== undefined && balance < LOW_BALANCE,
      empty: balance !== undefined && balance < EMPTY_BALANCE,
      openRelays: Number(open),
      oldestOpenSeconds: Math.max(0, oldest ?? 0),
    };
  });
}
