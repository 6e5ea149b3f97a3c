import { type Environment, type RedeemChain, type RedeemStatus, redeemStatuses, type UsdMicros } from '@svc/protocol';
import { type Reads, sql } from '@svc/store';

type Machine = Readonly<Record<RedeemStatus, readonly RedeemStatus[]>>;

/** On Starknet a redeem goes from PENDING to its end; on the way to Solana it is BRIDGING, then ATTESTED. */
export const nextStatuses: Machine = {
  PENDING: ['BRIDGING', 'SUCCESS', 'FAILED'],
  BRIDGING: ['ATTESTED', 'FAILED'],
  ATTESTED: ['SUCCESS', 'FAILED'],
  SUCCESS: [],
  FAILED: [],
};

/** What else can happen when the chain executes after all what had failed: the money has moved, and that is the truth. */
export const reorganisations: Machine = {
  PENDING: [],
  BRIDGING: [],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: ['SUCCESS'],
};

/** What the operator can do besides: send a redeem that was burned on its way again. */
export const resumptions: Machine = {
  PENDING: [],
  BRIDGING: [],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: ['BRIDGING', 'ATTESTED'],
};

/** The statuses from which a redeem can reach this one. */
export function statusesBefore(status: RedeemStatus, besides?: Machine): readonly RedeemStatus[] {
  return redeemStatuses.filter(
    (from) => nextStatuses[from].includes(status) || (besides?.[from].includes(status) ?? false),
  );
}

export interface Redeem {
  readonly id: string;
  readonly giftId: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly destinationChain: RedeemChain;
  /** In its one normal form. */
  readonly address: string;
  /** As it was given. */
  readonly shownAddress: string;
  readonly amount: UsdMicros;
  readonly share: UsdMicros;
  readonly holdId: string;
  readonly status: RedeemStatus;
  /** On Starknet: the payout, or the burn. */
  readonly transactionHash: string | null;
  /** On Solana. */
  readonly receiveHash: string | null;
  readonly reason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const redeemColumns = sql`
  id, gift_id as "giftId", organization_id as "organizationId", environment, destination_chain as "destinationChain", address,
  shown_address as "shownAddress", amount_micros as amount, share_micros as share, hold_id as "holdId", status,
  transaction_hash as "transactionHash", receive_hash as "receiveHash", reason, created_at as "createdAt",
  updated_at as "updatedAt"`;

export function findRedeem(db: Reads, id: string): Promise<Redeem | undefined> {
  return db.one<Redeem>(sql`select ${redeemColumns} from gift_redeems where id = ${id}`);
}
