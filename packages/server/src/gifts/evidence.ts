import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import {
  ApiError,
  type Environment,
  type endpoints,
  formatUsd,
  type ReceiveProof,
  type RedeemChain,
  type RedeemEvidence,
  type RedeemStatus,
  type SharedEvidence,
  type UsdMicros,
  usdToNumber,
} from '@svc/protocol';
import { type Reads, type Sql, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Answer, Call, Caller } from '../http/call.ts';
import type { BridgeFacts } from './bridge-redeem.ts';
import { receiveProofIn } from './redeem.ts';

interface EvidenceRow {
  readonly id: string;
  readonly giftId: string;
  readonly giftName: string;
  readonly orgName: string;
  readonly environment: Environment;
  readonly status: RedeemStatus;
  readonly destinationChain: RedeemChain;
  readonly walletAddress: string;
  readonly amount: UsdMicros;
  readonly share: UsdMicros;
  readonly transactionHash: string | null;
  readonly receiveHash: string | null;
  readonly receiveProof: ReceiveProof | null;
  readonly facts: BridgeFacts | null;
  /** Links that carry another number have ended. */
  readonly linkNumber: number;
  /** When the payout or burn was signed and stored. */
  readonly sentAt: Date | null;
  readonly endedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const evidenceRows: Sql = sql`
  select r.id, r.gift_id as "giftId", gifts.name as "giftName", organizations.name as "orgName", r.environment, r.status,
         r.destination_chain as "destinationChain", r.shown_address as "walletAddress", r.amount_micros as amount,
         r.share_micros as share, r.transaction_hash as "transactionHash", r.receive_hash as "receiveHash",
         r.bridge as facts, ${receiveProofIn(sql`r`)} as "receiveProof", r.evidence_links as "linkNumber", relays.created_at as "sentAt", r.ended_at as "endedAt", r.created_at as "createdAt",
         r.updated_at as "updatedAt"
    from gift_redeems r
    join gifts on gifts.id = r.gift_id
    join organizations on organizations.id = r.organization_id
    left join relays on relays.id = r.relay_id`;

async function findEvidence(reads: Pick<Reads, 'one'>, id: string, owner?: Caller): Promise<EvidenceRow | undefined> {
  const own = owner
    ? sql`and r.organization_id = ${owner.organizationId} and r.environment = ${owner.environment}`
    : sql``;
  return reads.one<EvidenceRow>(sql`${evidenceRows} where r.id = ${id} ${own}`);
}

export async function getRedeemEvidence(reads: Reads, caller: Caller, id: string): Promise<RedeemEvidence> {
  const row = await findEvidence(reads, id, caller);
  if (!row) throw new ApiError('redeem_not_found');
  return { ...toShared(row), giftId: row.giftId, feeUsd: usdToNumber(row.share - row.amount) };
}

type ShareEvidence = typeof endpoints.shareRedeemEvidence;

const DAY_SECONDS = 86_400;
const DEFAULT_DAYS = 30;

export interface ShareDeps {
  readonly publicUrl: string;
  readonly links: EvidenceLinks;
  readonly now?: () => number;
}

/** Nothing is stored but the change: the token carries its redeem, its end and the redeem's number of links. */
export function shareRedeemEvidence(
  { publicUrl, links, now = Date.now }: ShareDeps,
  { caller, params, body, transact }: Call<ShareEvidence>,
): Promise<Answer<ShareEvidence>> {
  return transact(async (tx) => {
    const row = await findEvidence(tx, params.id, caller);
    if (!row) throw new ApiError('redeem_not_found');
    const expires = Math.floor(now() / 1_000) + (body.expiresInDays ?? DEFAULT_DAYS) * DAY_SECONDS;
    const token = links.tokenFor(row.id, expires, row.linkNumber);
    const expiresAt = new Date(expires * 1_000).toISOString();
    await recordChange(tx, caller, { action: 'redeem.evidence-shared', target: row.id, changes: { expiresAt } });
    return { url: `${publicUrl}/dashboard/evidence/${token}`, token, expiresAt };
  });
}

type RevokeLinks = typeof endpoints.revokeEvidenceLinks;

/** Ends all links to the evidence at once; later ones work. */
export function revokeEvidenceLinks({ caller, params, transact }: Call<RevokeLinks>): Promise<Answer<RevokeLinks>> {
  return transact(async (tx) => {
    const { organizationId, environment } = caller;
    const revoked = await tx.run(sql`
      update gift_redeems set evidence_links = evidence_links + 1
       where id = ${params.id} and organization_id = ${organizationId} and environment = ${environment}`);
    if (revoked !== 1) throw new ApiError('redeem_not_found');
    await recordChange(tx, caller, { action: 'redeem.evidence-unshared', target: params.id, changes: {} });
    return { success: true };
  });
}

export async function getSharedEvidence(
  reads: Reads,
  { links, now = Date.now }: Pick<ShareDeps, 'links' | 'now'>,
  token: string,
): Promise<SharedEvidence> {
  const link = links.read(token, now());
  const row = link && (await findEvidence(reads, link.redeemId));
  if (!row || row.linkNumber !== link?.number) throw new ApiError('evidence_not_found');
  return toShared(row);
}

const MAC_BYTES = 16;
const TOKEN =
  /^(?<payload>(?<id>[a-z]+_[0-9a-z]{26})\.(?<expires>[0-9a-z]{1,10})\.(?<number>[0-9a-z]{1,6}))\.(?<mac>[\w-]{22})$/;

/** `redeem.expiry.number.MAC`: every replica can check it, and only they can make one. */
export class EvidenceLinks {
  readonly #key: Uint8Array;

