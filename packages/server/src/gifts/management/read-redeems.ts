import { ApiError, type endpoints, formatUsd, type GiftRedeem, type UsdMicros } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Answer, Call } from '../../http/call.ts';
import type { Caller } from '../../http/caller.ts';
import { readPage, toPage } from '../../http/pages.ts';

type ListGiftRedeems = typeof endpoints.listGiftRedeems;

interface Row extends Pick<GiftRedeem, 'id' | 'giftId' | 'code' | 'status' | 'destinationChain' | 'walletAddress'> {
  readonly amount: UsdMicros;
  readonly transactionHash: string | null;
  readonly receiveHash: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Redemptions of deleted gifts too: what was paid stays readable. */
const shownRedeems: Sql = sql`
  select r.id, r.gift_id as "giftId", gifts.code, r.status, r.destination_chain as "destinationChain",
         r.shown_address as "walletAddress", r.amount_micros as amount, r.transaction_hash as "transactionHash",
         r.receive_hash as "receiveHash", r.created_at as "createdAt", r.updated_at as "updatedAt"
    from gift_redeems r join gifts on gifts.id = r.gift_id`;

const ofCaller = ({ organizationId, environment }: Caller): Sql =>
  sql`r.organization_id = ${organizationId} and r.environment = ${environment}`;

export async function getGiftRedeem(reads: Reads, caller: Caller, id: string): Promise<GiftRedeem> {
  const row = await reads.one<Row>(sql`${shownRedeems} where r.id = ${id} and ${ofCaller(caller)}`);
  if (!row) throw new ApiError('redeem_not_found');
  return toGiftRedeem(row);
}

/** Newest first. */
export async function listGiftRedeems(
  db: Db,
  caller: Caller,
  query: Call<ListGiftRedeems>['query'],
): Promise<Answer<ListGiftRedeems>> {
  const page = readPage(query);
  const [rows, count] = await Promise.all([
    db.rows<Row>(sql`
      ${shownRedeems} where ${ofCaller(caller)}
       order by r.created_at desc, r.id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total from gift_redeems r where ${ofCaller(caller)}`),
  ]);
  return toPage(rows.map(toGiftRedeem), Number(count?.total ?? 0n), page);
}

function toGiftRedeem({ transactionHash, receiveHash, ...row }: Row): GiftRedeem {
  const bridged = row.destinationChain === 'solana';
  return {
    ...row,
    amount: formatUsd(row.amount),
    transactionHash: bridged ? null : transactionHash,
    cctpBurnTxHash: bridged ? transactionHash : null,
    receiveChainTxHash: receiveHash,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