  /** `secret` serves other purposes too, so the key is derived from it. */
  constructor(secret: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'svc evidence links', 32));
  }

  tokenFor(redeemId: string, expiresSeconds: number, number: number): string {
    const payload = `${redeemId}.${expiresSeconds.toString(36)}.${number.toString(36)}`;
    return `${payload}.${this.#mac(payload).toString('base64url')}`;
  }

  /** Undefined for one that is wrong or has expired. */
  read(token: string, nowMs: number): { readonly redeemId: string; readonly number: number } | undefined {
    const fields = TOKEN.exec(token)?.groups;
    if (!fields) return undefined;
    const { payload = '', id: redeemId = '', expires = '', number = '', mac = '' } = fields;
    if (!timingSafeEqual(Buffer.from(mac, 'base64url'), this.#mac(payload))) return undefined;
    const isOpen = Number.parseInt(expires, 36) * 1_000 > nowMs;
    return isOpen ? { redeemId, number: Number.parseInt(number, 36) } : undefined;
  }

  #mac(payload: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest().subarray(0, MAC_BYTES);
  }
}

function toShared(row: EvidenceRow): SharedEvidence {
  const { id, orgName, environment, giftName, status, destinationChain, walletAddress, facts } = row;
  return {
    ...{ id, orgName, environment, giftName, status, destinationChain, walletAddress },
    amount: formatUsd(row.amount),
    bridgeFee: facts?.feeExecuted === undefined ? null : formatUsd(BigInt(facts.feeExecuted)),
    receiveProof: row.receiveProof,
    steps: stepsOf(row),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

type Step = SharedEvidence['steps'][number];
interface Fact extends Omit<Step, 'state' | 'at'> {
  readonly done: boolean;
  readonly at: Date | string | null;
}

export function stepsOf(row: EvidenceRow): Step[] {
  const facts = row.destinationChain === 'solana' ? bridgeSteps(row) : payoutSteps(row);
  const failed = row.status === 'FAILED' ? facts.findIndex(({ done }) => !done) : -1;
  let latest = 0;
  return facts.slice(0, failed < 0 ? undefined : failed + 1).map(({ done, at: stored, ...step }, index) => {
    const at = index === failed ? endOf(row) : stored;
    // Blocks count whole seconds, so theirs may seem to come before the step that caused it.
    if (at !== null) latest = Math.max(latest, new Date(at).getTime());
    const state = index === failed ? 'FAILED' : done ? 'DONE' : 'WAITING';
    return { ...step, state, at: at === null ? null : new Date(latest).toISOString() };
  });
}

/** Redeems that ended before their end was stored have not changed since. */
const endOf = ({ endedAt, updatedAt }: EvidenceRow): Date => endedAt ?? updatedAt;

const reserved = ({ createdAt }: EvidenceRow): Fact => ({
  ...{ name: 'RESERVED', chain: null, hash: null },
  done: true,
  at: createdAt,
});

/** While it waits the payout's hash may change. */
function payoutSteps(row: EvidenceRow): Fact[] {
  const { transactionHash: hash, sentAt } = row;
  const paid = row.status === 'SUCCESS';
  return [
    reserved(row),
    { name: 'SENT', chain: 'starknet', hash, done: paid || sentAt !== null, at: sentAt },
    { name: 'PAID', chain: 'starknet', hash: paid ? hash : null, done: paid, at: paid ? endOf(row) : null },
  ];
}

function bridgeSteps(row: EvidenceRow): Fact[] {
  const { facts, transactionHash, receiveHash, status } = row;
  const burnedAt = facts?.burnedAt ?? null;
  const minted = status === 'SUCCESS';
  const attested = facts?.message !== undefined;
  return [
    reserved(row),
    { name: 'BURNED', chain: 'starknet', hash: transactionHash, done: burnedAt !== null || minted, at: burnedAt },
    {
      ...{ name: 'ATTESTED', chain: null, hash: facts?.nonce ?? null },
      done: attested || minted,
      at: attested ? (facts.attestedAt ?? null) : null,
    },
    { name: 'MINTED', chain: 'solana', hash: receiveHash, done: minted, at: minted ? endOf(row) : null },
  ];
}
